#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# configure.sh PRESET: `cmake --preset PRESET`. If the preset names another compiler than before, CMake deletes
# its cache and forgets the preset's other settings, so it is called a second time.
set -eu
cd "$(dirname "$0")/.."
said=$(mktemp)
trap 'rm -f "$said"' EXIT
code=0
cmake --preset "$1" >"$said" 2>&1 || code=$?
if grep -q 'require your cache to be deleted' "$said"; then
	code=0
	cmake --preset "$1" >"$said" 2>&1 || code=$?
fi
cat "$said"
exit "$code"
