# Everything a fresh machine needs is Python 3.11 or later and make: each target sets itself up.
#   make demo    run a tensor-core kernel, compare it with NumPy, say why another one is wrong, inspect, draw the map of a move
#   make test    lint, types, layers and of every test file as much as 0.8 s of a processor pay for (4 minutes; tests/README.md)
#   make quick   what a change breaks first: lint, layers, and of unit tests, golden files, documents and laws a first look (30 s)
#   make full    what continuous integration asks: lint, types, layers and every test that needs no GPU; of sweeps a part (11 minutes)
#   make oracles every sweep as a whole: against outside judges, with the large ones (CUTLASS, CuTe DSL, Triton) installed
#                too, and 2^24 inputs of every instruction against sums recorded on hardware; INPUTS=32 for all (hours)
#   make mutants do the tests see? A sample of small mistakes, each tried with the tests that reach it; COUNT=300 SEED=2 for another (hours)
#   make sanitizers  the driver's libraries and all their programs, under gcc's sanitizers of addresses, undefined behaviour and threads
#   make docs    the documentation as a site, in site/; a warning fails it
#   make browser install Chromium where there is no browser and this may (Debian and its kin, as root); the explorer's tests use it
#   make man     the manual page, build/ptxloom.1
#   make suites  test suites of other projects that drive CUDA, on our driver (bench/suites.md), in an environment of their own
#   make bench   the benchmarks, side by side
#   make format  let the formatter and the safe fixes run
VENV   := .venv
BIN    := $(VENV)/bin
FRESH  := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
# The first Python on the path that is new enough and can make virtual environments; PYTHON=... overrides it.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
                    if $$p -c '$(FRESH)' >/dev/null 2>&1; then echo $$p; break; fi; done)
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PYTEST := $(BIN)/python -m pytest -q -n auto --dist worksteal

# How many inputs of each instruction `make oracles` runs, as a power of two: 16, 20, 24, 28 or 32.
INPUTS := 24

# How many mistakes `make mutants` plants, and which.
COUNT := 80
SEED := 1

# Compiled modules are kept, whatever the environment says: the tests start Python more than a thousand times.
export PYTHONDONTWRITEBYTECODE :=

JS_FILES := 'src/ptxloom/web/script/*.js' editors/vscode/extension.js
C_FILES = $(shell find src/ptxloom/cuda_driver tests examples -name '*.[ch]')
CPPCHECK := --quiet --error-exitcode=1 --std=c11 --enable=warning,style,performance,portability \
            --suppressions-list=.cppcheck -I src/ptxloom/cuda_driver/libcuda

.PHONY: demo test quick full lint types layers tests costs oracles mutants sanitizers docs browser man suites bench format clean

demo: $(VENV)/.run
	$(BIN)/ptxloom run examples/hgemm.toml
	$(BIN)/ptxloom why examples/why.toml --try || test $$? -eq 1
	$(BIN)/ptxloom inspect examples/hgemm.ptx examples/triton_matmul.ptx
	$(BIN)/ptxloom map ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16

# Seconds of a processor that `make test` and `make quick` spend on each test file; `make full` asks all of it.
SPEND := 0.8
GLANCE := 0.15

test: lint layers
	@$(MAKE) --no-print-directory -j 2 types tests ASKED="--spend $(SPEND)"

full: lint layers
	@$(MAKE) --no-print-directory -j 2 types tests

quick: lint layers
	$(PYTEST) --durations 10 --spend $(GLANCE) tests/unit tests/golden tests/docs tests/property

lint: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/clang-format --dry-run --Werror $(C_FILES)
	$(BIN)/cppcheck $(CPPCHECK) $(filter src/%.c, $(C_FILES))
	$(BIN)/oxfmt --check $(JS_FILES)
	$(BIN)/oxlint --quiet src/ptxloom/web/script editors

types: $(VENV)/.dev
	$(BIN)/basedpyright --pythonpath $(BIN)/python

layers: $(VENV)/.dev
	$(BIN)/lint-imports --no-cache

tests: $(VENV)/.dev
	$(PYTEST) --durations 20 -m "not sweep" $(ASKED)

# What each test costs, measured anew: tests/costs.json, by which `make test` and `make quick` choose.
costs: $(VENV)/.dev
	$(PYTEST) --costs -m "not sweep"

oracles: $(VENV)/.oracles
	PTXLOOM_INPUTS=$(INPUTS) $(PYTEST) -m "oracle or sweep"
	PTXLOOM_LAWS=5 PTXLOOM_RANDOM_LAWS=1 $(PYTEST) -m hypothesis

mutants: $(VENV)/.dev
	$(BIN)/python tools/mutants.py --count $(COUNT) --seed $(SEED)

SANITIZED := tests/driver/test_sanitizers.py tests/driver/test_programs.py tests/driver/test_odd_graphs.py tests/driver/test_hostile_images.py \
             tests/driver/test_machine_code.py tests/driver/test_runtime_programs.py tests/recorded/driver tests/recorded/arrays
sanitizers: $(VENV)/.dev
	@for one in address undefined thread; do echo "== $$one"; PTXLOOM_SANITIZER=$$one $(BIN)/python -m pytest -q -n 2 $(SANITIZED) || exit 1; done

man: $(VENV)/.dev
	@mkdir -p build
	$(BIN)/argparse-manpage --module ptxloom.cli.command_line --function build_parser --prog ptxloom --project-name ptxloom \
		--description "reads, checks, runs and draws NVIDIA PTX" --manual-title "User Commands" --output build/ptxloom.1

# What was built whole is built on; what an interruption or a warning left behind is built anew.
docs: $(VENV)/.docs
	@test -e site/.whole || rm -rf site
	@rm -f site/.whole
	$(BIN)/python -m sphinx -q -W --keep-going -j auto -c docs -b html . site
	@touch site/.whole
	@echo "site/index.html"

# Without a browser the tests that want one are skipped, and say so: this target never fails.
BROWSERS := chromium chromium-browser google-chrome google-chrome-stable
APT := DEBIAN_FRONTEND=noninteractive timeout 600 apt-get -qq -o Acquire::http::Timeout=30 -o Acquire::Retries=1
browser:
	@for name in $(BROWSERS); do command -v $$name && exit; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && $(APT) update && $(APT) install -y --no-install-recommends chromium; \
	then command -v chromium; else echo "no browser, and none can be installed here: the explorer's tests in a browser are skipped"; fi

suites: $(VENV)-suites/.made
	$(VENV)-suites/bin/python tools/suites/run.py $(SUITE)

bench: $(VENV)/.dev
	@for script in bench/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

format: $(VENV)/.dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	$(BIN)/clang-format -i $(C_FILES)
	$(BIN)/oxfmt $(JS_FILES)

clean:
	rm -rf $(VENV) site docs/reference .pytest_cache .ruff_cache .hypothesis

$(VENV)/.made:
	@test -n "$(PYTHON)" || { echo "ptxloom needs Python 3.11 or later with the venv module; none was found." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.run: $(VENV)/.made pyproject.toml
	$(PIP) --editable '.[run]'
	@touch $@

$(VENV)/.dev: $(VENV)/.made pyproject.toml
	$(PIP) --editable '.[dev]'
	@touch $@ $(VENV)/.run

$(VENV)/.docs: $(VENV)/.made pyproject.toml
	$(PIP) --editable '.[docs]'
	@touch $@

# nvidia-cutlass without what it depends on: its headers and pycute are all that is wanted of it.
$(VENV)/.oracles: $(VENV)/.dev
	$(PIP) nvidia-cutlass-dsl triton nvidia-cuda-nvdisasm
	$(PIP) --no-deps nvidia-cutlass
	@touch $@

# As their users install them; cuda-bindings that numba-cuda 0.30 can share memory by: 13.5 hides the bytes of a handle.
$(VENV)-suites/.made: pyproject.toml Makefile
	$(PYTHON) -m venv $(VENV)-suites
	$(VENV)-suites/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[run]' pytest hypothesis filecheck psutil cffi cloudpickle \
		'numba-cuda[cu13]' 'cuda-bindings==13.1.*' 'cuda-core[cu13]>=1' tinygrad triton nvidia-cutlass-dsl taichi drjit halide
	@touch $@
