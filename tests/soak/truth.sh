#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# truth.sh BUILD_FOLDER SECONDS: shares, and what is user and what is system time, against programs that know them, each within four
# standard deviations of its own; again and again.
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
echo "$rounds rounds, $wrong with a share beside the truth"
[ $wrong -eq 0 ]
