#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An interrupted run ends its programs, keeps its pairs and exits with 130; --resume continues it. The program
# prints its cost. Once the first pair is complete, it opens a named pipe and waits for the test.
. "$(dirname "$0")/common.sh"
mkdir -p "$work/project" && cd "$work/project" || exit 1
printf '#define COST 100\n#define FOLDER "%s"\n' "$work" >main.c
target waiting_at_door.c >>main.c
cat >fastgate.yml <<END
version: 1
project: loop
build: { command: cc -O1 -g -o loop main.c }
benchmarks:
  - { name: loop, command: ./loop, metrics: [ { name: cost, regex: "cost: ([0-9]+)", unit: "1" } ] }
measure: { schedule: abba, warmup: 1, pairs: { min: 12, max: 12 }, layouts: never, sampler: { rate: 1000 } }
$ungated
END
printf 'loop\n.fastgate/\n' >.gitignore
git init -q . && git add . && git commit -q -m loop
sed -i 's/COST 100/COST 120/' main.c

mkfifo "$work/door"
"$FASTGATE" run --against HEAD >"$work/out" 2>"$work/err" &
pid=$!
exec 3>"$work/door" # blocks until the program opens the pipe
standing() { for folder in /proc/[0-9]*/cwd; do case $(readlink "$folder" 2>/dev/null) in "$work/project/.fastgate/"*) echo "$folder" ;; esac; done; }
[ -n "$(standing)" ] || fail "no program is running"
kill -INT $pid
code=0
wait $pid || code=$?
[ $code -eq 130 ] || fail "interrupted: exit code $code, expected 130"
[ -z "$(standing)" ] || fail "a program is still running"
exec 3>&-
rm "$work/door"
"$FASTGATE" runs --json | grep -q '"id"' || fail "no run was kept"
before=$(wc -c <"$work/executions")
# A different program: the kept measurements say nothing about it, and the run refuses to resume.
cp main.c "$work/main.c"
sed -i 's/COST 120/COST 125/' main.c
expect_code 2 "resumed with another program" "$FASTGATE" run --against HEAD --resume
expect_text "the candidate of benchmark 'loop' has changed since this run began (build[.][a-z]* was " "$work/err" "what is not the same"
[ "$(wc -c <"$work/executions")" -eq "$before" ] || fail "another program was executed"
cp "$work/main.c" main.c
expect_code 1 "resumed" "$FASTGATE" run --against HEAD --resume
expect_text 'resuming run' "$work/err" "resuming"
expect_text 'loop .*REGRESSION' "$work/out" "verdict"
[ "$("$FASTGATE" runs --json | grep -c '"id"')" -eq 1 ] || fail "resuming made a second run"
# Eleven of twelve pairs were still to be measured, after two warm-up executions.
echo "executions before $before, after $(wc -c <"$work/executions")"
