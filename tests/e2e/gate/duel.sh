#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A duel needs no configuration, keeps nothing, and says no to commands that cannot run.
. "$(dirname "$0")/common.sh"
make_project
make -s wordcount && cp wordcount "$work/old"
slow && make -s wordcount && cp wordcount "$work/new"
mkdir "$work/empty" && cd "$work/empty" || exit 1
expect_code 1 "slower program" "$FASTGATE" duel --schedule abba --pairs 10:10 "$work/old 10" "$work/new 10"
expect_text 'REGRESSION' "$work/out" "terminal report"
expect_text 'find  *table.c:' "$work/out" "the guilty function of two programs with different names"
expect_code 1 "a much slower program side by side" "$FASTGATE" duel --schedule duet --pairs 10:10 "$work/old 10" "$work/new 10"
[ -z "$(ls -A)" ] || fail "the duel left files behind: $(ls -A)"
expect_code 0 "faster program" "$FASTGATE" duel --schedule abba --pairs 10:10 "$work/new 10" "$work/old 10" --json
expect_text '"verdict": "improvement"' "$work/out" "JSON report"
expect_code 1 "times only" "$FASTGATE" duel --no-sampling --schedule abba --pairs 10:10 "$work/old 10" "$work/new 10"
expect_text 'REGRESSION' "$work/out" "terminal report without functions"
! grep -q 'table\.c' "$work/out" || fail "a function is named that nobody sampled"
expect_code 0 "a chosen rate, two pairs" "$FASTGATE" duel --rate 500 --schedule abba --pairs 2:2 "$work/old 10" "$work/new 10" --json
expect_text '"rate_hz": 500' "$work/out" "the rate that was asked for"
expect_code 2 "no rate" "$FASTGATE" duel --rate many "$work/old 10" "$work/new 10"
expect_code 4 "missing program" "$FASTGATE" duel --schedule abba --pairs 10:10 "$work/old 10" "$work/absent 10"
expect_text 'absent' "$work/out" "the missing program's name"
expect_code 2 "one command only" "$FASTGATE" duel --schedule abba --pairs 10:10 "$work/old 10"
