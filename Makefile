# A thin face for Meson: what is built, and how, stands in meson.build.
#
#   make                the release build: build/kubenexus
#   make demo           a day of a GPU cluster under our profile and kube-scheduler's plugins, in
#                       virtual time: a table, and a page to look at
#   make static         the same without shared libraries, for an image: build-static/kubenexus
#   make test           everything that must hold; ONLY=text runs the tests whose names contain it
#   make property       a million random operations (OPERATIONS) under 5 seeds (SEED and after), and
#                       100,000 histories (HISTORIES) each of gangs, of their members, and of who
#                       waits for what
#   make bench          speed and memory, recorded with the commit in bench/results/
#   make bench-live     the same on a real API server, beside kube-scheduler; NODES, PODS and
#                       SHAPES=basic,gpu,spread (also sync,heartbeat,waves); WHO=contestants
#   make trials         what tenants may say on a real API server, beside kube-scheduler: who else waits,
#                       and what it costs (docs/results/bounds.md); RUN='--only gates' for a part of it
#   make longest-steps  the longest step of the engine over all that moves one without an API server
#   make fgd            the FGD experiment: GPU policies beside published results; TRACES=folder
#                       with other openb files, RUN='default --policy FGD' for a part of it
#   make philly         the Philly trace under fifo, backfill, shortest first, beside a reference;
#                       GPUS=640, TRACES=folder with another philly_jobs.csv
#   make week           a week of 512 GPUs under our profile and kube-scheduler's plugins; docs/results/week.md
#   make differential   explain against kube-scheduler's own code; SEEDS=1-500, THEMES=spread,ports
#   make differential-live   the same pods on two real control planes, kube-scheduler on one; SEEDS, THEMES
#   make neighbours     gangs whose pods real controllers make; those are built first, once: minutes
#   make e2e-suite      Kubernetes' own scheduling specs, with kube-scheduler and with us; FOCUS=text
#   make fuzz           each fuzzer for SECONDS (30), new inputs into its corpus
#   make fmt, make promises, make clean
#
# B is the first part of the build folders' names, so that two people can build in one checkout.

B ?= build
JOBS ?= $(shell nproc)
ONLY ?=
SECONDS ?= 30
SEEDS ?= 1-100
THEMES ?=
NODES ?= 1000
PODS ?= 5000
SHAPES ?= basic,gpu,spread
FOCUS ?=
OPERATIONS ?= 1000000
SEED ?= 1
HISTORIES ?= 100000
TRACES ?=
GPUS ?= 640
RUN ?=

RELEASE = -Doptimization=2 -Db_lto=true -Dhardened=true
TEST = -Doptimization=1 -Ddebug=true -Db_sanitize=address,undefined -Dtests=true -Dplugins=examples/green_power.c
CLANG = -Doptimization=2 -Dtests=true -Dcost=true
PLAIN = -Doptimization=2
STATIC = $(RELEASE) -Dstatic=true
PROPERTY = -Doptimization=2 -Dtests=true
FUZZ = -Doptimization=1 -Ddebug=true -Db_sanitize=address,undefined -Db_lundef=false -Dfuzzers=true

# $(call build,folder,options,compiler,targets): configure once, quietly, then build.
build = test -f $1/build.ninja || CC=$3 meson setup $1 $2 >$1.log 2>&1 || { cat $1.log; exit 1; }; \
	rm -f $1.log; ninja -C $1 --quiet -j $(JOBS) $4

.PHONY: all static demo test property bench bench-live trials longest-steps kueue-baseline fgd philly week differential differential-live neighbours e2e-suite fuzz fmt promises clean

all:
	@$(call build,$(B),$(RELEASE),gcc)

static:
	@$(call build,$(B)-static,$(STATIC),gcc)

demo:
	@tools/setup
	@$(MAKE) --no-print-directory all
	@$(B)/kubenexus simulate --compare kubenexus-scheduler default-scheduler --report $(B)/demo.html
	@echo "The report is $(CURDIR)/$(B)/demo.html: open it in a browser."

test:
	@tools/setup test
	@$(call build,$(B),$(RELEASE),gcc)
	@$(call build,$(B)-test,$(TEST),gcc)
	@$(call build,$(B)-clang,$(CLANG),clang)
	@$(call build,$(B)-plain,$(PLAIN),gcc,libkubenexus.a libkubenexus-kube.a libkubenexus-sim.a)
	@$(call build,$(B)-static,$(STATIC),gcc)
	@test -n "$(ONLY)" || tests/cluster/build >/dev/null || test $$? = 77
	@tools/run-tests --build $(B) $(ONLY)

property:
	@tools/setup test
	@$(call build,$(B)-property,$(PROPERTY),gcc,property)
	@$(B)-property/tests/property/property-steady
	@PROPERTY_SEED=$(SEED) PROPERTY_SEEDS=5 PROPERTY_OPERATIONS=$$(($(OPERATIONS) / 20)) \
		$(B)-property/tests/property/property-txn
	@PROPERTY_SEED=$(SEED) PROPERTY_SEEDS=5 PROPERTY_OPERATIONS=$$(($(OPERATIONS) / 5)) \
		$(B)-property/tests/property/property-views
	@PROPERTY_SEED=$(SEED) PROPERTY_SEEDS=$(HISTORIES) PROPERTY_OPERATIONS=50 \
		$(B)-property/tests/property/property-gangs
	@PROPERTY_SEED=$(SEED) PROPERTY_SEEDS=$(HISTORIES) PROPERTY_OPERATIONS=60 \
		$(B)-property/tests/property/property-waking
	@PROPERTY_SEED=$(SEED) PROPERTY_SEEDS=$(HISTORIES) $(B)-property/tests/property/property-members

bench: all
	@tools/record-bench $(B)/kubenexus

bench-live:
	@tools/setup test
	@$(call build,$(B),$(RELEASE),gcc)
	@ninja -C $(B) --quiet -j $(JOBS) bench/bench-client
	@bench/live --build $(B) --nodes $(NODES) --pods $(PODS) --shapes $(SHAPES) --who "$(WHO)"

kueue-baseline: all
	@bench/kueue/baseline --build $(B)
	@bench/kueue/baseline --build $(B) --scale large

trials: static
	@tools/setup test
	@KUBENEXUS_BUILD=$(B) bench/trials $(RUN)

longest-steps:
	@tools/setup test
	@$(call build,$(B)-clang,$(CLANG),clang)
	@bench/longest-steps --build $(B)-clang

fgd:
	@tools/setup
	@$(MAKE) --no-print-directory all
	@test -n "$(TRACES)" || { mkdir -p $(B)/traces && tar -xJf traces/openb.tar.xz -C $(B)/traces; }
	@$(B)/kubenexus fgd --traces $(or $(TRACES),$(B)/traces) $(RUN)

philly:
	@tools/setup
	@$(MAKE) --no-print-directory all
	@test -n "$(TRACES)" || { mkdir -p $(B)/traces && xz -dc traces/philly_jobs.csv.xz >$(B)/traces/philly_jobs.csv; }
	@bench/philly --kubenexus $(B)/kubenexus --jobs $(or $(TRACES),$(B)/traces)/philly_jobs.csv --gpus $(GPUS)

week:
	@tools/setup
	@$(MAKE) --no-print-directory all
	@bench/week --kubenexus $(B)/kubenexus

differential: all
	@tests/differential/compare.py --kubenexus $(B)/kubenexus --seeds $(SEEDS) \
		$(if $(THEMES),--themes $(THEMES))

differential-live: all
	@KUBENEXUS_BUILD=$(B) tests/live/differential.py --seeds $(SEEDS) $(if $(THEMES),--themes $(THEMES))

neighbours: all
	@tests/neighbours/build >/dev/null
	@KUBENEXUS_BUILD=$(B) tests/neighbours/run

e2e-suite: all
	@KUBENEXUS_BUILD=$(B) tests/suite/suite.py $(if $(FOCUS),--focus "$(FOCUS)")

fuzz:
	@tools/setup test
	@$(call build,$(B)-fuzz,$(FUZZ),clang)
	@tools/run-fuzzers $(B)-fuzz $(SECONDS)

fmt:
	@find src tests bench -name '*.[ch]' -exec clang-format -i {} +

promises:
	@tools/promises $(B)/test-results.txt

clean:
	rm -rf $(B) $(B)-static $(B)-test $(B)-clang $(B)-plain $(B)-property $(B)-fuzz
