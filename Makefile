# One folder holds every environment; delete it (`make clean`) and the next command makes it anew.
PYTHON ?= python3
VENV ?= .venv
# Exactly this one, and first: later packages then find a torch that satisfies them, and pip has no reason to choose again.
TORCH ?= torch==2.13.0
# Where `remeasure` writes: evidence goes below its checks/evidence/.
OUT ?= .
BIN := $(VENV)/bin
# A file is one worker's, so that what its tests share is made once. Two workers: CI has two cores, and 24 GiB.
PYTEST := $(BIN)/python -m pytest --numprocesses 2 --dist loadfile
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# mkdocs-material announces its end of life on every build; docs/contribute/architecture.md says what follows from it.
export NO_MKDOCS_2_WARNING := 1

.PHONY: site build serve check test test-gpu deep deep-tests deep-mutants deep-scale deep-site newest newest-tests remeasure constraints clean

site: build ## environment, checks, build, and the site at http://localhost:8000
	@$(MAKE) --no-print-directory serve

build: check ## the site, in the folder site/, and nothing that serves it
	$(BIN)/mkdocs build --strict

serve: $(VENV)/site ## the site at http://localhost:8000, rebuilt as you write
	$(BIN)/mkdocs serve --no-strict --dev-addr localhost:8000

check: $(VENV)/site ## everything that can be known without running a snippet
	$(BIN)/headroom check

test: $(VENV)/tests .cache/npm/axe ## everything: lint, types, the checks, every test and every snippet
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/headroom check
	$(PYTEST)

test-gpu: $(VENV)/tests ## the snippets, on a machine with a GPU, and a record of what happened
	$(BIN)/headroom snippets run --record

deep: deep-tests deep-mutants deep-scale deep-site ## what takes hours: the scheduled workflow runs these four side by side

deep-tests: $(VENV)/tests ## every test in its long form
	$(PYTEST) --deep

# mutmut wants the package below src/, and works on a copy. MUTANTS is a pattern of names: by default a tenth, by the week.
MUTANTS ?= *__mutmut_*$$(date +%V | tail -c 2)
deep-mutants: $(VENV)/mutants ## small faults in statistics, verdicts, records and pages that no test notices
	rm -rf .cache/mutants
	mkdir -p .cache/mutants
	git ls-files -z | xargs -0 cp --parents --target-directory .cache/mutants
	ln -s checks .cache/mutants/src
	cd .cache/mutants && $(abspath $(BIN))/mutmut run "$(MUTANTS)" && $(abspath $(BIN))/mutmut results

deep-scale: $(VENV)/tests ## what a check costs of a tree that has grown
	$(BIN)/python tests/performance/check_at_scale.py

deep-site: $(VENV)/tests .cache/npm/lighthouse ## what building the site costs, and what Lighthouse says of it
	$(BIN)/python tests/performance/build_at_scale.py
	$(BIN)/python tests/performance/lighthouse.py

newest: ## every test with the newest torch and transformers, in an environment of its own
	rm -rf .cache/newest
	@mkdir -p .cache
	$(MAKE) --no-print-directory newest-tests VENV=.cache/newest TORCH=torch

# Upgraded beside the project and not as what it needs, so that no upper bound of pyproject.toml holds them back.
newest-tests: $(VENV)/tests
	$(PIP) --upgrade torch transformers
	$(BIN)/python -m pip list --disable-pip-version-check | grep -E '^(torch|transformers) '
	$(PYTEST)

# No session starts after three hours, so that a hosted runner's six are enough. What fails is told at the end.
remeasure: $(VENV)/tests ## measure again what is stale, as far as this machine can; OUT=DIR writes the evidence there
	last=$$(( $$(date +%s) + 10800 )); names=$$($(BIN)/headroom verdict --stale --on here) || exit 1; failed=; \
	for name in $$names; do \
	  [ $$(date +%s) -lt $$last ] || break; \
	  timeout 2h $(BIN)/headroom measure --out '$(OUT)' "$$name" || failed="$$failed $$name"; \
	done; [ -z "$$failed" ] || { echo "not measured:$$failed"; exit 1; }

# Exact versions, so that no release of a library changes the published site unseen; review the difference like code.
constraints: ## pin in .ci/constraints.txt what the published site is built with
	rm -rf .cache/constraints
	@mkdir -p .cache
	$(PYTHON) -m venv .cache/constraints
	.cache/constraints/bin/python -m pip install --quiet --disable-pip-version-check '.[site]'
	.cache/constraints/bin/python -m pip freeze --exclude headroom > .ci/constraints.txt

clean: ## everything that was made here
	rm -rf $(VENV) .cache site .pytest_cache .mypy_cache .ruff_cache

# An environment is a file that says that it stands, newer than what it was made from.
$(VENV)/python:
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is missing: install Python 3.11 or newer, or call make PYTHON=…"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$(PYTHON) is older than 3.11: install a newer one, or call make PYTHON=…"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' || { echo "$(PYTHON) cannot make environments: install its venv package (Debian: python3-venv)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/site: pyproject.toml | $(VENV)/python
	$(PIP) --editable '.[site]'
	@touch $@

$(VENV)/tests: pyproject.toml | $(VENV)/python
	$(PIP) '$(TORCH)'
	$(PIP) --editable '.[site,snippets,tests]'
	@touch $@ $(VENV)/site

# Heavy, and needed once a week only. Version 3 runs just the tests that reach a mutant; 3.8 is the oldest that was tried here.
$(VENV)/mutants: $(VENV)/tests
	$(PIP) 'mutmut>=3.8,<4'
	@touch $@

# What judges the site in a browser, from npm: axe for every run of the tests, and lighthouse where its figures are taken.
NPM := npm ci --prefix .cache/npm --ignore-scripts --no-audit --no-fund --loglevel=error
.cache/npm/axe .cache/npm/lighthouse: tests/browser/package.json tests/browser/package-lock.json
	@if command -v npm >/dev/null; then mkdir -p .cache/npm && cp $^ .cache/npm/ && \
	  $(NPM) $(if $(findstring axe,$@),--omit=dev) && touch $@; \
	elif [ -n "$$CI" ]; then echo "npm is missing: install Node.js with npm (Debian: nodejs, npm)"; exit 1; \
	else echo "npm is missing, so $(notdir $@) judges no page: install Node.js with npm (Debian: nodejs, npm)"; fi
