#!/usr/bin/env bash
# Plays the contract and the operations against real instances of its own, each time from the seeded state.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
cd "$here/../.."
superset() { "$here/superset.sh" "$@"; }
names="agentd-dev agentd-staging agentd-prod"
finish() { for n in $names; do superset down "$n" >/dev/null 2>&1 || true; done; }
trap finish EXIT

export AGENTD_SUPERSET_CONFIG=${AGENTD_SUPERSET_CONFIG:-$here/whole.py}
for n in $names; do superset up "$n" --profile "${n#agentd-}" >/dev/null; done
fresh() { for n in $names; do superset reset "$n" >/dev/null & done; wait; }
SUPERSET_DEV_URL=$(superset url agentd-dev)
SUPERSET_STAGING_URL=$(superset url agentd-staging)
SUPERSET_PROD_URL=$(superset url agentd-prod)

play() { # PACKAGES…: one after the other, since they share the instances
  fresh
  go test -count=1 -p 1 -timeout 20m "$@"
}
echo "the contract, on the real instances"
export SUPERSET_DEV_URL SUPERSET_STAGING_URL SUPERSET_PROD_URL
play -run Contract ./internal/mocksuperset/...
unset SUPERSET_DEV_URL SUPERSET_STAGING_URL SUPERSET_PROD_URL

echo "the client, the operations and the whole, on the real instances"
export AGENTD_TEST_SUPERSET_SCRIPT=$here/superset.sh
AGENTD_TEST_SUPERSET_DEV=$(superset url agentd-dev) AGENTD_TEST_SUPERSET_PROD=$(superset url agentd-prod) AGENTD_TEST_SUPERSET_PROD_NAME=agentd-prod
export AGENTD_TEST_SUPERSET_DEV AGENTD_TEST_SUPERSET_PROD AGENTD_TEST_SUPERSET_PROD_NAME
play ./internal/superset
play ./internal/supersettools
play -run 'RealSuperset' ./cmd/agentd
