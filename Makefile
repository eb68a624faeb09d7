# Two commands for a fresh machine with Python 3.11 and make: `make demo`, `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

.PHONY: docs release demo test lint types contract pytest bench fuzz screenshots snapshots clean
.DEFAULT_GOAL := help

help:  ## list the targets
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | sort

# The stamp depends on pyproject.toml: a changed dependency installs again.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "rltui needs Python 3.11 or newer; call make PYTHON=python3.11" >&2; exit 2; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(VENV)/.runtime $@

demo: $(VENV)/.runtime  ## set up and open the monitor on a recorded run that breaks while you watch
	@$(BIN)/rltui demo

# mypy and the import contracts use one core each, and so fill those that pytest leaves idle.
test: $(VENV)/.dev  ## set up and run everything CI runs
	@$(MAKE) --no-print-directory --jobs=4 lint types contract pytest

lint: $(VENV)/.dev  ## ruff: errors and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev  ## mypy, strict
	$(BIN)/mypy

contract: $(VENV)/.dev  ## the layers may import downwards only
	$(BIN)/lint-imports

pytest: $(VENV)/.dev  ## the tests
	$(BIN)/pytest

bench: $(VENV)/.dev  ## ratios against peers and budgets (minutes; not part of CI)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check tensorboard-data-server
	$(BIN)/python -m tests.bench

fuzz: $(VENV)/.dev  ## a million mutated logs through every reader
	$(BIN)/python -m tests.fuzz

screenshots: $(VENV)/.dev  ## draw screenshots/ anew from recorded runs
	$(BIN)/python screenshots/make.py

docs: $(VENV)/.dev  ## build the documentation as a site in build/site
	$(BIN)/mkdocs build --quiet -f docs/mkdocs.yml

snapshots: $(VENV)/.dev  ## accept the present screens as the expected ones
	$(BIN)/pytest --accept-screens -k snapshot

release: $(VENV)/.dev  ## build wheel and sdist, install the wheel in a clean environment, try it there
	rm -rf dist build/release
	$(BIN)/python -m hatchling build
	$(PYTHON) -m venv build/release
	build/release/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	cd build && release/bin/rltui --version && release/bin/rltui demo < /dev/null | head -3
	cd build && rm -rf runs && release/bin/rltui demo --save runs && release/bin/rltui check runs --fail-on never

clean:  ## remove what make made
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis
