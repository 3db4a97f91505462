# Two commands to know: `make demo` and `make test`. Both set up all they need, in .venv.

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.saltern-installed
SALT := build/salt/.installed
SALT_3006 := build/salt-3006/.installed
ENGINES := build/engines/.installed build/stores/.installed
VM := build/vm/.fetched

# Processes that run tests: more than cores, since tests wait for programs, daemons and disks half of the time.
WORKERS ?= $(shell expr 3 '*' $$(nproc 2>/dev/null || echo 2))

# Without compiled files on disk every start would compile the whole package again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup hooks salt engines machine vm demo demo-fleet quick test coverage pythons chaos check audit bench docs examples format lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP) ## make .venv and install what requirements.lock lists

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("saltern needs Python 3.11 or newer: make PYTHON=python3.11 …")'
	@$(PY) -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV) || { rm -rf $(VENV); \
	  echo "make: $(PYTHON) cannot make a virtual environment: install its venv module (Debian: python3-venv)" >&2; exit 1; }
	$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@# Python 3.11 puts it into every environment, and it puts a hook into every start of Python there
	$(PY) -m pip uninstall --quiet --disable-pip-version-check --yes setuptools
	@touch $@

hooks: ## check the form of what is committed, at each commit
	git config core.hooksPath .githooks

salt: $(SALT) $(SALT_3006) ## install Salt into build/salt, for the tests that compare with it

$(SALT): salt.lock tools/salt.py | $(STAMP)
	@$(PY) -m tools.salt

$(SALT_3006): salt-3006.lock tools/salt.py | $(SALT)
	@$(PY) -m tools.salt 3006

engines: $(ENGINES) ## install ansible-core, sops and other programs into build/, for the tests that drive them

$(ENGINES): build/%/.installed: %.lock tools/engines.py | $(STAMP)
	@$(PY) -m tools.engines $*

demo: $(STAMP) ## apply a small tree to a temporary directory: in test mode, really, and again
	@$(PY) -m tools.demo

demo-fleet: $(STAMP) ## a controller and five agents on this machine, in a temporary directory
	@$(PY) -m saltern fleet demo

machine: $(STAMP) ## install the Debian packages that tests use, as root; MACHINE=no leaves that out
	@$(PY) -m tools.machine

vm: $(VM) ## fetch a kernel into build/vm, for the test that boots a virtual machine

$(VM): tools/vm.py | $(STAMP) machine
	@$(PY) -m tools.vm

test: $(STAMP) $(SALT) $(SALT_3006) $(ENGINES) machine $(VM) ## run all tests
	$(PY) -m tools.suite -n $(WORKERS) --dist worksteal -rs

quick: $(STAMP) ## run the unit and property tests, in about a minute
	$(PY) -m pytest -n 2 tests/unit tests/property -m "not slow and not real"

coverage: $(STAMP) ## the share of src that the quick tests reach; a figure to know, and not a gate
	$(PY) -m pytest -n 2 tests/unit tests/property tests/conformance -m "not slow and not real" --cov=saltern --cov-report=term:skip-covered | tail -n 200 > build/coverage.txt
	@grep -E '^TOTAL' build/coverage.txt

pythons: $(STAMP) ## run the quick tests with the other Pythons that are found here
	@$(PY) -m tools.pythons

chaos: $(STAMP) ## damage every kind of file that saltern reads, for ten minutes each; CHAOS_SECONDS, CHAOS_SEED
	CHAOS_SECONDS=$${CHAOS_SECONDS:-600} $(PY) -m pytest -n 2 -s tests/chaos tests/fleet/controller/test_three.py tests/fleet/controller/test_removal.py tests/fleet/e2e/test_bench.py tests/fleet/faults/test_clock_and_size.py tests/fleet/ssh/test_kills.py tests/chains/test_leg_schedules.py tests/fleet/controller/test_chain_endurance.py tests/fleet/ssh/test_wire.py tests/fleet/ssh/test_start_race.py tests/fleet/ssh/test_chain_cuts.py tests/salt_fleet/test_chain.py tests/salt_fleet/test_conformance.py tests/fleet/orchestration/test_as_salt.py tests/fleet/orchestration/test_resume.py tests/fleet/reactor/test_runs.py

check: $(STAMP) ## format, lint, types, import contracts, generated pages, words, names, shape, needless lazy imports
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy src tests tools
	$(VENV)/bin/lint-imports
	$(PY) -m tools.reference --check
	$(PY) -m tools.words --check
	$(PY) -m tools.names --check
	$(PY) -m tools.shape --check
	$(PY) -m tools.lazy --check

audit: $(STAMP) ## known weaknesses in what is pinned, or the ages of the pins; informs and fails nothing
	@$(PY) -m tools.audit

bench: $(STAMP) ## measure; BENCH=--short takes a minute, for information
	$(PY) bench/run.py $(BENCH)
	$(if $(BENCH),,$(PY) bench/fleet.py --quick)
	$(if $(BENCH),,$(PY) bench/ssh.py --quick)
	$(if $(BENCH),,$(PY) bench/console.py --quick)

docs: $(STAMP) ## write the generated pages of docs/reference again
	$(PY) -m tools.reference

examples: $(STAMP) ## write examples/*/expected.txt again, from what saltern prints now
	$(PY) -m tools.examples

format: $(STAMP) ## format the code, and fix what the linter can fix
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

lock: $(STAMP) ## write the lock files again (needs uv)
	$(PY) -m tools.lock

clean: ## remove the environment and all caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
	find src tests tools -name __pycache__ -type d -prune -exec rm -rf {} +
