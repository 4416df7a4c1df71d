# make run   installs what is missing, builds, starts the service and the sample provider, walks the tour, stays up
# make samples starts a forum, a messenger and a reading service beside the service of `make run`
# make test  installs what the tests need and runs everything but the long tests; STAGES="client model" runs those alone
# make one   runs the tests whose suite or function has a name: make one T=BanTests
# make android-test compiles the SDK for Android and the JVM and runs its tests, also part of make test; T=live.RenewalTest
#            runs those of a class alone, HTTP=1.1 those of the older version of HTTP
# make soak  runs the long tests; PART=kills runs that part alone, PART=today that of this day
# make embed writes openapi.json and herald.thrift as Swift source, after a change of them
# make sentences prints every sentence that the service can send or print, by code or kind
# make english counts turns of phrase that are not plain English, by target
# make hello signs a user in to a quick start, IN=python, node, go, java, ruby or php, and ends
# make bench builds for release and measures; it writes RESULTS.md and peers.svg of Tests/Benchmarks, and all rounds to
#            .build/bench.json. PARTS="signin peers" runs those alone, and replaces their sections.
#            PARTS="console --users 20000" asks for all pages of the console; without the number beside 10 million users
# make fuzz  reads ten million mutated cards, frames and answers of wallets each, sends 200,000 odd requests, and kills
#            nodes 2,000 times; FUZZ_ROUNDS and FUZZ_SEED are yours. None may cost 20 times as much processor time as is
#            usual for its kind
# make attacks runs attacks on a release build and prints what each achieves; ATTACKS="lost_store unread_pages" runs those alone
# make docs  builds the pages and the doc comments of every target; a broken link or any other warning fails it
# make sdk   writes the package of the SDK for apps in Swift: a folder and an archive in .build/sdk, and a branch
# make package      builds the Debian package of the release in .build/package
# make package-test installs it in a fresh system, signs a user in, upgrades, removes; makes an OCI image; needs root
.PHONY: run samples hello build-tests test android-test one soak embed sentences english bench fuzz attacks build format lint \
    docs sdk package package-test
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
VENV := $(CURDIR)/.venv
# The commit of this tree for `countersign --version`, found without a network. An archive of the sources has none.
export COUNTERSIGN_COMMIT := $(shell [ -e '$(CURDIR)/.git' ] && cd '$(CURDIR)' && commit=$$(git rev-parse --short=12 HEAD 2>/dev/null) \
    && echo "$$commit$$(git diff --quiet HEAD || echo -changed)")
BUILD_PACKAGES := pkg-config libssl-dev libjwt-dev libsqlite3-dev libpq-dev
# What the quick start of a language needs. That of Python has an environment of its own, with PyJWT.
HELLO_python := python3-venv
HELLO_node := nodejs
HELLO_go := golang-go golang-github-golang-jwt-jwt-dev
HELLO_java := openjdk-17-jdk-headless libjackson2-databind-java libokhttp-java libgoogle-gson-java libjsr305-java
HELLO_ruby := ruby ruby-jwt ruby-webrick
HELLO_php := php-cli
ANDROID_PACKAGES := openjdk-17-jdk-headless libokhttp-java libgoogle-gson-java libjsr305-java junit5 kotlin
TEST_PACKAGES := postgresql faketime softhsm2 opensc libengine-pkcs11-openssl age python3-venv openssl \
    thrift-compiler elfutils curl jq nodejs golang-go openjdk-17-jdk-headless \
    dbconfig-sqlite3 glewlwyd dpkg-dev systemd man-db zsh fish haproxy nginx-light libnginx-mod-stream prometheus coturn \
    chromium-headless-shell \
    $(HELLO_go) $(HELLO_java) $(HELLO_ruby) $(HELLO_php) $(ANDROID_PACKAGES)
SOAK_PACKAGES := patroni etcd-server python3-etcd pgbackrest
PACKAGE_TEST_PACKAGES := debootstrap systemd-container umoci runc lintian
ROOT := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

# Installs the packages of a list that are not there; asks no network where nothing is missing. Of servers among them none
# is started (policy-rc.d): tests start their own.
install = missing=$$(for p in $(1); do dpkg -s $$p >/dev/null 2>&1 || echo $$p; done); \
	if [ -n "$$missing" ]; then rule=/usr/sbin/policy-rc.d; \
	if [ ! -e $$rule ]; then trap "$(ROOT) rm -f $$rule" EXIT; \
	printf '\#!/bin/sh\nexit 101\n' | $(ROOT) tee $$rule >/dev/null; $(ROOT) chmod 755 $$rule; fi; \
	$(ROOT) apt-get update -q && \
	$(ROOT) env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $$missing; fi

run:
	@$(call install,$(BUILD_PACKAGES))
	swift build
	@bash .run.sh

samples:
	@$(call install,$(BUILD_PACKAGES))
	for product in countersign forum msgr reader; do swift build --product $$product || exit 1; done
	@bash .samples.sh

IN ?= python
PYTHON_python := .build/hello/python/bin/python

.build/hello/python/bin/python:
	@$(call install,$(HELLO_python))
	python3 -m venv .build/hello/python
	.build/hello/python/bin/pip install --quiet --disable-pip-version-check 'PyJWT[crypto]==2.15.1'

hello: $(PYTHON_$(IN))
	@$(call install,$(BUILD_PACKAGES) python3 openssl $(HELLO_$(IN)))
	swift build --product countersign
	@$(or $(PYTHON_$(IN)),python3) Sources/QuickStarts/hello.py $(IN) --policies Policies --build .build/hello/$(IN).made \
		--countersign "$$(swift build --show-bin-path)/countersign"

$(VENV)/.made: Tests/Interop/requirements.txt
	@$(call install,$(TEST_PACKAGES))
	rm -rf $(VENV)
	python3 -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check -r Tests/Interop/requirements.txt
	echo $(CURDIR)/Tests/Interop >$$(echo $(VENV)/lib/python3*/site-packages)/interop.pth
	touch $@

# .ci/stages.py lists the stages of the tests and the parts of the soak.
RUN_TESTS := python3 -B .ci/tests.py

build-tests: $(VENV)/.made
	@$(call install,$(BUILD_PACKAGES) $(TEST_PACKAGES))
	swift build --build-tests

test: build-tests
	@$(RUN_TESTS) test $(STAGES)

android-test:
	@$(call install,$(BUILD_PACKAGES) $(ANDROID_PACKAGES))
	swift build --product countersign
	.ci/android compile .build/android
	.ci/android kotlin .build/android
	.ci/android docs .build/android
	.ci/android test .build/android "$$(swift build --show-bin-path)/countersign" $(or $(HTTP),2) $(T)

one:
	@[ -n '$(T)' ] || { echo "Name the tests: make one T=BanTests" >&2; exit 2; }
	@$(MAKE) --no-print-directory build-tests
	@$(RUN_TESTS) one '$(T)'

soak: build-tests
	@$(call install,$(SOAK_PACKAGES))
	@$(RUN_TESTS) soak $(PART)

# What is packaged, and what is measured. Of a function's callers in other targets the compiler knows by the last flag.
# Exclusivity and overflow stay checked. Swift's runtime is linked in: Debian has no package of it to depend on.
RELEASE := -c release --static-swift-stdlib -Xswiftc -cross-module-optimization

bench: $(VENV)/.made
	@$(call install,$(BUILD_PACKAGES) postgresql nginx-light nodejs golang-cfssl)
	swift build $(RELEASE) --product countersign
	swift build $(RELEASE) --product Benchmarks
	COUNTERSIGN_PYTHON=$(VENV)/bin/python "$$(swift build -c release --show-bin-path)/Benchmarks" $(if $(PARTS),only $(PARTS))
	python3 Tests/Benchmarks/chart.py

sdk:
	@bash Sources/Packaging/sdk.sh .build/sdk countersign-client

PACKAGED = binary="$$(swift build -c release --show-bin-path)/countersign" && version="$$("$$binary" --version | cut -d' ' -f1)"
package:
	@$(call install,$(BUILD_PACKAGES) dpkg-dev binutils python3)
	swift build $(RELEASE) --product countersign
	@mkdir -p .build/package
	@$(PACKAGED) && bash Sources/Packaging/package.sh "$$binary" "$$version" .build/package

package-test: package $(VENV)/.made
	@$(call install,$(TEST_PACKAGES) $(PACKAGE_TEST_PACKAGES))
	@$(PACKAGED) && package=".build/package/countersign_$${version}_$$(dpkg --print-architecture).deb" && \
		lintian --fail-on error,warning "$$package" && \
		$(VENV)/bin/python Tests/Interop/Packaging/package.py --root . --countersign "$$binary" --package "$$package" && \
		$(ROOT) $(VENV)/bin/python Tests/Interop/Packaging/package_installed.py --root . --package "$$package" \
			--image .build/package/image

FUZZ_ROUNDS ?= 100
FUZZ_SEED ?= $(shell date +%s)
fuzz: build-tests
	swift build $(RELEASE) --product Benchmarks
	"$$(swift build -c release --show-bin-path)/Benchmarks" fuzz 10000000 $(FUZZ_SEED)
	COUNTERSIGN_FUZZ_ROUNDS=$(FUZZ_ROUNDS) COUNTERSIGN_FUZZ_SEED=$(FUZZ_SEED) $(RUN_TESTS) one RequestFuzzTests
	for run in 1 2 3 4 5 6 7 8 9 10; do \
		COUNTERSIGN_KILLS=100 COUNTERSIGN_SEED=$$((($(FUZZ_SEED) + run) % 1000000)) $(RUN_TESTS) one KillTests || exit 1; \
	done

# Root may give the service a name server of its own.
attacks: $(VENV)/.made
	@$(call install,$(BUILD_PACKAGES) postgresql)
	swift build $(RELEASE) --product countersign
	$(VENV)/bin/python Tests/Interop/Attacks/attacks.py --root . --countersign "$$(swift build -c release --show-bin-path)/countersign" $(ATTACKS)

embed:
	bash .ci/embed

sentences:
	@python3 -B .ci/sentences

english:
	@python3 -B .ci/english

build:
	swift build

format:
	swift format --in-place --recursive --parallel Package.swift Sources Tests

lint:
	swift format lint --strict --recursive --parallel Package.swift Sources Tests

docs:
	@$(call install,$(BUILD_PACKAGES))
	swift build
	bash .ci/docs
