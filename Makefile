# Everything here needs Go, make and a POSIX shell, and nothing else: the tools
# are pinned in go.mod. Where there is a C compiler, `check` uses it for the race
# detector.
GO       ?= go
FUZZTIME ?= 10s
BENCH    ?= .
BENCHSIZE ?= 1GiB
REPETITIONS ?= 500

# Packages below testdata are not part of ./... and have to be named: the programs there.
PROGRAMS = $(sort $(patsubst %/,%,$(dir $(wildcard ./testdata/*/*.go ./trace/formats/testdata/*/*.go))))
PACKAGES = ./... $(addsuffix /...,$(PROGRAMS))

# What the race detector runs: packages whose own tests start goroutines, without
# those that -short leaves out because they start none, and the stories of input,
# of which input_workers takes every command with several workers through its
# stages. Of the second that a program waits for late reports it needs little.
CONCURRENT = ./internal/par ./internal/golden ./internal/corpus ./predict ./trace ./gateway ./gateway/compiled
CONCURRENT_STORIES = TestScript/input_
RACE = RAPID_SEED=1 AWO_UPDATE= GORACE=atexit_sleep_ms=50 $(FEWER_COLLECTIONS) $(GO) test -vet=off -race -short

# What compiles and analyses is done soon: with more garbage lying about vet takes a
# sixth less processor time on an empty cache, and staticcheck half, for 2 GB at most.
FEWER_COLLECTIONS = GOGC=400

# Packages with something that an update writes: such a test names one of these.
UPDATED = $(sort $(dir $(shell find . -name '*_test.go' -exec grep -lE 'internal/golden"|AWO_UPDATE' {} +)))

# Systems that awo is released for, besides the one that it is built on.
SYSTEMS = linux/amd64 linux/arm64 darwin/arm64 windows/amd64

.NOTPARALLEL:
.PHONY: beam-check release-check serve-check soak oauth-check prefetch-check serve-goals build manual image demo check test same size figures loop experiment faults coverage planted hostile page bench bench-compare backtest worth replay fuzz properties update
.PHONY: check-format check-modules check-vet check-systems check-static check-tests check-race

## build: the program, as bin/awo
build:
	$(GO) build -trimpath -o bin/awo .

## manual: man pages and completion scripts, below bin/share
manual:
	SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)} $(GO) run ./internal/manual -out bin/share

## image: the program in a container image named awo, static and without rights
image:
	docker build -t awo .

## demo: what awo makes of the trajectories in testdata/office
demo: build
	./bin/awo testdata/office/trajectories.jsonl.gz
	./bin/awo extract testdata/office/trajectories.jsonl.gz --rules testdata/office/rules.yaml --out bin/demo
	./bin/awo verify bin/demo testdata/office/trajectories.jsonl.gz --rules testdata/office/rules.yaml

## check: everything that must hold before a change goes in
check: check-format check-modules check-vet check-systems check-static check-tests check-race
	@echo "check: all passed"

# Servers and tests of others, from npm: they need Node 22, which is a package too.
NODE_PACKAGES = node@22 @modelcontextprotocol/server-everything@2026.8.31 @modelcontextprotocol/server-filesystem@2026.8.31 \
	@modelcontextprotocol/server-memory@2026.8.31 @modelcontextprotocol/conformance@0.1.16 \
	conformance-next@npm:@modelcontextprotocol/conformance@0.2.0-alpha.12 \
	@modelcontextprotocol/inspector@2.12.0 mcporter@0.9.0 @apify/mcpc@0.2.6

## serve-check: `awo serve` with servers and clients of others around it, the protocol's own tests, and a minute of soak
serve-check:
	@if ! command -v npm >/dev/null; then echo "serve-check: there is no npm"; exit 1; fi; \
	mkdir -p bin/node && cd bin/node && { [ -f package.json ] || echo '{"private": true}' >package.json; } && \
	npm install --no-audit --no-fund --loglevel=error $(NODE_PACKAGES) && \
	{ node_modules/node/bin/node --version >/dev/null 2>&1 || (cd node_modules/node && node installArchSpecificPackage.js) || true; } && \
	case "$$(node_modules/node/bin/node --version 2>/dev/null)" in v22.*) ;; *) echo "serve-check: Node 22 could not be had from npm"; exit 1;; esac && \
	cd ../.. && AWO_NODE_MODULES="$$PWD/bin/node/node_modules" $(GO) test -count=1 -timeout 30m -v -run 'TestNodeServers|TestClients|TestConformance|TestLoop' ./gateway
	@$(MAKE) soak SOAK=60s

## soak: 100 calls a second through gateways while servers, clients and gateways are killed, for SOAK: one right answer each, and no growing memory; result in bin/soak.json
SOAK ?= 10m
soak: build
	$(GO) run ./testdata/soak -awo bin/awo -for $(SOAK) -o bin/soak.json

## oauth-check: logins at an authorization server that others have made, in a module of its own
oauth-check:
	cd gateway/testdata/oauth && $(GO) mod tidy -diff && $(GO) vet . && $(GO) test -count=1 .

## release-check: the npm package of a release, made for this system, served and installed on localhost; it wants npm
release-check:
	$(GO) run ./testdata/release -check

## prefetch-check: prefetching in agents of other frameworks, with their packages from npm and a script as the model
FRAMEWORKS = typescript@7.0.2 @types/node@22.20.5 zod@4.6.7 @openai/agents@0.20.0 @langchain/langgraph@1.7.3 @langchain/core@1.4.0 ai@7.0.173 \
	@modelcontextprotocol/client@2.4.0 @modelcontextprotocol/server@2.4.0
prefetch-check: build
	@mkdir -p bin/prefetch && cp docs/examples/prefetch/* bin/prefetch && cd bin/prefetch && echo '{"private": true, "type": "module"}' >package.json && \
	npm install --no-audit --no-fund --loglevel=error $(FRAMEWORKS) && \
	node traces.mjs >traces.jsonl && ../awo extract traces.jsonl --out tools >/dev/null && cp tools/prefetch.ts . && node_modules/.bin/tsc -p . && \
	for example in openai-agents langgraph vercel-ai; do node out/$$example.js || exit 1; done && \
	echo '{"mcpServers": {"shop": {"command": "node", "args": ["out/shop-server.js"]}}}' >.mcp.json && \
	echo '{"hook_event_name": "UserPromptSubmit", "prompt": "Where is my order #W4812345?"}' | node out/claude-code-hook.js >said && cat said && grep -q '"status":"sent"' said

## serve-goals: what `awo serve` costs against a direct connection, in one run
serve-goals: build
	$(GO) run ./testdata/latency -awo bin/awo

## beam-check: the pipeline of beam/, a module of its own: its files, its tests on Prism, and the program as bin/awo-beam. Building Beam takes minutes the first time
beam-check:
	@echo "== beam: modules, vet, tests, program"
	@cd beam && $(GO) mod tidy -diff && $(GO) vet ./... && $(GO) test ./... && $(GO) build -trimpath -o ../bin/awo-beam .

check-format:
	@echo "== format (gofumpt)"
	@files=$$($(GO) tool gofumpt -l . $(PROGRAMS)) || exit 1; \
	if [ -n "$$files" ]; then echo "not formatted; run '$(GO) tool gofumpt -w .':"; echo "$$files"; exit 1; fi

check-modules:
	@echo "== modules (go mod tidy)"
	@$(GO) mod tidy -diff
	@$(GO) mod verify

check-vet:
	@echo "== vet"
	@$(FEWER_COLLECTIONS) $(GO) vet $(PACKAGES)

# Nothing of the other systems runs here, so nothing is compiled for them: types and
# vet are checked from source, in a process each, which bounds the memory.
check-systems:
	@for system in $(filter-out $(shell $(GO) env GOOS)/$(shell $(GO) env GOARCH),$(SYSTEMS)); do \
		$(GO) run ./testdata/systems $$system -- ./... || exit 1; \
	done

check-static:
	@echo "== staticcheck"
	@$(FEWER_COLLECTIONS) $(GO) tool staticcheck $(PACKAGES)

# The tests run once, and update golden files: what they would have refused is a
# difference then. Contents are compared before and after, so that uncommitted
# changes do not matter. What vet says has been said before. Properties are tried on
# the same cases each time, so that the answer is the same on every machine.
GOLDEN_FILES = find . \( -name .git -o -path ./bin \) -prune -o -type f -exec cksum {} + | sort -k 3
check-tests:
	@echo "== tests, and golden files are what an update makes of them"
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
	$(GOLDEN_FILES) >"$$folder/before" && \
	AWO_UPDATE=1 RAPID_SEED=1 $(GO) test -vet=off -timeout 20m $(PACKAGES) && \
	$(GOLDEN_FILES) >"$$folder/after" && \
	if ! diff "$$folder/before" "$$folder/after"; then echo "an update changes these files; look at the difference and keep it, or mend the code"; exit 1; fi

# The race detector is a C library. A machine without a C compiler skips it, in
# so many words; continuous integration has one.
check-race:
	@echo "== tests with the race detector"
	@if [ "$$($(GO) env CGO_ENABLED)" = 1 ] && command -v "$$($(GO) env CC)" >/dev/null; then \
		$(RACE) $(CONCURRENT) && $(RACE) -run '$(CONCURRENT_STORIES)' ./cmd; \
	else \
		echo "skipped: there is no C compiler"; \
	fi

## test: the tests alone
test:
	$(GO) test $(PACKAGES)

## same: do this checkout and BASE give the same bytes? Compares every command of both, on the office and the recorded traces below DATA
BASE   ?= HEAD
SAME   ?=
same:
	@folder=$$(mktemp -d) && trap 'git worktree remove --force "$$folder/base" 2>/dev/null; rm -rf "$$folder"' EXIT && \
	git worktree add --quiet --detach "$$folder/base" $(BASE) && \
	$(GO) build -C "$$folder/base" -trimpath -o "$$folder/old" . && \
	$(GO) build -trimpath -o "$$folder/new" . && \
	$(GO) run ./testdata/same $(if $(wildcard $(DATA)),-traces $(DATA)) $(SAME) "$$folder/old" "$$folder/new"

## size: lines of code by folder, next to what each may have
size:
	@$(GO) run ./testdata/size

## figures: is every number that commands print as JSON the one that was frozen, or is there a reason for the difference? On the office and the recorded traces below TRACES_DIR
TRACES_DIR ?= traces
figures: build
	$(GO) run ./testdata/figures -traces $(TRACES_DIR) bin/awo

## loop: 200 sessions of simulated agents, extract for fewest turns, 200 more with half of them served, compare; LOOP='-adopt 0.3' for other agents
loop: build
	@rm -rf bin/loop && mkdir -p bin/loop && $(GO) build -o bin/loop/agent ./testdata/agent
	bin/loop/agent -awo bin/awo -n 200 -record bin/loop/before
	./bin/awo extract bin/loop/before --objective turns --out bin/loop/tools --quiet >bin/loop/extract.txt
	./bin/awo backtest bin/loop/before --techniques patterns,prefetch --quiet --format json >bin/loop/backtest.json
	bin/loop/agent -awo bin/awo -first 200 -n 200 -record bin/loop/after -tools bin/loop/tools -control 0.5 $(LOOP)
	./bin/awo compare bin/loop/after --tools bin/loop/tools --estimate bin/loop/backtest.json --look --quiet

## experiment: what a live model saves: MODEL=URL of an OpenAI-compatible interface and NAME, its key in AWO_MODEL_KEY; the office in three arms, report in bin/experiment
experiment: build
	@test -n "$(MODEL)" || { echo "experiment: MODEL=http://localhost:8000/v1 NAME=qwen3 says which model"; exit 2; }
	@rm -rf bin/experiment && mkdir -p bin/experiment && $(GO) build -o bin/experiment/agent ./testdata/agent
	./bin/awo extract testdata/office/trajectories.jsonl.gz --rules testdata/office/rules.yaml --objective turns --out bin/experiment/compiled --quiet >bin/experiment/extract.txt
	./bin/awo backtest testdata/office/trajectories.jsonl.gz --rules testdata/office/rules.yaml --techniques patterns,prefetch --quiet --format json >bin/experiment/backtest.json
	bin/experiment/agent experiment -model "$(MODEL)" -name "$(NAME)" -awo bin/awo -tools bin/experiment/compiled -estimate bin/experiment/backtest.json -out bin/experiment $(EXPERIMENT)

## faults: kill awo 200 times, fill its disk, read 10,000 damaged snapshots in Go, Python and TypeScript: old or new is there, and nothing torn
faults: build
	$(GO) run ./testdata/faults -awo bin/awo

## coverage: how often the intervals of the recommendation hold what is realised, in simulated worlds; on recorded sets, how steady it is, and what it saves on tasks that it did not see: an hour
coverage:
	$(GO) test ./backtest -run 'TestCoverage|TestSteady|TestNested' -v -timeout 0 -repetitions $(REPETITIONS)

## planted: faults that are put into the code one at a time; which of them does no test of the package notice? PLANTED='-match money' for some
planted:
	$(GO) run ./testdata/planted $(PLANTED)

## hostile: how work grows with inputs that are made to be slow; HOSTILE='-match keys/ -part 4' for some
hostile: build
	$(GO) run ./testdata/hostile -awo bin/awo $(HOSTILE)

## page: reports in a browser: whether their parts work, faults of accessibility, times and sizes, screenshots and prints below bin/page; needs Node and Chromium, and skips nothing
PAGERUNS = 10000
page: build
	@npm install --silent --no-fund --no-audit --prefix bin/page playwright-core@1.65.1 axe-core@4.14.1
	@node testdata/page/sets.mjs bin/page
	@$(GO) run ./testdata/gen -n $(PAGERUNS) -o bin/page/large.jsonl
	./bin/awo report testdata/office/trajectories.jsonl.gz --rules testdata/office/rules.yaml --out bin/page/office.html --quiet >bin/page/office.txt
	@for set in no-prices no-times single hostile large; do \
		./bin/awo report bin/page/$$set.jsonl --out bin/page/$$set.html --quiet >bin/page/$$set.txt || exit 1; \
	done
	@node testdata/page/check.mjs bin/page $(patsubst %,bin/page/%.html,office no-prices no-times single hostile large)

## bench: all benchmarks, or those that BENCH matches; then awo beside jq, DuckDB and Python on BENCHSIZE
bench:
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem $(PACKAGES)
	$(GO) run ./testdata/bench -size $(BENCHSIZE) -runs 3 -install

## bench-compare: benchmarks of BASE and of this checkout in turns, COUNT times, and benchstat's comparison; fails where one became SLOWER percent slower and chance (5 %) does not explain it; BENCH=Collect BENCHPKG=./internal/dataflow for some
COUNT     ?= 6
BENCHPKG  ?= ./...
BENCHTIME ?= 1s
SLOWER    ?= 10
bench-compare:
	@folder=$$(mktemp -d) && trap 'git worktree remove --force "$$folder/base" 2>/dev/null; rm -rf "$$folder"' EXIT && \
	git worktree add --quiet --detach "$$folder/base" $(BASE) && \
	for i in $$(seq $(COUNT)); do \
		$(GO) test -C "$$folder/base" -run '^$$' -bench '$(BENCH)' -benchtime $(BENCHTIME) -benchmem $(BENCHPKG) >>"$$folder/base.txt" && \
		$(GO) test -run '^$$' -bench '$(BENCH)' -benchtime $(BENCHTIME) -benchmem $(BENCHPKG) >>"$$folder/here.txt" || exit 1; \
	done && \
	$(GO) tool benchstat "$$folder/base.txt" "$$folder/here.txt" && \
	$(GO) tool benchstat -format csv "$$folder/base.txt" "$$folder/here.txt" 2>/dev/null | awk -F, -v limit=$(SLOWER) ' \
		/^,[^,]*\/(op|s),/ { times = $$2 == "sec/op" } \
		times && NF > 5 && !/^geomean/ && $$(NF - 1) ~ /^\+/ && $$(NF - 1) + 0 >= limit { print "slower: " $$0; slow = 1 } \
		END { exit slow }'

## replay: what inertia is worth, on recorded traces below DATA and in the office world
DATA ?= traces
replay: build
	./bin/awo replay $(DATA)/taubench/gpt-4o-airline.json
	./bin/awo replay $(DATA)/tau2/retail_*.json
	./bin/awo replay testdata/office/trajectories.jsonl.gz --rules testdata/office/rules.yaml

## worth: the tables of docs/benchmarks.md on always-used savings, prefetch and the verdict: the office world, and each of TRACES
worth: build
	@$(GO) run ./testdata/worth $(TRACES)

## backtest: what would be saved on tasks that were not compiled from: the office world, and each of TRACES
TRACES ?=
backtest: build
	./bin/awo backtest testdata/office/trajectories.jsonl.gz --rules testdata/office/rules.yaml --format markdown
	@for file in $(TRACES); do \
		echo; echo "# $$(basename $$file)"; echo; \
		./bin/awo backtest "$$file" --format markdown || exit 1; \
	done

## fuzz: every fuzz target for FUZZTIME
fuzz:
	@for package in $$($(GO) list $(PACKAGES)); do \
		for target in $$($(GO) test -list '^Fuzz' $$package | grep '^Fuzz'); do \
			echo "== $$package $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1s $$package || exit 1; \
		done; \
	done

## properties: the property tests on CASES others each time
CASES ?= 1000
properties:
	RAPID_CHECKS=$(CASES) $(GO) test -count=1 $(sort $(dir $(shell grep -rl --include='*_test.go' pgregory.net/rapid .)))

## update: rewrite golden files and the output shown in the documentation
update:
	AWO_UPDATE=1 $(GO) test $(UPDATED)
