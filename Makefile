# Two commands for a fresh machine: `make bench` and `make test`. The rest is for daily work.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: bench test test-fast releases lint format

bench: .venv/installed
	@$(BIN)/pcbench bench

test: .venv/zoo lint
	$(BIN)/pytest -n 2 --dist loadgroup --durations=10

test-fast: .venv/zoo
	$(BIN)/pytest -q -n 2 --dist loadgroup -m "not slow"

# Every model by every strategy on four torch releases and two Pythons: hours, and 5 GB for each environment.
releases: .venv/zoo
	.ci/releases full

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: .venv/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# A stamp newer than what it was made from: a second run installs nothing.
.venv/installed: requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "pcbench needs Python 3.11 or newer; set PYTHON=python3.12, say")'
	@echo "installing the pinned environment into .venv (about 5.5 GB, one to three minutes)"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -r requirements.txt
	$(BIN)/python -m pip install --no-deps --no-build-isolation -e .
	@touch $@

.venv/zoo: requirements-zoo.txt .venv/installed
	$(BIN)/python -m pip install -r requirements.txt -r requirements-zoo.txt
	@touch $@
