# Everything lives in .venv and .kaireon below this folder; `make clean` removes both.
PYTHON ?= python3
BIN := .venv/bin
PYTHON_MADE := .venv/.python
DEMO_MADE := .venv/.demo
TOOLS_MADE := .venv/.tools
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
INSTALL := $(PIP) install --editable

.DEFAULT_GOAL := help
.PHONY: help demo dev test lint format bench clean

help:  ## List the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

$(PYTHON_MADE):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "Python 3.10 or newer is needed; set PYTHON=/path/to/python3")'
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "$(PYTHON) cannot make environments: its modules venv and ensurepip are missing." >&2; \
	  echo "On Debian and Ubuntu: apt install python3-venv. Elsewhere set PYTHON=/path/to/python3." >&2; exit 1; }
	@$(PYTHON) -m venv .venv
	@touch $@

$(DEMO_MADE): setup.py | $(PYTHON_MADE)
	@echo "installing into .venv, a minute or two ..."
	@$(INSTALL) '.[demo]'
	@touch $@

$(TOOLS_MADE): setup.py | $(PYTHON_MADE)
	@echo "installing into .venv, with the tools of tests and lint, a minute or two ..."
	@$(INSTALL) '.[demo,test,lint]'
	@touch $@ $(DEMO_MADE)

demo: $(DEMO_MADE)  ## Load the flights of 2013 from New York into an embedded PostgreSQL
	$(BIN)/kaireon-dagster demo

dev: $(DEMO_MADE)  ## PostgreSQL and the Dagster UI for the documents in pipelines/
	$(BIN)/kaireon-dagster dev

test: $(TOOLS_MADE)  ## All tests
	$(BIN)/python -m pytest -n 2

lint: $(TOOLS_MADE)  ## Format, lint, types, import rules
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(TOOLS_MADE)  ## Rewrite the sources in the house format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(TOOLS_MADE)  ## Measure loads against COPY in one run
	$(BIN)/python -m benchmarks

clean:  ## Remove the environment and the work folder
	rm -rf .venv .kaireon
