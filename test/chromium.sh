#!/usr/bin/env bash
# Finds the Chromium that the browser tests drive; installs it where this user may, else says how in one line.
set -euo pipefail
for c in "${CHROMIUM:-}" chromium chromium-browser google-chrome; do
  [ -n "$c" ] && command -v "$c" >/dev/null && exit 0
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing chromium for the browser tests" >&2
  apt-get update -qq >&2 && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null && exit 0
fi
echo "the browser tests need Chromium: sudo apt-get install chromium (or set CHROMIUM to its path)" >&2
exit 1
