# Everything that is done with Maquette, a command each. `make help` lists them.

VENV := .venv
BIN := $(VENV)/bin
# How long each parser is fuzzed. [s]
SECONDS ?= 600
# Simulations of the store follow from so many seeds, each kind of them, from this one on.
SEEDS ?= 10000
FIRST ?= 0
# Otherwise pip lists all optional packages that are not asked for, as if something were wrong.
export PIP_QUIET := 1

.DEFAULT_GOAL := help
.PHONY: help try test test-package test-store test-others test-browser docs bench beside hostile soak check fuzz format dist clean

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

try: release ## run the published studies again and write report/index.html (about 5 minutes, once built)
	@status=0; $(BIN)/maquette reproduce moc postal cm5 lh bcast || status=$$?; \
	if [ $$status -eq 1 ]; then echo "Open it in a browser. Some claims were missed: it says which, and why we think so."; \
	else exit $$status; fi

test: $(VENV)/ready ## run all tests: Rust, the installed command, the report in a browser
	@scripts/need chromium || true
	@scripts/need network || true
	@scripts/need redis || true
	@scripts/need openssl || true
	cargo test --workspace --locked --no-fail-fast
	@scripts/preloaded-libraries debug
	@$(BIN)/maturin develop --locked --quiet
	@$(MAKE) --no-print-directory --keep-going --jobs=3 --output-sync test-package test-others test-browser test-store

# These wait much, for timeouts, processes and a browser: three at a time keep two cores busy.
test-package:
	$(BIN)/python -m pytest tests/python --ignore-glob='*/test_store*'

test-store:
	$(BIN)/python -m pytest tests/python/test_store*.py

test-others:
	$(BIN)/python -m pytest tests/network tests/hostile tests/linearizable

# The report of the studies is being made meanwhile: the tests that need it come last.
test-browser:
	$(BIN)/python -m pytest tests/browser/test_run_report.py tests/browser/test_store_page.py tests/browser/test_report.py

docs: $(VENV)/docs ## make the documentation as a site, target/site/index.html; every example is run
	@scripts/preloaded-libraries debug
	@$(BIN)/maturin develop --locked --quiet
	$(BIN)/python -m sphinx -W --keep-going --quiet -b html docs target/site

bench: release ## measure how fast the simulations are, in Rust and from Python, and the store beside Redis
	@scripts/need redis || true
	$(BIN)/python tests/bench/python.py
	$(BIN)/python tests/bench/plan.py
	$(BIN)/python tests/bench/collectives.py
	$(BIN)/python tests/bench/store.py
	$(BIN)/python tests/bench/store_pool.py
	$(BIN)/python tests/bench/store_client.py
	$(BIN)/python tests/bench/store_parity.py
	$(BIN)/python tests/bench/ycsb.py
	cargo bench --locked --workspace --exclude maquette-python-bindings --bench '*'

beside: release ## measure files and broadcasts beside UFTP, udpcast, TCP and MPI, on eight hosts (as root; 15 minutes)
	@scripts/need network
	@scripts/need others
	MAQUETTE=$(CURDIR)/$(BIN)/maquette $(BIN)/python tests/network/beside.py

hostile: release ## repeat every wrong answer and open door that was ever found, and count those that hold
	$(BIN)/python tests/hostile/run.py

soak: ## simulate pools of the store that grow, shrink and crash, SEEDS=10000 of each of seven kinds (some minutes, once built)
	@scripts/need cargo
	SEEDS=$(SEEDS) FIRST=$(FIRST) nice cargo test --release --locked -p maquette-store --test specification -- \
		--nocapture --test-threads=1 a_file_grows any_moment without_power linearizable for_good at_once every_answer_is_right_while

check: $(VENV)/ready ## format, lints as errors, types, licences, size limits
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet
	$(BIN)/mypy --strict python/maquette examples docs/conf.py docs/generate.py tests/python tests/stores.py tests/pools.py tests/preloaded.py tests/bench tests/browser tests/network tests/hostile tests/linearizable scripts
	$(BIN)/python scripts/licences.py
	cargo test --locked -p maquette-command-line --test house_rules

fuzz: ## let a fuzzer at every parser, SECONDS=600 each
	@scripts/need cargo
	@scripts/fuzz $(SECONDS)

format: ## put everything in its usual form
	cargo fmt --all

dist: $(VENV)/dist ## make what is installed without a compiler, target/dist: wheels, a command of one file, packages
	$(BIN)/python scripts/dist.py

clean: ## remove what was built
	cargo clean
	rm -rf $(VENV) report dist docs/generated docs/gallery

# The virtual environment with the tools.
$(VENV)/ready: Makefile pyproject.toml scripts/need
	@scripts/need cargo
	@scripts/need python
	@test -x $(BIN)/python || python3 -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check maturin pytest mypy numpy polars pyarrow networkx nanoarrow \
		pandas duckdb matplotlib distributed mpi4py mpich redis prometheus-client jsonschema types-jsonschema
	@touch $@

# What the documentation is made with, beside those.
$(VENV)/docs: $(VENV)/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check sphinx pydata-sphinx-theme sphinx-gallery numpydoc myst-parser
	@touch $@

# What packages are made with, beside those; scripts/dist.py says which tools of cargo it needs as well.
$(VENV)/dist: $(VENV)/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check cargo-zigbuild ziglang
	@touch $@

# The command itself, built for speed and installed there. The tests install it as they were built themselves, which takes
# minutes less. Cargo knows what has changed, so it is always asked.
.PHONY: release
release: $(VENV)/ready
	@scripts/preloaded-libraries release
	@$(BIN)/maturin develop --release --locked --quiet
