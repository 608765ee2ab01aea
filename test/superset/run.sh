#!/usr/bin/env bash
# Starts a real Apache Superset with the seeded content and agentd in front of it.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
listen=${1:-127.0.0.1:8080}
url=$("$here/superset.sh" up dev | tail -n 1)
url=${url#*=}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/agentd.yaml" <<YAML
listen: $listen
data_dir: ${AGENTD_DATA_DIR:-./data/superset}
environments:
  - id: ss-dev
    title: Development (real)
    class: dev
    base_url: $url
    auth: {mode: service, username: admin, password_env: SUPERSET_PASSWORD}
YAML
echo "Superset: $url (log in as admin, password admin)"
SUPERSET_PASSWORD=admin "$here/../../bin/agentd" serve --config "$work/agentd.yaml"
