# Every step that CI takes, by name. `make` alone lists them.
#
# Needs Rust, make and a POSIX shell; what else a step takes, it gets for itself, into target/tools.

CARGO ?= cargo
# For the server: make run ARGS="--listen 127.0.0.1:9000"
ARGS ?=
# Steps that `make soak` plays.
SOAK_STEPS ?= 5000000
# Operations that `make faults` has callers do, in total.
FAULTS_OPERATIONS ?= 1200000

.DEFAULT_GOAL := help
# cargo uses all cores by itself, and the order of steps is the order of their output.
.NOTPARALLEL:
.PHONY: help run redis soak faults test unit-tests container-tests doc-tests examples matrix beside-node-red bench \
	check lock fmt clippy doc package deny advisories format clean

# Makes sure of a Redis or Valkey binary and puts its folder on PATH, where the embedded server and
# the tests look. A folder that is there already stays where it is: moved to the front, /usr/bin
# would hide rustup's cargo.
redis_on_path = server=$$(tools/get-redis.sh) || exit 1; folder=$${server%/*}; \
	case ":$$PATH:" in *":$$folder:"*) ;; *) PATH=$$folder:$$PATH; export PATH ;; esac

# Tells the tests where libfaketime is.
faketime = GRACKLE_TEST_FAKETIME=$$(tools/get-faketime.sh); export GRACKLE_TEST_FAKETIME

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## run the server on a Redis of its own; its data is kept in ./grackle-data
	@$(redis_on_path); exec $(CARGO) run --release -p grackle-server -- $(ARGS)

redis: ## get a Redis or Valkey binary, if there is none
	@tools/get-redis.sh >/dev/null

test: unit-tests doc-tests examples ## run every test, then the examples

unit-tests: ## run all tests but those in the docs
	@$(redis_on_path); $(faketime); $(CARGO) test --workspace --all-targets

soak: ## play the reference model against the scripts for hours
	@$(redis_on_path); GRACKLE_MODEL_STEPS=$(SOAK_STEPS) $(CARGO) test --test model -- --nocapture

faults: ## break what can be broken under many callers, at length, and print a table
	@$(redis_on_path); $(faketime); tools/faults.sh $(FAULTS_OPERATIONS)

# --all-targets leaves them out.
doc-tests: ## run the code in the docs
	@$(redis_on_path); $(CARGO) test --workspace --doc

# --workspace: the features that `unit-tests` builds with, or all would be built again.
container-tests: ## run some tests with Redis in a container, where a Docker engine answers
	@$(redis_on_path); GRACKLE_TEST_REDIS=container tools/with-docker.sh $(CARGO) test --workspace \
		--test system --test scripts -- --include-ignored container:: waiting:: queue::

matrix: ## run the tests of Redis' layouts on each version of Redis, and print a table
	tools/matrix.sh

# Built before, so that their Redis is there no longer than they run; with --workspace, so that they
# take the libraries that the tests' build made. `cargo run` would make others.
examples: ## run the examples, each beside a fresh Redis
	$(CARGO) build --workspace --examples
	tools/with-redis.sh "$${CARGO_TARGET_DIR:-target}/debug/examples/quickstart"
	tools/with-redis.sh "$${CARGO_TARGET_DIR:-target}/debug/examples/restaurant"

beside-node-red: ## ask the Node-RED package and Grackle the same, and print a table; needs Node.js and npm
	$(CARGO) build --workspace --bin grackle-server
	@$(redis_on_path); tools/beside-node-red.sh "$${CARGO_TARGET_DIR:-target}/debug/grackle-server"

bench: ## measure throughput, hand-off, watchers and long queues, beside a fresh Redis
	$(CARGO) build --release --examples
	tools/with-redis.sh $(CARGO) run --release --quiet --example throughput
	tools/with-redis.sh $(CARGO) run --release --quiet --example hand_off
	tools/with-redis.sh $(CARGO) run --release --quiet --example watchers
	@$(redis_on_path); $(CARGO) test --release --quiet --test scripts -- --ignored --nocapture depth::

check: lock fmt clippy doc package deny ## all that CI looks at before the tests

# Everyone builds what was tested: the steps after this one take Cargo.lock as it is.
lock: ## see that Cargo.lock fits the manifests
	$(CARGO) metadata --locked --format-version 1 >/dev/null

fmt: ## see that the code is formatted
	$(CARGO) fmt --all --check

format: ## format the code
	$(CARGO) fmt --all

# Clippy knows rust-version too: it denies what that release lacks in std.
clippy: ## lint
	$(CARGO) clippy --workspace --all-targets -- -D warnings

doc: ## build the docs; a broken link is an error
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps

# Builds the crate from its archive alone, so a file that it lacks shows here. --allow-dirty: to be
# of use before a commit.
package: ## see that grackle-client can be published
	$(CARGO) package -p grackle-client --allow-dirty

deny: ## check licenses, sources and banned crates (deny.toml)
	@deny=$$(tools/get-cargo-deny.sh) && "$$deny" check licenses bans sources

# Apart from deny: it fetches the RustSec database with git, which CI can't reach.
advisories: ## check for known vulnerabilities and yanked crates
	@deny=$$(tools/get-cargo-deny.sh) && "$$deny" check advisories

clean: ## remove all that was built or fetched; ./grackle-data stays
	$(CARGO) clean
