#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A duel needs no configuration, stores nothing, and refuses commands that cannot run.
. "$(dirname "$0")/common.sh"
# refine() takes nearly all of the time of both programs, 4 and 40 ms; a chain of dependent steps takes the same
# time everywhere.
target refining.c >"$work/work.c"
cc -g -O1 -DROUNDS=3000000u -o "$work/old" "$work/work.c" && cc -g -O1 -DROUNDS=30000000u -o "$work/new" "$work/work.c" || fail "cc"
mkdir "$work/empty" && cd "$work/empty" || exit 1
expect_code 1 "slower program" "$FASTGATE" duel --rate 1000 --schedule abba --pairs 12:12 "$work/old" "$work/new"
expect_text 'REGRESSION' "$work/out" "terminal report"
expect_text 'refine  *work.c:' "$work/out" "the guilty function of two programs with different names"
# Two pairs decide nothing, and such short programs do not always overlap.
expect_code 0 "side by side" "$FASTGATE" duel --no-sampling --schedule duet --pairs 2:2 --json "$work/old" "$work/new"
expect_text '"schedule": "duet"' "$work/out" "side by side"
expect_code 2 "a pipe" "$FASTGATE" duel 'echo a | cat' 'echo b'
expect_text "'|' needs a shell" "$work/err" "why a pipe is no command"
expect_code 0 "a page" "$FASTGATE" duel --no-sampling --schedule duet --pairs 2:2 --html "$work/duel.html" "$work/old" "$work/old"
grep -q '</html>' "$work/duel.html" || fail "--html wrote no page"
[ -z "$(ls -A)" ] || fail "the duel left files behind: $(ls -A)"
expect_code 0 "faster program" "$FASTGATE" duel --no-sampling --schedule abba --pairs 12:12 "$work/new" "$work/old" --json
expect_text '"verdict": "improvement"' "$work/out" "JSON report"
expect_code 1 "times only" "$FASTGATE" duel --no-sampling --schedule abba --pairs 12:12 "$work/old" "$work/new"
expect_text 'REGRESSION' "$work/out" "terminal report without functions"
! grep -q 'work\.c' "$work/out" || fail "a function is named that nobody sampled"
expect_code 0 "a chosen rate, two pairs" "$FASTGATE" duel --rate 500 --schedule abba --pairs 2:2 "$work/old" "$work/new" --json
expect_text '"rate_hz": 500' "$work/out" "the rate that was asked for"
expect_code 2 "no rate" "$FASTGATE" duel --rate many "$work/old" "$work/new"
expect_code 4 "missing program" "$FASTGATE" duel --schedule abba --pairs 12:12 "$work/old" "$work/absent"
expect_text 'absent' "$work/out" "the missing program's name"
expect_code 2 "one command only" "$FASTGATE" duel --schedule abba --pairs 12:12 "$work/old"
