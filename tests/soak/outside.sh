#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Samples a program from outside repeatedly, while fastgate is killed: outside.sh BUILD_FOLDER SECONDS [TIMES]
# The program has threads that compute, wait, and send each other signals; fastgate attaches and detaches at a high
# rate. Every other fastgate is killed with SIGKILL at a random instant. After each kill, no thread may be stopped
# or traced. At the end, no signal may be missing, and the program's own checks must hold.
set -eu
fastgate=$(realpath "$1")/cli/fastgate
seconds=$2
times=${3:-1000}
[ -x "$fastgate" ] || { echo "outside.sh: there is no $fastgate" >&2; exit 2; }
work=$(mktemp -d "${TMPDIR:-/tmp}/fastgate-soak-XXXXXX")
program=
trap '[ -z "$program" ] || kill -9 "$program" 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 143' INT TERM

fail() {
	echo "outside.sh: round $round: $*" >&2
	exit 1
}

# Prints a random number below $1.
draw() {
	echo $(($(od -An -N4 -tu4 /dev/urandom) % $1))
}

# When the tracer has ended, the kernel lets every thread go: checks state and tracer.
check_free() {
	for status in /proc/"$program"/task/*/status; do
		[ -r "$status" ] || continue
		! grep -Eq '^State:[[:space:]]*[tT]|^TracerPid:[[:space:]]*[1-9]' "$status" || fail "a thread is stopped or traced: $(grep -E '^(Name|State|TracerPid)' "$status" | tr '\n' ' ')"
	done
}

cc -O1 -o "$work/busy" "$(dirname "$0")/../targets/scripted/undisturbed.c" -pthread
"$work/busy" &
program=$!
round=0
killed=0
end=$(($(date +%s) + seconds))
while [ $round -lt "$times" ] && [ "$(date +%s)" -lt $end ]; do
	round=$((round + 1))
	if [ $((round % 2)) -eq 0 ]; then
		"$fastgate" --quiet record --pid "$program" --rate 2000 --budget 50% -o "$work/traces" 2>/dev/null &
		sampler=$!
		sleep "0.0$(draw 99)"
		kill -9 $sampler 2>/dev/null && killed=$((killed + 1))
		wait $sampler 2>/dev/null || true
	else
		"$fastgate" --quiet record --pid "$program" --rate 2000 --budget 50% --duration 50ms -o "$work/traces" || fail "record: $?"
	fi
	kill -0 "$program" 2>/dev/null || fail "the program has ended"
	check_free
done
kill -TERM "$program"
wait "$program" || fail "the program says that it was disturbed: $?"
program=
echo "outside: $round recordings of a program with 5 threads, $killed ended by kill -9: no thread left stopped, no signal lost"
