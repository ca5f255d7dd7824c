#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh TEST.mjs [ARGUMENT...]: a browser test, or exit code 77 with the reason when its tools are not there.
set -eu
here=$(dirname "$0")
for program in node chromium; do
	command -v "$program" >/dev/null || { echo "skipped: there is no $program"; exit 77; }
done
[ -d "$here/node_modules/playwright-core" ] || { echo "skipped: run 'npm ci' in tests/web first"; exit 77; }
exec node "$@"
