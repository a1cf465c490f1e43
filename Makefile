# Everything lives in .venv and .kaireon below this folder; `make clean` removes both.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.DEFAULT_GOAL := help
.PHONY: help demo dev test lint format bench clean

help:  ## List the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

$(STAMP): setup.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "Python 3.10 or newer is needed; set PYTHON=/path/to/python3")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[demo,test,lint]'
	@touch $@

demo: $(STAMP)  ## Load the flights of 2013 from New York into an embedded PostgreSQL
	$(BIN)/kaireon-dagster demo

dev: $(STAMP)  ## PostgreSQL and the Dagster UI for the documents in pipelines/
	$(BIN)/kaireon-dagster dev

test: $(STAMP)  ## All tests
	$(BIN)/python -m pytest -n 2

lint: $(STAMP)  ## Format, lint, types, import rules
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP)  ## Rewrite the sources in the house format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(STAMP)  ## Measure loads against COPY in one run
	$(BIN)/python -m benchmarks

clean:  ## Remove the environment and the work folder
	rm -rf .venv .kaireon
