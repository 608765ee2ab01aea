# agentd. `make` alone lists the targets.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
GO_FILES := $(shell git ls-files -co --exclude-standard '*.go' 2>/dev/null)
WEB_FILES := $(shell git ls-files -co --exclude-standard web 2>/dev/null | grep -v '^web/dist/')
TOOL := go tool -modfile=tools/go.mod
LISTEN ?= 127.0.0.1:8080

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: build ## build page and binary, start the demo, print its address (LISTEN=127.0.0.1:8080)
	@exec bin/agentd demo --listen $(LISTEN)

.PHONY: run-superset
run-superset: build need-python ## start a real Apache Superset and agentd in front of it (first time about 3 minutes)
	@test/superset/run.sh $(LISTEN)

.PHONY: build
build: bin/agentd ## write bin/agentd, page included

bin/agentd: web/dist/index.html $(GO_FILES) go.mod go.sum | need-go
	@go build -ldflags "-s -w -X main.version=$(VERSION)" -o bin/agentd ./cmd/agentd

web/dist/index.html: web/node_modules/.package-lock.json $(WEB_FILES)
	@cd web && npm run --silent build
	@touch web/dist/index.html

web/node_modules/.package-lock.json: web/package-lock.json | need-node
	@cd web && npm ci --no-audit --no-fund --loglevel=error
	@touch web/node_modules/.package-lock.json

.PHONY: extension
extension: need-node ## write bin/agentd-launcher.supx, the assistant's button as an extension of Superset (docs/embedding.md)
	@cd web && npm run --silent supx

.PHONY: test
test: build need-chromium ## build, unit, conversation and contract tests on the mock, sizes of the page, the page in a real browser
	@go test -shuffle=on -count=1 ./...
	@cd web && npm run --silent size && npm test --silent
	@$(MAKE) --no-print-directory test-web

.PHONY: test-web
test-web: build need-chromium ## the page in a real headless Chromium, against the built binary
	@cd web && npm run --silent e2e

.PHONY: test-race
test-race: need-go ## the Go tests under the race detector
	@go test -race -shuffle=on -count=1 ./...

.PHONY: test-sql
test-sql: need-go ## the SQL guard beside the parsers of PostgreSQL and MySQL
	@cd internal/sqlguard/oracle && go test -count=1 ./...

.PHONY: test-s3
test-s3: need-go ## the store of artifacts on a real S3-compatible server, which it builds and starts (first time 1 to 3 minutes)
	@cd internal/artifact/s3server && go test -count=1 ./...

.PHONY: test-superset
test-superset: build need-python ## the operations and the contract against real Apache Superset instances
	@test/superset/test.sh

.PHONY: test-embed
test-embed: build need-python need-chromium ## the assistant on the pages of a real Superset, in a real browser
	@cd web && AGENTD_TEST_SUPERSET_EMBED=$(CURDIR)/test/superset/superset.sh npm run --silent e2e -- e2e/superset.test.ts

.PHONY: test-model
test-model: build ## one conversation with a real model: AGENTD_TEST_MODEL_URL=http://…/v1, any OpenAI-compatible server
	@test -n "$${AGENTD_TEST_MODEL_URL:-}" || { echo "set AGENTD_TEST_MODEL_URL to an OpenAI-compatible server, for example http://127.0.0.1:11434/v1" >&2; exit 2; }
	@go test -count=1 -v -run 'RealModel' ./internal/llm ./cmd/agentd

.PHONY: check
check: need-go need-node web/dist/index.html ## the fast gate: format, vet, staticcheck, golangci-lint, architecture, unit tests, web lint and types
	@test -z "$$(gofmt -l $(GO_FILES))" || { echo "not formatted by gofmt:"; gofmt -l $(GO_FILES); exit 1; }
	@go vet ./...
	@$(TOOL) staticcheck ./...
	@$(TOOL) golangci-lint run ./...
	@go test -short -shuffle=on -count=1 ./...
	@cd web && npm run --silent check && npm run --silent size && npm test --silent

.PHONY: bench
bench: need-go ## the benchmarks with their ratios
	@go test -run '^$$' -bench 'Ratio|90MB|AgainstCasbin|Idle|Write|FarBehind|Substitution|Bundle' ./...

.PHONY: fmt
fmt: need-go need-node web/node_modules/.package-lock.json ## format everything
	@gofmt -w $(GO_FILES)
	@cd web && npm run --silent format

.PHONY: clean
clean: ## remove what was built
	@rm -rf bin web/node_modules
	@find web/dist -mindepth 1 ! -name .gitkeep -delete

# What a fresh machine may lack: one line each that says what to install.
.PHONY: need-go need-node need-chromium need-python
need-go:
	@command -v go >/dev/null || { echo "agentd needs Go 1.26 or newer: https://go.dev/dl" >&2; exit 1; }
need-node:
	@command -v npm >/dev/null || { echo "agentd needs Node.js 20 or newer with npm: https://nodejs.org" >&2; exit 1; }
need-chromium:
	@test/chromium.sh
need-python:
	@command -v python3 >/dev/null || { echo "a real Superset needs Python 3.10 to 3.12: apt-get install python3 python3-venv" >&2; exit 1; }
