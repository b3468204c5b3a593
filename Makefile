# What people and CI run alike. `make help` lists the targets.

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$name && break; done)
export PATH := $(CURDIR)/.tools/bin:$(PATH)

.DEFAULT_GOAL := help
.PHONY: help demo test test-live lint format bench wheel sample docs dictionaries lock clean

help:  ## List what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/ready  ## Run the bundled incident end to end: the three answers, and where the reports are
	@$(BIN)/auditor demo demo

test: $(VENV)/ready  ## Run the tests
	@$(BIN)/pytest

test-live: $(VENV)/ready  ## Run the tests that need a real API server
	@$(BIN)/pytest -m live

lint: $(VENV)/ready  ## Check style, types and the direction of imports
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/ready  ## Put the source in order
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(VENV)/ready  ## Measure reading audit logs beside orjson and DuckDB
	@$(BIN)/python -m tests.benchmarks.scan

wheel: $(VENV)/ready  ## Build the wheel into dist/
	@$(BIN)/python -m hatchling build -t wheel -d dist

sample: $(VENV)/ready  ## Render the sample incident's desired states anew, for machines without renderers
	rm -rf build/sample data/incident/cache
	$(BIN)/auditor demo --quiet build/sample
	mkdir -p data/incident/cache/history
	cp build/sample/cache/rendered.pack data/incident/cache/
	cp build/sample/cache/history/*.zst data/incident/cache/history/

docs: $(VENV)/ready  ## Write the page of commands and options anew
	@$(BIN)/python -m scripts.commands

dictionaries: $(VENV)/ready  ## Make the store's dictionaries anew; a store can be read only with its own
	@$(BIN)/python -m scripts.dictionary

lock:  ## Pin all dependencies anew, with hashes; needs uv
	for set in run dev; do \
		uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
			--no-header $$(test $$set = dev && echo --group dev) --upgrade pyproject.toml -o requirements/$$set.txt; done

clean:  ## Remove what was made
	rm -rf $(VENV) .tools dist build demo .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(VENV)/ready: requirements/dev.txt pyproject.toml scripts/setup.sh scripts/tools.py
	@scripts/setup.sh "$(PYTHON)" $(VENV)
	@touch $@
