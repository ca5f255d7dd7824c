#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh TEST.mjs [ARGUMENT...]: runs a browser test, or exits with 77 and the reason if its tools are missing.
set -eu
here=$(dirname "$0")
command -v node >/dev/null || { echo "skipped: node is not installed"; exit 77; }
command -v chromium >/dev/null || command -v chromium-headless-shell >/dev/null || { echo "skipped: chromium is not installed"; exit 77; }
[ -d "$here/node_modules/playwright-core" ] || { echo "skipped: run 'npm ci' in tests/web first"; exit 77; }
exec node "$@"
