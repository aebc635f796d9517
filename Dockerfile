# The explorer in a container: `docker build --tag normscape .`, then `docker run --publish 8050:8050 normscape`.
# `docker build --target proxy .` builds nginx, which compose.yaml puts in front of it.
#
# TORCH             1: with PyTorch, which training needs; 0: without, less than half as large
# TORCH_INDEX_ARGS  pip options for torch alone, such as an --index-url with CPU builds: the usual Linux wheel is the
#                   CUDA build of several GB
# PYTHON            the base image of all stages; compose.yaml pins it by its digest

ARG PYTHON=python:3.11-slim
FROM ${PYTHON} AS build
ARG TORCH=1
ARG TORCH_INDEX_ARGS=
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
WORKDIR /build
RUN case "$TORCH_INDEX_ARGS" in *…*) echo "TORCH_INDEX_ARGS: write an address in place of …" >&2; exit 1;; esac

# Node and npm come from PyPI, as in `make test`; they stay in this stage.
COPY package.json package-lock.json ./
COPY requirements requirements
RUN python -m venv /node && /node/bin/pip install --quiet --require-hashes --requirement requirements/node.txt \
 && export PATH="/node/bin:$PATH" && npm ci --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error

RUN if [ "$TORCH" = 1 ]; then lock=image; else lock=web; fi; python -m venv /venv \
 && /venv/bin/pip install --quiet --require-hashes --requirement "requirements/$lock.txt"
# Only torch, and what only its CUDA build needs, are installed without hashes, because each index of torch builds has
# its own files.
COPY pyproject.toml ./
COPY tools/requirements.py tools/
RUN if [ "$TORCH" = 1 ]; then /venv/bin/pip install --quiet $TORCH_INDEX_ARGS \
      "$(/venv/bin/python tools/requirements.py --only train | grep ^torch)"; fi \
 && /venv/bin/pip uninstall --quiet --yes pip && find /venv -type d -name tests -prune -exec rm -r {} +
# The JavaScript modules come last, so that after a change of one the packages need not be installed again.
COPY tools/fonts.mjs tools/bundle.mjs tools/
COPY assets assets
RUN PATH="/node/bin:$PATH" npm run --silent pack


FROM ${PYTHON} AS proxy
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends nginx-light && rm -r /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --no-create-home normscape && install -d -o normscape /cache
COPY nginx.conf /etc/nginx/nginx.conf
USER 10001
VOLUME /cache
EXPOSE 8050
HEALTHCHECK --interval=30s --timeout=5s \
  CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8050/healthz', timeout=4)"]
STOPSIGNAL SIGQUIT
# nginx reads no environment variables, so the limit of requests is written into a copy of its configuration.
CMD ["sh", "-c", "sed \"s/clients 500;/clients ${CLIENT_REQUESTS:-500};/\" /etc/nginx/nginx.conf > /cache/nginx.conf && exec nginx -e stderr -p /cache -c /cache/nginx.conf"]


FROM ${PYTHON}
# Bytecode and the pictures of the home page are made here, because a running container's file system is read-only.
WORKDIR /app
COPY --from=build /venv /venv
COPY --from=build /build/node_modules/plotly.js-gl3d-dist-min node_modules/plotly.js-gl3d-dist-min
COPY --from=build /build/node_modules/.fonts node_modules/.fonts
COPY --from=build /build/node_modules/.modules node_modules/.modules
COPY app.py ./
COPY geometry geometry
COPY learning learning
COPY components components
COPY normscape normscape
COPY assets assets
COPY films films
COPY docs docs
RUN /venv/bin/python -m compileall -q app.py geometry learning components normscape \
 && /venv/bin/python -m components.web.stills \
 && useradd --system --uid 10001 --no-create-home --home-dir /cache normscape && install -d -o normscape /cache

# The only writable folder: temporary files and stored results.
ENV PATH="/venv/bin:$PATH" PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 \
    CACHE_DIR=/cache TMPDIR=/cache HOME=/cache BIND=0.0.0.0:8050
USER 10001
VOLUME /cache
EXPOSE 8050
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8050/healthz', timeout=4)"]
STOPSIGNAL SIGTERM
CMD ["python", "app.py"]
