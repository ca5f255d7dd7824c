#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh TEST.mjs [ARGUMENT...]: runs a test with the protocol's own tools, or exits with 77 and the reason if they
# are missing.
set -eu
here=$(dirname "$0")
command -v node >/dev/null || { echo "skipped: node is not installed"; exit 77; }
[ -d "$here/node_modules/@modelcontextprotocol/sdk" ] || { echo "skipped: run 'npm ci' in tests/mcp first"; exit 77; }
exec node "$@"
