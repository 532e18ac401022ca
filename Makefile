# Thin: each target calls the tool that knows. `make help` lists the targets.
.POSIX:
SHELL = /bin/sh
PREFIX = /usr/local
DESTDIR =
# A toolchain that `scripts/setup` has just installed is not on the PATH of this shell yet.
WITH_TOOLS = . scripts/own-build; PATH="$$HOME/.cargo/bin:$$PATH"

.PHONY: help run run-all docs test test-all soak bench lint build install dist answers generate clean setup setup-all setup-test setup-suites setup-packages setup-kernels test-packages portability format

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' Makefile | awk -F'|' '{printf "%-18s %s\n", $$1, $$2}'

run: setup ## set up what is missing, build what the first table takes, and show what a context switch costs here
	@$(WITH_TOOLS) cargo build --profile quick --locked -p switchcost
	@$(WITH_TOOLS) scripts/build-probes run
	@target/quick/switchcost run || test $$? -eq 4

run-all: setup-all build ## the same with every runtime that has a probe
	@target/release/switchcost run --all --budget 180s || test $$? -eq 4

setup:
	@scripts/setup run

setup-all:
	@scripts/setup all

setup-test:
	@scripts/setup test

setup-suites:
	@scripts/setup suites

setup-packages:
	@scripts/setup packages

setup-kernels: ## an emulator and Debian's kernels for `switchcost kernels`, 80 MB in the user's cache folder
	@scripts/setup kernels

build: ## host, every probe, pages and schemas, into target/
	@$(WITH_TOOLS) cargo build --release --locked -p switchcost -p xtask
	@$(WITH_TOOLS) scripts/build-probes
	@scripts/build-web
	@target/release/xtask share target/share/switchcost

SUITES = all

test: setup-test ## the gate: set up what is missing, build, lint, and run the tests that every change must pass
	@scripts/test

test-all: setup-suites build ## what the gate leaves out, or some of it: make test-all SUITES='containers wine'
	@scripts/test $(SUITES)

soak: setup-suites build ## faults at random instants for 15 minutes, an hour of fuzzing, A/A counts, and tests for a quiet machine
	@scripts/test soak

portability: setup-suites build ## build for every other platform, run what an emulator can run, compare with README's table
	@$(WITH_TOOLS) scripts/check-portability --check

lint: ## formatting and lints, as errors
	@$(WITH_TOOLS) scripts/lint

format: ## put the sources into their form
	@$(WITH_TOOLS) scripts/format

bench: setup-test build ## fidelity: each figure beside a plain loop in one run; audit beside the CPU time that vanishes without switches
	@$(WITH_TOOLS) bench/run
	@bench/audit/run

docs: setup-test build ## all pages as a book with one page for each mechanism, target/book/html; a broken link is an error
	@scripts/book

answers: build ## measure the runs behind docs/answers.md, docs/findings and docs/runtimes.md again, in about forty minutes, and write the pages anew
	@scripts/answers

generate: setup-test build ## rewrite what is derived from code and from data/example
	@target/release/xtask documents
	@web/generate

install: ## into $(DESTDIR)$(PREFIX); run `make build` first
	@scripts/install "$(DESTDIR)$(PREFIX)"

dist: setup-packages build ## archive, wheel and .deb for this processor, into target/dist
	@$(WITH_TOOLS) scripts/dist

test-packages: dist ## for both processors: install and run each package in roots that lack everything; as root
	@$(WITH_TOOLS) scripts/dist aarch64
	@scripts/test-packages

clean: ## remove everything that was built
	rm -rf target bench/build
