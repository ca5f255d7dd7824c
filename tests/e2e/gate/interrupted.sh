#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# An interrupted run ends its programs, keeps its pairs, says 130, and is taken up again by --resume.
. "$(dirname "$0")/common.sh"
make_project
printf 'int main(void) { for (volatile long i = 0; i < 20000000; i++) {} return 0; }\n' >main.c
printf 'loop: main.c\n\t$(CC) -O1 -g -o loop main.c\n' >Makefile
printf 'version: 1\nproject: loop\nbuild: { command: make }\nbenchmarks:\n  - { name: loop, command: ./loop }\nmeasure: { schedule: abba, pairs: { min: 12, max: 16 } }\n' >fastgate.yml
echo loop >>.gitignore
git add . && git commit -q -m loop
printf 'int main(void) { for (volatile long i = 0; i < 60000000; i++) {} return 0; }\n' >main.c

"$FASTGATE" run --against HEAD >"$work/out" 2>"$work/err" &
pid=$!
# Until something was stored, without a guess about how long that takes.
while kill -0 $pid 2>/dev/null; do
	"$FASTGATE" runs --json 2>/dev/null | grep -q '"id"' && break
done
kill -INT $pid
code=0
wait $pid || code=$?
[ $code -eq 130 ] || fail "interrupted: exit code $code, expected 130"
pgrep -f "$work/project/loop" >/dev/null && fail "a program is still running"
# Another program: what was measured of the first one says nothing about it, and is kept.
cp main.c "$work/main.c"
sed -i 's/60000000/65000000/' main.c
expect_code 2 "resumed with another program" "$FASTGATE" run --against HEAD --resume
expect_text "the candidate of benchmark 'loop' is not what this run began with (build[.][a-z]* was " "$work/err" "what is not the same"
cp "$work/main.c" main.c
expect_code 1 "resumed" "$FASTGATE" run --against HEAD --resume
expect_text 'resuming run' "$work/err" "resuming"
expect_text 'REGRESSION' "$work/out" "verdict"
[ "$("$FASTGATE" runs --json | grep -c '"id"')" -eq 1 ] || fail "resuming made a second run"
