# The only commands people and machines run. Each sets up what it needs: python3, cargo and make are enough.
#
#   make demo      build and show the engine on an embedded sample
#   make test      everything: lints, Rust and Python tests, fuzzing
#   make quick     the tests without lints and fuzzing
#   make check     lints, types and formatting only
#   make bench     speeds with expected answers; RIVALS=DIR adds other tools in the same run
#   make quality   labelled data; needs DATA=DIR

# The system's certificates: right behind a proxy, harmless elsewhere.
export UV_SYSTEM_CERTS := 1
VENV := .venv
BIN := $(CURDIR)/$(VENV)/bin
UV := VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/uv
RUST_SOURCES := $(shell find crates -name '*.rs' -o -name 'Cargo.toml' 2>/dev/null)
FUZZ_SECONDS ?= 20

.PHONY: demo test quick check bench quality clean
.DEFAULT_GOAL := demo
# The parts of `test` are a sequence: lints first, and timings of nothing beside something else.
.NOTPARALLEL:

demo: $(VENV)/.built
	$(BIN)/lookalike demo

test: check quick fuzz

quick: $(VENV)/.built
	cargo test --quiet
	$(BIN)/python -m pytest

check: $(VENV)/.built
	cargo fmt --check
	cargo clippy --quiet --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --no-deps -p lookalike-core
	$(BIN)/ruff format --check python tests bench fuzz
	$(BIN)/ruff check --quiet python tests bench fuzz
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest lookalike._core --concise

.PHONY: fuzz
fuzz: $(VENV)/.built
	$(BIN)/python fuzz/run.py --seconds $(FUZZ_SECONDS)

bench: $(VENV)/.built
	$(BIN)/python -m bench $(if $(RIVALS),--rivals $(RIVALS))

# What is scored on labelled data are pairs, passages and clusters, and none are made yet: fingerprints have no labels.
quality:
	@echo "quality: skipped, $(if $(DATA),there is nothing to score before documents are compared,no labelled data given; use make quality DATA=DIR)"

# --- set-up ------------------------------------------------------------------------------------------------------------

# The tools and libraries, at pinned versions; the extension itself is built by the rule below.
$(VENV)/.tools: pyproject.toml constraints.txt
	@command -v cargo >/dev/null || { echo "make: cargo is not on this machine: install Rust (rustup) first" >&2; exit 2; }
	test -x $(BIN)/python || python3 -m venv $(VENV)
	test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt uv
	$(UV) pip install --quiet -c constraints.txt --group dev 'maturin>=1.16,<2' click rich matplotlib
	touch $@

$(VENV)/.built: $(VENV)/.tools Cargo.toml Cargo.lock $(RUST_SOURCES)
	@test -d target || echo "building the Rust core: the first build takes about two minutes, later ones seconds"
	$(BIN)/maturin develop --uv --release --quiet
	touch $@

clean:
	rm -rf $(VENV) target out
