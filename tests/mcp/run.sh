#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh TEST.mjs [ARGUMENT...]: a test with the protocol's own tools, or exit code 77 with the reason when they are not there.
set -eu
here=$(dirname "$0")
command -v node >/dev/null || { echo "skipped: there is no node"; exit 77; }
[ -d "$here/node_modules/@modelcontextprotocol/sdk" ] || { echo "skipped: run 'npm ci' in tests/mcp first"; exit 77; }
exec node "$@"
