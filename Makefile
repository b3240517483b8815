# make demo: set up what using seacausal needs (no torch) and run it on real data.
# make test: set up everything and run the tests. make check: format, lint, types, direction of imports.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: demo test check clean

demo: .venv/use.stamp
	$(BIN)/seacausal demo --out demo

test: .venv/dev.stamp
	$(BIN)/python -m pytest

check: .venv/dev.stamp
	$(BIN)/ruff format --check src tests
	$(BIN)/ruff check src tests
	$(BIN)/pyright
	$(BIN)/lint-imports --no-cache

.venv/pip.stamp: constraints.txt
	$(PYTHON) -m venv .venv
	$(PIP) install --quiet --upgrade --constraint constraints.txt pip
	touch $@

.venv/use.stamp: .venv/pip.stamp pyproject.toml
	$(PIP) install --quiet --constraint constraints.txt --editable .
	touch $@

.venv/dev.stamp: .venv/use.stamp
	$(PIP) install --quiet --constraint constraints.txt --editable ".[train,dev]"
	touch $@

clean:
	rm -rf .venv demo build dist
