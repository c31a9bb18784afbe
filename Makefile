# Everything happens in .venv, made from the project's own files. `make demo` and `make test` need python3 and make only.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q install -c constraints.txt
SOURCES := orchestrator tools tests examples docs benchmarks hatch_build.py

.PHONY: demo test quick check format lint types floors fresh catalog hosts clients picture examples wheel-test fuzz bench clean

demo: .venv/.runtime  ## diagnose a bundled broken run, no API key needed
	@$(BIN)/traindx demo

test: .venv/.dev  ## the whole test suite
	$(BIN)/python -m pytest -n 2 --dist loadfile

quick: .venv/.dev  ## the tests that take no time, in less than a minute; property tests with a tenth of their examples
	HYPOTHESIS_PROFILE=quick $(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow"

check: .venv/.dev format lint types floors fresh test  ## what CI runs

format: .venv/.dev
	$(BIN)/ruff format --check $(SOURCES)

lint: .venv/.dev
	$(BIN)/ruff check $(SOURCES)

types: .venv/.dev
	$(BIN)/mypy

floors: .venv/.dev
	$(BIN)/lint-imports

fresh: .venv/.dev  ## generated documents are up to date
	$(BIN)/python docs/draw_rooms.py --check
	$(BIN)/python -m traindx.diagnosis.compiled --check
	$(BIN)/python -W ignore -m traindx.runtime.compiled --check
	$(BIN)/python -m traindx.hosts.generated --check

catalog: .venv/.dev  ## compile failure modes and tools into prompts/*.json
	$(BIN)/python -m traindx.diagnosis.compiled
	$(BIN)/python -W ignore -m traindx.runtime.compiled

hosts: .venv/.dev  ## write the plugin manifests, AGENTS.md, the skill's references and the specialists' tool lines
	$(BIN)/python -m traindx.hosts.generated

clients: .venv/.dev  ## the real clients of agent hosts, for the tests that need them
	mkdir -p .venv/clients
	cp tests/hosts/package.json .venv/clients/
	npm install --silent --no-package-lock --no-audit --no-fund --prefix .venv/clients
	$(PIP) -e '.[agent-sdk]'

picture: .venv/.dev  ## redraw docs/rooms.svg from the import graph
	$(BIN)/python docs/draw_rooms.py

examples: .venv/.dev  ## run the example trainings again
	$(BIN)/python examples/regenerate.py

wheel-test: .venv/.dev  ## build the wheel, install it into an empty environment, run the demo from /
	$(BIN)/python tests/wheel_test.py

fuzz: .venv/.dev  ## read damaged files for a minute
	$(BIN)/python tests/fuzz_readers.py 60

bench: .venv/.dev  ## measure everything that has a figure
	$(PIP) -e '.[bench]'
	for script in benchmarks/*.py; do echo "== $$script"; $(BIN)/python $$script; done

clean:
	rm -rf .venv dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/.runtime: .venv/bin/python pyproject.toml constraints.txt
	$(PIP) -e .
	@touch $@

.venv/.dev: .venv/bin/python pyproject.toml constraints.txt
	$(PIP) -e '.[dev,torch]'
	@touch $@ .venv/.runtime
