#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Kills fastgate with SIGKILL at random instants: kill.sh BUILD_FOLDER SECONDS [TIMES]
# After each kill, no process of the benchmark is left, the store opens, no earlier run is lost, and every finished
# repetition is in the store. Each repetition writes a line when it begins (`prepare`) and another as its last act. A
# repetition is finished when the next one begins, so all repetitions are kept except the current one (in a duet, the
# current two). At the end the script also reports how many repetitions had written both lines at the time of the kill
# but were not recorded yet.
set -eu
fastgate=$(realpath "$1")/cli/fastgate
seconds=$2
times=${3:-500}
[ -x "$fastgate" ] || { echo "kill.sh: there is no $fastgate" >&2; exit 2; }
work=$(mktemp -d "${TMPDIR:-/tmp}/fastgate-soak-XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM

fail() {
	echo "kill.sh: round $round: $*" >&2
	exit 1
}

# Prints a random number below $1.
draw() {
	echo $(($(od -An -N4 -tu4 /dev/urandom) % $1))
}

# Waits until no process with this path is left: survivors of the kill need a moment to end all processes.
await_silence() {
	tries=0
	while pgrep -f "$work/" >/dev/null; do
		tries=$((tries + 1))
		[ $tries -lt 300 ] || fail "orphans: $(pgrep -af "$work/")"
		sleep 0.05
	done
}

count_runs() {
	"$fastgate" runs --json --limit 1000 | grep -c '"id"' || true
}

newest_run() {
	"$fastgate" runs --json --limit 1 | sed -n 's/.*"id": "\(.\{36\}\)".*/\1/p'
}

# Repetitions of a run in the store, including the warm-up.
count_stored() {
	"$fastgate" show "$1" >values 2>err || fail "run $1 cannot be read: $(cat err)"
	sed -n 's/.* \([0-9]*\) repetition.*/\1/p' values | head -n 1
}

# Checks that the store has every repetition that had begun (log.begun has a line for each), except the last $1.
# Counts the kept repetitions, and those that had ended by the kill ($ended) but are not in the store.
check_kept() {
	id=$(newest_run)
	kept=0
	[ "$id" = "$before" ] || kept=$(count_stored "$id")
	kept=${kept:-0}
	begun=$(wc -l <log.begun)
	[ "$kept" -ge $((begun - $1)) ] ||
		fail "$begun repetitions were begun, $1 may have been under way, $kept are in the store (run $id)"
	[ "$kept" -ge "$ended" ] || all_lost=$((all_lost + ended - kept))
	all_kept=$((all_kept + kept))
}

mkdir "$work/tree"
cp "$(dirname "$0")/../targets/scripted/logged_end.c" "$work/tree/spin.c"
cd "$work/tree"
printf 'spin: spin.c\n\tcc -O1 -o spin spin.c\n' >Makefile
printf 'version: 1\nproject: soak\nbuild: { command: make -s }\nbenchmarks:\n  - { name: spin, command: ./spin, setup: "setsid -f env -u SOAK_LOG ./spin", prepare: [/bin/sh, -c, "echo >>$SOAK_LOG.begun"] }\nmeasure: { schedule: abba, layouts: never, pairs: { min: 20, max: 60 }, sampler: { enabled: false } }\n' >fastgate.yml
printf 'spin\n.fastgate/\nout\nerr\nvalues\nlog*\n' >.gitignore
git init -q .
git add .
git -c user.name=soak -c user.email=soak@localhost commit -q -m soak
sed -i 's/2000000/2100000/' spin.c
: >log
export SOAK_LOG="$PWD/log"
# Both builds are made beforehand, so that the rounds only measure.
"$fastgate" run --against HEAD --pairs 2:2 >out 2>err || [ $? -lt 4 ] || { cat err >&2; exit 1; }
round=0
started=$(date +%s)
runs=$(count_runs)
all_lost=0
all_kept=0
while [ $round -lt "$times" ] && [ $(($(date +%s) - started)) -lt "$seconds" ]; do
	round=$((round + 1))
	before=$(newest_run)
	: >log
	: >log.begun
	under_way=1
	case $((round % 4)) in
	0) set -- ;;
	1) set -- --against HEAD ;;
	2) set -- --against HEAD --set measure.sampler.enabled=true ;;
	3) set -- --against HEAD --schedule duet && under_way=2 ;;
	esac
	"$fastgate" run "$@" >out 2>err &
	guard=$!
	sleep "0.$(printf %03d "$(draw 600)")"
	victim=$guard
	if [ "$(draw 2)" -eq 1 ]; then
		victim=$(pgrep -P $guard | head -n 1)
	fi
	ended=$(wc -l <log)
	[ -z "$victim" ] || kill -9 "$victim" 2>/dev/null || true
	wait $guard 2>/dev/null || true
	await_silence
	"$fastgate" runs >/dev/null 2>err || fail "the store does not open: $(cat err)"
	now=$(count_runs)
	[ "$now" -ge "$runs" ] || fail "$runs runs before, $now after"
	runs=$now
	check_kept $under_way
done
[ "$all_kept" -gt 0 ] || fail "nothing was ever kept"
echo "killed $round times in $(($(date +%s) - started)) s: no orphan, the store whole, $runs runs, all finished repetitions kept ($all_kept); $all_lost had just ended and were not recorded yet"
