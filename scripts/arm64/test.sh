#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test.sh CTEST_ARGUMENT...: runs tests of build/arm64 under the emulator.
set -eu
cd "$(dirname "$0")/../.."
export QEMU_LD_PREFIX="$PWD/build/arm64-root/root"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
code=0
sh scripts/arm64/emulated.sh ctest --test-dir build/arm64 "$@" >"$log" 2>&1 || code=$?
[ "$code" -eq 0 ] || cat "$log"
awk '/tests passed/ { print $NF - $4 " of " $NF " tests passed on arm64" }' "$log"
exit "$code"
