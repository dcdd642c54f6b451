# One folder holds every environment; after `make clean`, the next command creates it again.
PYTHON ?= python3
VENV ?= .venv
# The exact version of torch. It is installed first, so that pip does not choose another one for later packages.
TORCH ?= torch==2.13.0
# Only an sdist whose setup.py imports torch. pip's isolated build would download a torch with CUDA for it, so DeepSpeed
# is installed after torch and without isolation, and pyproject.toml cannot list it. `make DEEPSPEED= …` leaves it out:
# its snippets then count as not run.
DEEPSPEED ?= deepspeed==0.19.8
# `remeasure` writes evidence to checks/evidence/ in this folder.
OUT ?= .
BIN := $(VENV)/bin
# One worker runs all tests of a file, so that their fixtures are built once. Two workers: CI has two cores and 24 GiB.
# A test that fails runs once more, since tests that wait for processes or a browser share the cores with others. The
# summary lists it as rerun. A fault fails twice.
PYTEST := $(BIN)/python -m pytest --numprocesses 2 --dist loadfile --reruns 1 -r fEsxXR
# Without --no-compile, pip compiles every file of every library to bytecode, which takes most of its time.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
# Hide mkdocs-material's end-of-life notice, which every build prints; docs/contribute/architecture.md explains it.
export NO_MKDOCS_2_WARNING := 1

.PHONY: site build serve check test environments test-gpu lend deep deep-tests deep-mutants deep-scale deep-site newest newest-tests remeasure constraints clean

site: build ## check, build and serve the site at http://localhost:8000
	@$(MAKE) --no-print-directory serve

build: check ## build the site into the folder site/
	$(BIN)/mkdocs build --strict

serve: $(VENV)/site ## serve the site at http://localhost:8000, and rebuild it after each edit
	$(BIN)/mkdocs serve --no-strict --dev-addr localhost:8000

check: $(VENV)/site ## check pages, claims and records, without running a snippet
	$(BIN)/headroom check

test: $(VENV)/tests environments .cache/npm/axe ## lint, type-check, check, and run every test and every snippet
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/headroom check
	$(PYTEST)

# Each has a stamp with its pins, and is built again when they change.
environments: $(VENV)/tests ## build the environments of snippets whose libraries do not fit the main one
	$(BIN)/python -m headroom.execution.snippet_environments

test-gpu: $(VENV)/tests environments ## run the snippets on a machine with a GPU, and write run records
	$(BIN)/headroom snippets run --record

# TORCH=here uses the torch that is installed outside of the environment.
MINUTES ?= 30
lend: $(VENV)/snippets ## measure for MINUTES what has no evidence on this machine, and pack the results in lent.tar
	$(BIN)/headroom measure --wanted --minutes '$(MINUTES)' --pack lent.tar

deep: deep-tests deep-mutants deep-scale deep-site ## tests that take hours; the scheduled workflow runs the four in parallel

deep-tests: $(VENV)/tests environments ## run every test in its long form
	$(PYTEST) --deep

# mutmut needs the package below src/, and works on a copy. MUTANTS is a pattern of names: by default a tenth per week.
MUTANTS ?= *__mutmut_*$$(date +%V | tail -c 2)
deep-mutants: $(VENV)/mutants ## mutation tests of statistics, verdicts, records, pages and comparatives
	rm -rf .cache/mutants
	mkdir -p .cache/mutants
	git ls-files -z | xargs -0 cp --parents --target-directory .cache/mutants
	ln -s checks .cache/mutants/src
	cd .cache/mutants && $(abspath $(BIN))/mutmut run "$(MUTANTS)" && $(abspath $(BIN))/mutmut results

deep-scale: $(VENV)/tests ## measure the time and memory of a check of a large tree
	$(BIN)/python tests/performance/check_at_scale.py

deep-site: $(VENV)/tests .cache/npm/lighthouse ## measure the time of a large site's build, and run Lighthouse
	$(BIN)/python tests/performance/build_at_scale.py
	$(BIN)/python tests/performance/lighthouse.py

newest: ## run every test with the newest torch and transformers, in a separate environment
	rm -rf .cache/newest
	@mkdir -p .cache
	$(MAKE) --no-print-directory newest-tests VENV=.cache/newest TORCH=torch

# A separate pip call upgrades the two libraries, so that no upper bound of pyproject.toml limits them.
newest-tests: $(VENV)/tests environments
	$(PIP) --upgrade torch transformers
	$(BIN)/python -m pip list --disable-pip-version-check | grep -E '^(torch|transformers) '
	$(PYTEST)

# No session starts after three hours, so that all end within a hosted runner's six. Failures are listed at the end.
remeasure: $(VENV)/tests ## measure stale claims again that this machine can measure; OUT=DIR writes the evidence there
	last=$$(( $$(date +%s) + 10800 )); names=$$($(BIN)/headroom verdict --stale --on here) || exit 1; failed=; \
	for name in $$names; do \
	  [ $$(date +%s) -lt $$last ] || break; \
	  timeout 2h $(BIN)/headroom measure --out '$(OUT)' "$$name" || failed="$$failed $$name"; \
	done; [ -z "$$failed" ] || { echo "not measured:$$failed"; exit 1; }

# Exact versions, so that no release of a library changes the published site unseen; review the difference like code.
constraints: ## pin the libraries of the published site in .ci/constraints.txt
	rm -rf .cache/constraints
	@mkdir -p .cache
	$(PYTHON) -m venv .cache/constraints
	.cache/constraints/bin/python -m pip install --quiet --disable-pip-version-check '.[site]'
	.cache/constraints/bin/python -m pip freeze --exclude headroom > .ci/constraints.txt

clean: ## delete all environments, caches and the built site
	rm -rf $(VENV) .cache site .pytest_cache .mypy_cache .ruff_cache

# Each environment has a stamp file; make rebuilds it when pyproject.toml is newer.
$(VENV)/python:
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is missing: install Python 3.11 or newer, or call make PYTHON=…"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$(PYTHON) is older than 3.11: install a newer one, or call make PYTHON=…"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' || { echo "$(PYTHON) cannot make environments: install its venv package (Debian: python3-venv)"; exit 1; }
	$(PYTHON) -m venv $(if $(filter here,$(TORCH)),--system-site-packages) $(VENV)
	@touch $@

$(VENV)/site: pyproject.toml | $(VENV)/python
	$(PIP) --editable '.[site]'
	@touch $@

$(VENV)/tests: pyproject.toml | $(VENV)/python
	$(PIP) '$(TORCH)'
	$(PIP) --editable '.[site,snippets,tests]'
	$(if $(DEEPSPEED),DS_BUILD_OPS=0 $(PIP) --no-build-isolation '$(DEEPSPEED)')
	@touch $@ $(VENV)/site

$(VENV)/snippets: pyproject.toml | $(VENV)/python
	$(if $(filter here,$(TORCH)),,$(PIP) '$(TORCH)')
	$(PIP) --editable '.[snippets]'
	@touch $@

# Heavy, and needed once a week only. mutmut 3 runs only the tests that reach a mutant; 3.8 is the oldest tested version.
$(VENV)/mutants: $(VENV)/tests
	$(PIP) 'mutmut>=3.8,<4'
	@touch $@

# Tools from npm that test the site in a browser: axe for every test run, and lighthouse for `deep-site`.
NPM := npm ci --prefix .cache/npm --ignore-scripts --no-audit --no-fund --loglevel=error
.cache/npm/axe .cache/npm/lighthouse: tests/browser/package.json tests/browser/package-lock.json
	@if command -v npm >/dev/null; then mkdir -p .cache/npm && cp $^ .cache/npm/ && \
	  $(NPM) $(if $(findstring axe,$@),--omit=dev) && touch $@; \
	elif [ -n "$$CI" ]; then echo "npm is missing: install Node.js with npm (Debian: nodejs, npm)"; exit 1; \
	else echo "npm is missing, so $(notdir $@) tests no page: install Node.js with npm (Debian: nodejs, npm)"; fi
