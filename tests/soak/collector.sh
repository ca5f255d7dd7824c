#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Storms under the collector at 10 kHz for a while, and kills at random times: collector.sh BUILD_FOLDER SECONDS.
# No hang, no EINTR, no lost child, and every trace readable.
set -eu
build=$1 seconds=$2
targets=$build/tests/targets
scratch=$(mktemp -d "${TMPDIR:-/tmp}/fastgate-soak-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
library=$(find "$build/lib" "$build/lib64" -name libfastgate_collector.so 2>/dev/null | head -n 1)
[ -n "$library" ] || { echo "the collector is not built in $build"; exit 2; }
end=$(($(date +%s) + seconds))
rounds=0 kills=0

under() { # seconds allowed, command...
	limit=$1
	shift
	rm -rf "$scratch/out"
	mkdir "$scratch/out"
	LD_PRELOAD=$library FASTGATE_COLLECTOR_OUTPUT=$scratch/out FASTGATE_COLLECTOR_RATE=10000 \
		timeout -s KILL "$limit" "$@" >"$scratch/said" || {
		echo "failed with $?: $*"
		cat "$scratch/said"
		exit 1
	}
}

readable() {
	for trace in "$scratch"/out/*.fgtrace; do
		[ -e "$trace" ] || continue
		"$build/cli/fastgate" export --format folded "$scratch/out" >/dev/null 2>&1 || { echo "not readable: $trace"; exit 1; }
		break
	done
}

while [ "$(date +%s)" -lt "$end" ]; do
	under 120 "$targets/storm_dlopen" "$targets/libraries" 300
	under 120 "$targets/storm_fork" 30
	under 120 "$targets/eintr" 300
	under 120 "$targets/short_threads"
	under 120 "$targets/stacks"
	under 120 "$targets/throwing" "$targets/libthrowing.so"
	under 120 "$targets/own_signal"
	rounds=$((rounds + 1))
	i=0
	while [ $i -lt 50 ]; do
		rm -rf "$scratch/out"
		mkdir "$scratch/out"
		LD_PRELOAD=$library FASTGATE_COLLECTOR_OUTPUT=$scratch/out FASTGATE_COLLECTOR_RATE=10000 \
			"$targets/short_threads" >/dev/null 2>&1 &
		child=$!
		sleep "0.$(awk -v s="$i$rounds" 'BEGIN { srand(s); printf "%03d", int(rand() * 400) }')"
		kill -KILL $child 2>/dev/null || true
		wait $child 2>/dev/null || true
		readable
		kills=$((kills + 1))
		i=$((i + 1))
	done
done
echo "$rounds rounds of storms, $kills kills: no hang, no EINTR, no lost child, every trace readable"
