# make run    sets up what is missing, then serves the explorer
# make test   sets up what is missing, a browser included, then runs all checks except `make notebook` and `make models`
# make notebook  tests a scene in a real JupyterLab, driven by a browser (.ci/run runs it after `make test`)
# make check  for daily work: lint, and the unit tests, which need no browser and start no servers
#             SCENE=name: lint, and all tests of one scene, including those that need a browser or servers
# make models tests the README's commands on models of real size, and conversion on 31 architectures and timm's
#             (needs what `make test` sets up; some minutes)
# make scene  SLUG=name: writes the skeleton of a new scene, which passes all checks (docs/contributing.md)
# make lint   the static checks, which run no code of ours (a part of `make test` and `make check`)
# make bench  measures the tables of docs/benchmarks.md (needs what `make test` sets up)
# make films  trains again the networks that are shipped in films/ (needs what `make test` sets up; some minutes)
# make load   load test: 300 visitors at once, on our server and on a plain Dash app (needs the same; five minutes)
# make locks  writes the lock files in requirements/ (docs/deployment.md); LOCK_ARGS=--upgrade for newer versions
# make clean  removes all files that these targets create
#
# WORKERS   the number of test processes; many tests wait, so three keep two cores busy
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
# Installed packages are not compiled in advance: Python compiles the few modules that it imports.
PIP = $(VENV) -m pip install --disable-pip-version-check --no-compile
# Installs a lock file; it lists all dependencies.
LOCKED = $(PIP) --quiet --no-deps --require-hashes --requirement
# The tests bring their own node and npm from PyPI; `make run` uses an npm only if there happens to be one.
WITH_NODE = PATH="$(CURDIR)/.venv/bin:$$PATH"
# Each test process runs one part of the tests, with its own server and browser; when done, it takes tests from another.
PYTEST = $(WITH_NODE) $(VENV) -m pytest --numprocesses=$(WORKERS) --dist=worksteal
# Not part of `make test`: needs a JupyterLab, whose packages take seconds to load.
NOTEBOOK = tests/browser/test_notebook.py
# Not part of `make test`: needs models of hundreds of MB.
MODELS = tests/models
UNITS = tests/assets tests/components tests/geometry tests/learning tests/scenes tests/tools
# Keep compiled bytecode even if the environment forbids it: a test run starts Python a hundred times, and compiling
# PyTorch, SciPy and Dash takes longer than importing them.
unexport PYTHONDONTWRITEBYTECODE
# A package's install scripts never run.
NPM_CI = $(WITH_NODE) npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
# Compress plotly.js as far as possible, reduce the fonts to the characters in use, and bundle our JavaScript modules;
# done once, before the first visit.
NPM_PACK = $(WITH_NODE) npm run --silent pack
# Bundle the modules again, in case that they have changed; a tenth of a second.
BUNDLE = $(WITH_NODE) node tools/bundle.mjs

.PHONY: run test tests notebook models check scene tools servers lint lint-browser lint-python bench films load locks clean

run: .venv/run.stamp node_modules/run.stamp
	@if [ -d node_modules/esbuild ]; then $(BUNDLE) || echo "The JavaScript modules are served one by one."; fi
	@$(VENV) app.py $(if $(HOST),--host "$(HOST)") $(if $(PORT),--port "$(PORT)")

# Independent targets run in parallel: lint while PyTorch and the browser are being installed; and beside the test
# packages, Redis and nginx are installed and the run-time packages compiled.
test: .venv/run.stamp
	@$(MAKE) --no-print-directory --jobs=5 .venv/bytecode.stamp tests lint

tests: .venv/torch.stamp tools node_modules/test.stamp
	@$(BUNDLE)
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

lint: lint-browser lint-python

lint-python: .venv/test.stamp
	$(VENV) -m ruff check
	$(VENV) -m ruff format --check
	$(VENV) -m mypy
	.venv/bin/lint-imports --no-logo

lint-browser: node_modules/test.stamp
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

# The pip that comes with Python may be old: pip 23 takes twice the processor time of pip 26 for the test packages.
.venv/run.stamp: requirements/pip.txt requirements/run.txt
	@[ -x .venv/bin/pip ] || { \
	  $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	    || { echo "Normscape needs Python 3.11 or newer; '$(PYTHON)' is not. Try: make PYTHON=python3.12 ..." >&2; exit 1; }; \
	  $(PYTHON) -m venv --clear .venv; }
	@echo "Installing the run-time packages into .venv (once, about a minute)"
	@$(LOCKED) requirements/pip.txt
	@$(LOCKED) requirements/run.txt
	@touch $@

# Starting the application once compiles what it imports; else each test process of the first run would.
.venv/bytecode.stamp: .venv/run.stamp
	@$(VENV) -c "import app; app.create_app()"
	@touch $@

# Node and npm for the tests come first, so that npm can run beside pip.
.venv/node.stamp: .venv/run.stamp requirements/node.txt
	@$(LOCKED) requirements/node.txt
	@touch $@

.venv/test.stamp: .venv/node.stamp requirements/test.txt pyproject.toml
	@echo "Installing the test packages into .venv (once, a few minutes)"
	@$(LOCKED) requirements/test.txt
	@touch $@

# torch comes last, and without a hash, because each index of torch builds has its own files. Its dependencies are
# installed by then, except the libraries of a CUDA build.
.venv/torch.stamp: .venv/test.stamp
	@$(PIP) --quiet $(TORCH_INDEX_ARGS) "$$($(VENV) tools/requirements.py --only train | grep ^torch)"
	@touch $@

# timm and torchvision get a folder of their own (pyproject.toml says why).
.venv/models.stamp: .venv/test.stamp requirements/models.txt requirements/timm.txt
	@$(LOCKED) requirements/models.txt
	@$(LOCKED) requirements/timm.txt --upgrade --target .venv/timm
	@touch $@

# The small Plotly bundle is optional: without npm, or if npm fails (it does not retry), the server uses the full bundle.
node_modules/run.stamp: package.json package-lock.json tools/fonts.mjs tools/bundle.mjs
	@if $(WITH_NODE) command -v npm >/dev/null; then \
	  if $(NPM_CI) --omit=dev --fetch-retries=0; then $(NPM_PACK); touch $@; \
	  else echo "The light Plotly bundle could not be fetched; going on with the full one."; fi; fi

# npm ci empties node_modules: one full installation serves both targets, so that they do not undo each other.
node_modules/test.stamp: package.json package-lock.json tools/fonts.mjs tools/bundle.mjs .venv/node.stamp
	$(NPM_CI)
	@$(NPM_PACK)
	@touch node_modules/run.stamp $@
