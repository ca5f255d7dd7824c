#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# truth.sh BUILD_FOLDER SECONDS: repeatedly compares shares, and the split into user and system time, with the
# programs' own measurements. Each figure must be within four of its own standard deviations, plus a small allowance.
set -u
build=$1
end=$(($(date +%s) + $2))
rounds=0
wrong=0
log=$(mktemp)
while :; do
	for suffix in "" _i386; do
		program=$build/tests/integration/collector/test_integration_collector_truth$suffix
		[ -x "$program" ] || continue
		FASTGATE_MEASURE_TRUTH=1 "$program" >"$log" 2>&1 || {
			wrong=$((wrong + 1))
			grep -e 'FAILED' -e 'in truth' "$log"
		}
	done
	rounds=$((rounds + 1))
	[ "$(date +%s)" -lt "$end" ] || break
done
rm -f "$log"
echo "$rounds rounds, $wrong with a wrong share"
[ $wrong -eq 0 ]
