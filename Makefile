# make run    sets up what is missing, then serves the explorer
# make test   sets up what is missing, a browser included, then runs every check
# make notebook  a scene in a real JupyterLab, driven by a browser (.ci/run has it after `make test`)
# make check  what daily work asks for: lint, and the unit tests, which need no browser and start no servers
#             SCENE=name: everything that concerns one scene instead, its claims, a browser and servers included
# make models tries the README's commands on GPT-2's real size and on real models from packages of PyPI, and conversion on 31 architectures and timm's
#             (needs what `make test` sets up; some minutes)
# make scene  SLUG=name: writes the skeleton of a new scene, which passes all checks (docs/contributing.md)
# make lint   the checks that run no code of ours (a part of both)
# make bench  measures the tables of docs/benchmarks.md (needs what `make test` sets up)
# make films  trains the networks that are shipped in films/ anew (needs what `make test` sets up; some minutes)
# make load   a lecture hall of 300 at the server, and at a naive Dash app (needs the same; five minutes)
# make locks  pins what is installed, with hashes, in requirements/ (docs/deployment.md); LOCK_ARGS=--upgrade for newer
# make clean  removes everything that these targets have made
#
# WORKERS   how many tests run at the same time; many of them wait, so that three keep two cores busy
# PYTHON   the interpreter that makes .venv (3.11 or newer)
# SCENE, SLUG   the scene to check, the name of a new one
# HOST, PORT   where `make run` serves; app.py has the defaults
# TORCH_INDEX_ARGS   pip arguments for torch alone, say an --index-url with CPU builds: the usual Linux wheel is the
#                    CUDA build of several GB. pip's own settings (PIP_FIND_LINKS, pip.conf) hold for it as well.

PYTHON ?= python3
HOST ?=
PORT ?=
SCENE ?=
SLUG ?=
TORCH_INDEX_ARGS ?=
WORKERS ?= 3

# Recipes use .venv/bin/python -m ..., so that nothing needs to be activated.
VENV = .venv/bin/python
# Python compiles what it imports, which is a small part of what is installed.
PIP = $(VENV) -m pip install --disable-pip-version-check --no-compile
# What is locked is all that is needed.
LOCKED = $(PIP) --quiet --no-deps --require-hashes --requirement
# The tests bring their own node and npm from PyPI; `make run` uses an npm only if there happens to be one.
WITH_NODE = PATH="$(CURDIR)/.venv/bin:$$PATH"
# A worker keeps to one part of the tests, with a server and a browser of its own, and helps another when it is done.
PYTEST = $(WITH_NODE) $(VENV) -m pytest --numprocesses=$(WORKERS) --dist=worksteal
# It needs a JupyterLab, whose packages take seconds to load.
NOTEBOOK = tests/browser/test_notebook.py
# It needs models of hundreds of MB.
MODELS = tests/models
UNITS = tests/assets tests/components tests/geometry tests/learning tests/scenes tests/tools
# What Python has compiled it keeps, whatever the surroundings say: a run of the tests starts it a hundred times, and to
# compile PyTorch, SciPy and Dash takes longer than to import them.
unexport PYTHONDONTWRITEBYTECODE
# A package's install scripts never run. No retries: after a failure the page still works, with a larger bundle.
NPM_CI = $(WITH_NODE) npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
# The drawing library as small as it gets, and the letters of the typefaces that we write: once, for all first visits.
NPM_PACK = $(WITH_NODE) npm run --silent pack

.PHONY: run test tests notebook models check scene tools servers lint bench films load locks clean

run: .venv/run.stamp node_modules/run.stamp
	@$(VENV) app.py $(if $(HOST),--host "$(HOST)") $(if $(PORT),--port "$(PORT)")

# What does not need one another is done side by side: lint runs while PyTorch and the browser are being installed,
# and Redis and nginx are installed beside the test packages.
test: .venv/run.stamp
	@$(MAKE) --no-print-directory --jobs=4 tests lint

tests: .venv/torch.stamp tools node_modules/test.stamp
	@$(PYTEST) --durations=20 --ignore=$(NOTEBOOK) --ignore=$(MODELS)

notebook: .venv/torch.stamp tools
	@$(WITH_NODE) $(VENV) -m pytest $(NOTEBOOK)

models: .venv/torch.stamp .venv/models.stamp
	@$(VENV) -m pytest $(MODELS)

check: .venv/torch.stamp lint $(if $(SCENE),tools)
	@$(PYTEST) $(if $(SCENE),--scene="$(SCENE)" --ignore=$(NOTEBOOK) --ignore=$(MODELS),-m "not servers" $(UNITS))

scene: .venv/test.stamp
	@$(VENV) -m tools.new_scene "$(SLUG)"

tools: servers .venv/test.stamp
	@$(VENV) tools/browser.py

servers: .venv/run.stamp
	@$(VENV) tools/debian_servers.py

lint: .venv/test.stamp node_modules/test.stamp
	$(VENV) -m ruff check
	$(VENV) -m ruff format --check
	$(VENV) -m mypy
	.venv/bin/lint-imports --no-logo
	$(WITH_NODE) node_modules/.bin/tsc -p tsconfig.json
	$(WITH_NODE) node_modules/.bin/eslint assets benchmarks normscape/*.js tests tools
	$(WITH_NODE) node_modules/.bin/prettier --check --log-level=warn .

bench: .venv/torch.stamp node_modules/test.stamp
	@$(VENV) tools/browser.py
	@$(VENV) -m benchmarks.bench
	@$(VENV) -m benchmarks.living

films: .venv/torch.stamp
	@$(VENV) -m tools.films

load: .venv/torch.stamp node_modules/test.stamp
	@$(VENV) -m benchmarks.load

locks: .venv/run.stamp
	@$(PIP) --quiet uv
	@$(VENV) -m tools.locks $(LOCK_ARGS)

clean:
	rm -rf .venv node_modules .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis test-results
	find . -name __pycache__ -prune -exec rm -r {} +

.venv/run.stamp: requirements/run.txt
	@[ -x .venv/bin/pip ] || { \
	  $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	    || { echo "Normscape needs Python 3.11 or newer; '$(PYTHON)' is not. Try: make PYTHON=python3.12 ..." >&2; exit 1; }; \
	  $(PYTHON) -m venv --clear .venv; }
	@echo "Installing the run-time packages into .venv (once, about a minute)"
	@$(LOCKED) requirements/run.txt
	@touch $@

# First of all the node and npm of the tests, so that npm works beside pip.
.venv/node.stamp: .venv/run.stamp requirements/node.txt
	@$(LOCKED) requirements/node.txt
	@touch $@

.venv/test.stamp: .venv/node.stamp requirements/test.txt pyproject.toml
	@echo "Installing the test packages into .venv (once, a few minutes)"
	@$(LOCKED) requirements/test.txt
	@touch $@

# torch comes last, without a hash: each index of torch builds has its own files. What it needs is there by then, but for
# the libraries of a CUDA build.
.venv/torch.stamp: .venv/test.stamp
	@$(PIP) --quiet $(TORCH_INDEX_ARGS) "$$($(VENV) tools/requirements.py --only train | grep ^torch)"
	@touch $@

# timm and torchvision stand apart (pyproject.toml says why).
.venv/models.stamp: .venv/test.stamp requirements/models.txt requirements/timm.txt
	@$(LOCKED) requirements/models.txt
	@$(LOCKED) requirements/timm.txt --upgrade --target .venv/timm
	@touch $@

# The light Plotly bundle is a convenience: without npm, or when npm fails, the server has the full bundle.
node_modules/run.stamp: package.json package-lock.json tools/fonts.mjs
	@if $(WITH_NODE) command -v npm >/dev/null; then \
	  if $(NPM_CI) --omit=dev --fetch-retries=0; then $(NPM_PACK); touch $@; \
	  else echo "The light Plotly bundle could not be fetched; going on with the full one."; fi; fi

# npm ci empties node_modules: one full installation serves both targets, so that they do not undo each other.
node_modules/test.stamp: package.json package-lock.json tools/fonts.mjs .venv/node.stamp
	$(NPM_CI)
	@$(NPM_PACK)
	@touch node_modules/run.stamp $@
