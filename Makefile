# The only commands people and machines run. Each sets up what it needs: python3, cargo and make are enough.
#
#   make demo      build, and compare an embedded class; the report is out/demo/report.html
#   make test      everything: lints, Rust and Python tests, wheel and sdist in empty environments, fuzzing
#   make quick     the tests without lints and fuzzing
#   make check     lints, types and formatting only
#   make docs      the documentation as a site in out/docs; a warning is an error
#   make examples  put the real output of every example into the pages
#   make pictures  make the pictures of docs/pictures again; needs chromium
#   make bench     speeds with expected answers; RIVALS=DIR adds other tools in the same run
#   make fuzz      fuzz each target for FUZZ_SECONDS; EXECUTIONS=1000000 runs each until then, and continues a stopped run
#   make torture   the long versions of the tests of archive and service: crashes, faults, damage; HOURS=2 by default; prints its seed
#   make mutants   share of small changes to the code that the tests notice, per module; ONLY="params score.rs" for some
#   make quality   answers on labelled data; needs DATA=DIR, and EVAL=DIR for metrics that are not beside it; ONLY=SET;
#                  RIVALS=DIR, where other tools are installed, adds them to the table of disguised copies

# The system's certificates: right behind a proxy, harmless elsewhere.
export UV_SYSTEM_CERTS := 1
VENV := .venv
BIN := $(CURDIR)/$(VENV)/bin
UV := VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/uv
RUST_SOURCES := $(shell find crates -name '*.rs' -o -name 'Cargo.toml' 2>/dev/null)
FUZZ_SECONDS ?= 12

.PHONY: demo test quick others alone check docs examples pictures bench quality mutants clean
.DEFAULT_GOAL := demo
# The parts of a target are a sequence: lints first, and timings of nothing beside something else.
.NOTPARALLEL:

demo: $(VENV)/.built
	$(BIN)/lookalike demo --out out/demo

test: $(VENV)/.built browser cluster
	$(call beside_spark,check others)
	$(MAKE) --no-print-directory alone fuzz

quick: $(VENV)/.built browser cluster
	$(call beside_spark,others)
	$(MAKE) --no-print-directory alone

# The tests of Spark mostly wait for its processes, so they run beside some targets; what they say is shown at the end.
define beside_spark
	@mkdir -p out; $(BIN)/python -m pytest tests/spark > out/spark-tests.log 2>&1 & spark=$$!; \
	  $(MAKE) --no-print-directory $(1); others=$$?; \
	  wait $$spark; spark=$$?; cat out/spark-tests.log; exit $$((others | spark))
endef

others:
	cargo test --quiet
	$(BIN)/python -m pytest -n 2 --dist worksteal --ignore tests/comparison/test_compare_worst_case.py --ignore tests/spark

# How CPU time grows with the size of inputs is measured on a quiet machine.
alone:
	$(BIN)/python -m pytest tests/comparison/test_compare_worst_case.py

check: $(VENV)/.built
	cargo fmt --check
	cargo clippy --quiet --release --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --release --no-deps -p lookalike-core -p lookalike-code -p lookalike-compare -p lookalike-dedup -p lookalike-index -p lookalike-near -p lookalike-table
	$(BIN)/ruff format --check python tests bench quality fuzz mutants docs/conf.py docs/tools
	$(BIN)/ruff check --quiet python tests bench quality fuzz mutants docs/conf.py docs/tools
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest lookalike._core --concise --allowlist tests/support/stubtest.txt --ignore-unused-allowlist
	@if command -v actionlint >/dev/null; then actionlint; else echo "make: actionlint is not on this machine: the workflow files are not checked"; fi

docs: $(VENV)/.built
	$(BIN)/python -m sphinx -q -E -W --keep-going -b html docs out/docs
	@echo "docs: out/docs/index.html"

examples: $(VENV)/.built
	$(BIN)/python -m docs.tools.examples --write

pictures: $(VENV)/.built browser
	$(BIN)/python -m docs.tools.pictures

.PHONY: fuzz
fuzz: $(VENV)/.built
	$(BIN)/python fuzz/run.py $(if $(EXECUTIONS),--executions $(EXECUTIONS),--seconds $(FUZZ_SECONDS))

# Each round has another seed; the one that fails is printed last. SEED=N repeats one.
.PHONY: torture
torture: $(VENV)/.built
	$(BIN)/python -m tests.support.torture --hours $(or $(HOURS),2) $(if $(SEED),--seed $(SEED))

# The cluster beside MLlib last; where pyspark cannot be had it says so.
bench: $(VENV)/.built cluster
	$(BIN)/python -m bench $(if $(RIVALS),--rivals $(RIVALS))
	$(BIN)/python -m bench.engines mllib --rows 20000

# Without DATA it says that it skips, and why.
quality: $(VENV)/.built
	$(BIN)/python -m quality $(DATA) $(if $(EVAL),--eval $(EVAL)) $(if $(RIVALS),--rivals $(RIVALS)) $(if $(ONLY),--only $(ONLY))

# A tool that cannot be had is skipped, and said so. Rust files take hours on two cores.
mutants: $(VENV)/.built
	$(UV) pip install --quiet -c constraints.txt --group mutants || echo "make: mutmut cannot be installed: its modules will be skipped" >&2
	@command -v cargo-mutants >/dev/null || test -x target/tools/bin/cargo-mutants || cargo install --quiet --locked --root target/tools cargo-mutants@27.1.0 \
	  || echo "make: cargo-mutants cannot be installed: its files will be skipped" >&2
	$(BIN)/python -m mutants.run $(ONLY)

# --- set-up ------------------------------------------------------------------------------------------------------------

# The tools and libraries, at pinned versions; the extension itself is built by the rule below.
$(VENV)/.tools: pyproject.toml constraints.txt
	@command -v cargo >/dev/null || { echo "make: cargo is not on this machine: install Rust (rustup) first" >&2; exit 2; }
	@python3 -c 'import sys; sys.exit(sys.version_info < (3, 11, 5))' || { echo "make: python3 is older than 3.11.5: put a newer one first on the PATH" >&2; exit 2; }
	test -x $(BIN)/python || python3 -m venv $(VENV)
	test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt uv
	$(UV) pip install --quiet -c constraints.txt -r pyproject.toml --extra data --extra lab --extra serve --extra scrapy --group dev --group docs 'maturin>=1.16,<2'
	touch $@

$(VENV)/.built: $(VENV)/.tools Cargo.toml Cargo.lock $(RUST_SOURCES)
	@test -d target || echo "building the Rust core: the first build takes about two minutes, later ones seconds"
	$(BIN)/maturin develop --uv --release --quiet
	touch $@

# Tests open the report in a browser. Where Chromium cannot be installed they are skipped, and say so.
# On a fresh machine the package lists are missing, so the second attempt fetches them first.
.PHONY: browser
browser: export DEBIAN_FRONTEND := noninteractive
browser:
	@command -v chromium >/dev/null || apt-get install -y -qq chromium >/dev/null 2>&1 \
	  || { apt-get update -qq && apt-get install -y -qq chromium; } >/dev/null 2>&1 \
	  || echo "make: chromium is not on this machine and cannot be installed: the browser tests will be skipped" >&2

# Tests start a Spark cluster. Where pyspark cannot be had they are skipped, and say so. It is built and cached once.
.PHONY: cluster
cluster: $(VENV)/.tools
	@test $(VENV)/.cluster -nt $(VENV)/.tools || { $(UV) pip install --quiet -c constraints.txt --group cluster && touch $(VENV)/.cluster; } \
	  || echo "make: pyspark is not on this machine and cannot be installed: the Spark tests will be skipped" >&2

clean:
	rm -rf $(VENV) target out
