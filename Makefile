# The README's two commands are `make crawl` and `make test`. `make help` lists the rest.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

SWIFT ?= swift
OUT ?= crawl-out
URLS ?=
ARGS ?=
FILTER ?=
PREFIX ?= /usr/local
DESTDIR ?=
# STRICT=1 makes a warning in this package an error; the packages it depends on are not meant.
STRICT ?=

# It looks for the toolchain too.
bootstrap := SWIFT='$(SWIFT)' deploy/bootstrap.sh
# One file is a whole installation, so the Swift runtime goes into it; and it must not look for libraries of the system in its
# own directory, to which others may be able to write.
release := -c release --static-swift-stdlib --disable-local-rpath
# SwiftPM keeps these flags from dependencies. It has no such care for C: there the log is searched, below.
strict := $(if $(STRICT),-Xswiftc -warnings-as-errors -Xcc -Wall -Xcc -Wextra)
# Every test is a Swift Testing test. They run side by side in one process; suites that measure time are `.serialized`.
# `swift test --parallel` would only start one process for each XCTest, of which there are none.
testing := --disable-xctest $(if $(FILTER),--filter '$(FILTER)')
# What touches threads, C, shared memory or unsafe pointers.
sanitized := ^(TrawlHTTP|TrawlProtocol|TrawlJSON|TrawlCache|TrawlSession|TrawlPlatform|TrawlCoding|TrawlURL|TrawlTransfer|TrawlStore|TrawlWorker|TrawlWatch|TrawlPAC|TrawlCrypto|TrawlCommand|Trawl)Tests\.
lint_paths := Package.swift $(wildcard Sources Tests docs/examples)
shell_scripts = $(shell grep -rlE '^\#!/bin/(ba)?sh' deploy .ci Tests 2>/dev/null)

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' Makefile

.PHONY: crawl
crawl: ## build, and trawl batch: URLS=list.txt ARGS='-j 16 …' OUT=crawl-out; without URLS a sample site on loopback
	@$(bootstrap) build
	@SWIFT='$(SWIFT)' deploy/crawl.sh '$(OUT)' '$(URLS)' $(ARGS)

.PHONY: build
build: ## release executables
	@$(bootstrap) build
	$(SWIFT) build $(release) $(strict) --product trawl
	$(SWIFT) build $(release) $(strict) --product trawl-worker

.PHONY: build-tests
build-tests:
	@$(bootstrap) build test
	@mkdir -p .build
	$(SWIFT) build --build-tests $(strict) 2>&1 | tee .build/build-tests.log
	@if [[ -n '$(STRICT)' ]] && grep -E '/(Sources|Tests)/[^:]+\.(c|h|swift):[0-9]+:[0-9]+: warning:' .build/build-tests.log \
	    | grep -v '/.build/'; then echo 'make: the warnings above are errors here' >&2; exit 1; fi

# Tests with real processes look at this process's own descriptors, threads and children, so they run one at a time; mostly
# they wait, so some processes share them: each takes the suites whose names begin as a line of Tests/parts says. What the
# first does is seen; the words of the others come when it is done.
integration := ^IntegrationTests\.
parts := $(shell cat Tests/parts)
run := $(SWIFT) test --skip-build --ignore-lock $(strict) $(testing)

# What failed is said once more at the end, where a reader of a long log looks first.
# $(call failed,logs)
failed = { echo; echo 'make: what failed:'; grep -ahE -A4 'recorded an issue|error: ' $(1) | tail -n 60; exit 1; }
# A pattern that no test matches is a mistake, and no success.
none = grep -aq 'Test run with 0 tests'
# $(call some,log)
some = if $(none) $(1); then echo 'make: no test has such a name' >&2; exit 1; fi
# $(call run-tests,options)
run-tests = $(run) $(1) 2>&1 | tee .build/tests.log || $(call failed,.build/tests.log); $(call some,.build/tests.log)
run-part = $(run) --no-parallel --filter '$(integration)$(1)'
run-integration = rm -f .build/tests-part-*.log; status=0; started=(); \
    $(foreach part,$(wordlist 2,9,$(parts)),$(call run-part,$(part)) > '.build/tests-part-$(part).log' 2>&1 & started+=($$!);) \
    $(call run-part,$(firstword $(parts))) 2>&1 | tee '.build/tests-part-$(firstword $(parts)).log' || status=1; \
    for process in $${started[@]}; do wait $$process || status=1; done; \
    $(foreach part,$(wordlist 2,9,$(parts)),cat '.build/tests-part-$(part).log';) \
    $(foreach part,$(parts),if $(none) '.build/tests-part-$(part).log'; then status=1; \
        echo 'make: Tests/parts: no suite begins with $(part)' >&2; fi;) \
    (( status == 0 )) || $(call failed,.build/tests-part-*.log)

.PHONY: test
test: build-tests ## all tests; FILTER=regex for some, STRICT=1 with warnings as errors
ifneq ($(FILTER),)
	@$(call run-tests,--no-parallel)
else
	@$(call run-tests,--skip '$(integration)')
	@$(run-integration)
endif

.PHONY: test-long
test-long: build-tests ## all tests, and those that take minutes; FILTER=regex for some
	@export TRAWL_LONG_TESTS=1; $(call run-tests,--no-parallel)

ROUNDS ?= 20
.PHONY: test-rounds
test-rounds: build-tests ## all tests ROUNDS=20 times in a row, as an ordinary user even for root; FILTER=regex for some
	@Tests/rounds $(ROUNDS) $(if $(FILTER),'$(FILTER)')

# The workers of tests with real processes are built with the sanitizer too.
processes := Bandwidth BandwidthShare CacheBody CacheCoalescing CacheCoalescingFailure CacheKill CacheOvertaking CancelStorm Connection ContentCoding \
    CookieKill CoordinatorDeath Crash DecisionFailure Download Event Fault FetchQueue FrameCampaign Garbage GetCommand GetFlag \
    GetList GetWriteOut HeldHead Host HostConnection HostLimit Kill LastFieldLine Leftover Lifecycle Pipe PipeMemory Poison \
    Progress QueueCancel QueueShutdown Redirect RedirectDecision RefusedStream Request RequestBytes Response ResponseEnd Resume \
    SecureSite StatusSocket Streaming Suspend SuspendedServer Terminal Text TimeLimit UnsentBody UnwantedBody WrongExecutable
empty :=
sanitized-processes := $(integration)($(subst $(empty) $(empty),|,$(strip $(processes))))Tests/
# $(call sanitized-run,sanitizer,folder,options)
sanitized-run = mkdir -p $(2) && $(SWIFT) test --disable-xctest --sanitize $(1) --scratch-path $(2) $(3) 2>&1 | tee $(2)/tests.log \
    && $(call some,$(2)/tests.log)
# $(call sanitized-tests,sanitizer,folder)
sanitized-tests = $(call sanitized-run,$(1),$(2),--filter '$(or $(FILTER),$(sanitized))') \
    $(if $(FILTER),,&& $(call sanitized-run,$(1),$(2),--skip-build --no-parallel --filter '$(sanitized-processes)'))

.PHONY: test-sanitize
test-sanitize: export TSAN_OPTIONS ?= atexit_sleep_ms=0
test-sanitize: export LSAN_OPTIONS ?= suppressions='$(CURDIR)/Tests/Sanitizers/leaks.supp':print_suppressions=0
test-sanitize: ## thread and address sanitizer over what touches threads, C and shared memory
	@$(bootstrap) build test
	$(call sanitized-tests,thread,.build-tsan)
	$(call sanitized-tests,address,.build-asan)

.PHONY: lint
lint: ## swift format and shellcheck
	$(SWIFT) format lint --strict --parallel --recursive $(lint_paths)
	@if command -v shellcheck >/dev/null; then set -x; shellcheck $(shell_scripts); \
	    else echo 'lint: no shellcheck here; deploy/bootstrap.sh lint installs it' >&2; fi

.PHONY: format
format: ## rewrite the Swift sources to .swift-format
	$(SWIFT) format --in-place --parallel --recursive $(lint_paths)

.PHONY: bench
bench: build ## compare with other fetchers on this machine: ARGS='w1 w7', ARGS=--quick, ARGS=--help
	@$(bootstrap) build bench
	$(SWIFT) build $(release) --product LibraryLoad
	Tests/Benchmarks/run $(ARGS)

# One file is the whole installation: the command starts itself again as its workers. Programs that use the library get
# `trawl-worker` built beside them by SwiftPM, so it is not installed.
.PHONY: install
install: build ## the command, man pages, completions for bash, zsh and fish; PREFIX=/usr/local, DESTDIR=
	@$(MAKE) --no-print-directory install-built

# Root may have no toolchain, and what it builds here stays root's: `make build`, and this as root.
BUILT ?= .build/release
.PHONY: install-built
install-built: ## the same of what is built already
	BUILT='$(BUILT)' deploy/install.sh install '$(DESTDIR)$(PREFIX)'

.PHONY: uninstall
uninstall: ## remove what `make install` put there, with the same PREFIX and DESTDIR
	deploy/install.sh uninstall '$(DESTDIR)$(PREFIX)'

.PHONY: clean
clean: ## remove what was built, not what was fetched
	rm -rf .build .build-tsan .build-asan .build-venv .build-bench-venv .build-example
