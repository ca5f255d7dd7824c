#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs programs under the collector at 10 kHz for SECONDS: collector.sh BUILD_FOLDER [SECONDS [CALLS]]
#
#	storms     rounds of dlopen, fork/exec/vfork, threads, unusual stacks, exceptions, and a program's own SIGPROF; every
#	           other round runs under fastgate record, which prepares the pages of traces meanwhile
#	kills      ten programs after each round get SIGKILL at random times: every trace must be readable
#	calls      at the same time, CALLS system calls (1,000,000 for 300 seconds) that a signal could cut short: none may return EINTR
#
# The programs check themselves that nothing hangs (each has a time limit), no call returns EINTR, and no child is lost.
set -eu
build=$1 seconds=${2:-300}
calls=${3:-$((seconds * 10000 / 3))}
targets=$build/tests/targets
scratch=$(mktemp -d "${TMPDIR:-/tmp}/fastgate-soak-XXXXXX")
calls_pid=
trap '[ -z "$calls_pid" ] || kill "$calls_pid" 2>/dev/null || true; rm -rf "$scratch"' EXIT
trap 'exit 143' INT TERM
library=$(find "$build/lib" "$build/lib64" -name libfastgate_collector.so 2>/dev/null | head -n 1)
[ -n "$library" ] || { echo "the collector is not built in $build"; exit 2; }
end=$(($(date +%s) + seconds))
rounds=0 kills=0 traces=0

sampled() { # output folder, command...
	folder=$1
	shift
	mkdir -p "$folder"
	LD_PRELOAD=$library FASTGATE_COLLECTOR_OUTPUT=$folder FASTGATE_COLLECTOR_PERIOD=100000 "$@"
}

recorded() { # output folder, command...
	folder=$1
	shift
	"$build/cli/fastgate" record --rate 10000 -o "$folder" -- "$@"
}

under() { # seconds allowed, command...
	limit=$1
	shift
	rm -rf "$scratch/out"
	way=sampled
	[ $((rounds % 2)) -eq 0 ] || way=recorded
	$way "$scratch/out" timeout --foreground -s KILL "$limit" "$@" >"$scratch/said" 2>&1 || {
		echo "failed with $?: $*"
		cat "$scratch/said"
		exit 1
	}
}

# A program killed before the collector's start leaves nothing, and one killed during the start leaves an empty
# file.
readable() {
	count=$(find "$killed" -name '*.fgtrace' | wc -l)
	[ "$count" -gt 0 ] || return 0
	"$build/cli/fastgate" export --format folded "$killed" >/dev/null 2>"$scratch/said" || {
		grep -q 'no samples\|the process recorded nothing' "$scratch/said" || { echo "not readable:"; cat "$scratch/said"; exit 1; }
	}
	! grep -q damaged "$scratch/said" || { cat "$scratch/said"; exit 1; }
	traces=$((traces + count))
}

# Kills programs that start threads and programs that start processes, in turn.
ten_kills() {
	kills_end=$((kills + 10))
	while [ $kills -lt $kills_end ]; do
		program=short_threads
		[ $((kills % 2)) -eq 0 ] || program=storm_fork
		# One folder per program: children of the previous program may still write into theirs.
		killed=$scratch/killed.$kills
		mkdir "$killed"
		LD_PRELOAD=$library FASTGATE_COLLECTOR_OUTPUT=$killed FASTGATE_COLLECTOR_PERIOD=100000 \
			"$targets/$program" >/dev/null 2>&1 &
		child=$!
		sleep "0.$(printf %03d $(($(od -An -N2 -tu2 /dev/urandom) % 400)))"
		kill -KILL $child 2>/dev/null || true
		wait $child 2>/dev/null || true
		readable
		rm -rf "$killed" 2>/dev/null || true
		kills=$((kills + 1))
	done
}

# Each round of eintr makes 26 system calls.
mkdir -p "$scratch/calls"
timeout -s KILL $((seconds + 3600)) env "LD_PRELOAD=$library" "FASTGATE_COLLECTOR_OUTPUT=$scratch/calls" FASTGATE_COLLECTOR_PERIOD=100000 \
	"$targets/eintr" $((calls / 26 + 1)) >"$scratch/calls.said" &
calls_pid=$!

while [ "$(date +%s)" -lt "$end" ]; do
	under 120 "$targets/storm_dlopen" "$targets/libraries" 300
	under 120 "$targets/storm_fork" 30
	under 120 "$targets/short_threads"
	under 120 "$targets/burst"
	under 120 "$targets/stacks"
	under 120 "$targets/throwing" "$targets/libthrowing.so"
	under 120 "$targets/own_signal"
	under 120 "$targets/waits"
	rounds=$((rounds + 1))
	ten_kills
done
echo "$rounds rounds of storms in $seconds s: no hang, no EINTR, no lost child"
echo "$kills kills left what is readable ($traces traces)"

wait "$calls_pid" || { echo "calls were cut short:"; cat "$scratch/calls.said"; exit 1; }
echo "$calls calls that a signal could cut short: $(tr '\n' ' ' <"$scratch/calls.said")"
