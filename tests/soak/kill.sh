#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kill -9 of fastgate at any instant: kill.sh BUILD_FOLDER SECONDS [TIMES]
# After each: no process of the benchmark is left, the store opens, and no run that was there is lost.
set -eu
fastgate=$(realpath "$1")/cli/fastgate
seconds=$2
times=${3:-500}
[ -x "$fastgate" ] || { echo "kill.sh: there is no $fastgate" >&2; exit 2; }
work=$(mktemp -d "${TMPDIR:-/tmp}/fastgate-soak-XXXXXX")
trap 'rm -rf "$work"' EXIT INT TERM

fail() {
	echo "kill.sh: round $round: $*" >&2
	exit 1
}

# A number below $1.
draw() {
	echo $(($(od -An -N4 -tu4 /dev/urandom) % $1))
}

# Until nothing runs under this path: whoever survives the kill needs a moment to end the rest.
await_silence() {
	tries=0
	while pgrep -f "$work/spin" >/dev/null; do
		tries=$((tries + 1))
		[ $tries -lt 300 ] || fail "orphans: $(pgrep -af "$work/spin")"
		sleep 0.05
	done
}

count_runs() {
	"$fastgate" runs --json --limit 1000 | grep -c '"id"' || true
}

cd "$work"
printf 'int main(void) { for (volatile long i = 0; i < 3000000; i++) {} return 0; }\n' >spin.c
cc -O1 -o spin spin.c
printf 'version: 1\nproject: soak\nbenchmarks:\n  - { name: spin, command: %s/spin, setup: "setsid -f %s/spin" }\nmeasure: { schedule: abba, pairs: { min: 4, max: 6 }, sampler: { enabled: false } }\n' \
	"$work" "$work" >fastgate.yml
round=0
started=$(date +%s)
runs=0
while [ $round -lt "$times" ] && [ $(($(date +%s) - started)) -lt "$seconds" ]; do
	round=$((round + 1))
	"$fastgate" run >out 2>err &
	guard=$!
	sleep "0.$(printf %03d "$(draw 400)")"
	victim=$guard
	if [ "$(draw 2)" -eq 1 ]; then
		victim=$(pgrep -P $guard | head -n 1)
	fi
	[ -z "$victim" ] || kill -9 "$victim" 2>/dev/null || true
	wait $guard 2>/dev/null || true
	await_silence
	"$fastgate" runs >/dev/null 2>err || fail "the store does not open: $(cat err)"
	now=$(count_runs)
	[ "$now" -ge "$runs" ] || fail "$runs runs before, $now after"
	runs=$now
done
[ "$runs" -gt 0 ] || fail "nothing was ever kept"
echo "killed $round times in $(($(date +%s) - started)) s: no orphan, the store whole, $runs runs kept"
