#!/usr/bin/env bash
# Plays the contract and the operations against real instances, fresh ones of its own.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
cd "$here/../.."
up() { # NAME PROFILE: a freshly reset instance; prints its address
  "$here/superset.sh" up "$1" --profile "$2" >/dev/null
  "$here/superset.sh" reset "$1" >/dev/null
  "$here/superset.sh" url "$1"
}
AGENTD_TEST_SUPERSET_DEV=$(up agentd-dev dev)
AGENTD_TEST_SUPERSET_STAGING=$(up agentd-staging staging)
AGENTD_TEST_SUPERSET_PROD=$(up agentd-prod prod)
AGENTD_TEST_SUPERSET_SCRIPT=$here/superset.sh
export AGENTD_TEST_SUPERSET_DEV AGENTD_TEST_SUPERSET_STAGING AGENTD_TEST_SUPERSET_PROD AGENTD_TEST_SUPERSET_SCRIPT
trap '"$here/superset.sh" down agentd-dev >/dev/null 2>&1 || true; "$here/superset.sh" down agentd-staging >/dev/null 2>&1 || true; "$here/superset.sh" down agentd-prod >/dev/null 2>&1 || true' EXIT
# One package after the other: they share the instances.
go test -count=1 -p 1 -timeout 20m ./internal/superset ./internal/supersettools ./internal/mocksuperset/... ./cmd/agentd
