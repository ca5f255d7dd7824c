#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The quickstart's planted slowdown fails the gate, the guilty function is named, and the reports are written.
. "$(dirname "$0")/common.sh"
make_project
shorten 2
slow
expect_code 1 "planted slowdown" "$FASTGATE" run --against HEAD --schedule abba --set gate.alpha=0.05 --pairs 12:12 --set measure.layouts=never --set measure.sampler.rate=1000
expect_text 'wordcount .*REGRESSION' "$work/out" "terminal report"
expect_text 'table.c:' "$work/out" "the guilty function's place"
for report in fastgate.json fastgate.xml fastgate.html; do
	[ -s $report ] || fail "$report was not written"
done
expect_text '"verdict": "regression"' fastgate.json "JSON report"
expect_text '"name": "\(find\|table_count\)"' fastgate.json "the guilty function"
# The new line and its cost are stored with the run.
new='while (entry \&\& (entry->length != length || memcmp(entry->word, word, length) != 0))'
expect_text "\"text\": \" *$new" fastgate.json "the line that changed"
expect_text "^ *+ *[0-9]* .*$new" "$work/out" "the line that changed, on the terminal"
"$FASTGATE" report --format json >"$work/again.json"
cmp -s "$work/again.json" fastgate.json || fail "the stored report has not the same lines"
expect_text '<failure' fastgate.xml "JUnit report"
"$FASTGATE" show >"$work/shown"
expect_text '^wordcount  (abba, [0-9]* repetitions)$' "$work/shown" "the stored run"
! grep -q '[0-9] pairs' "$work/shown" || fail "pairs stand in two places"
# The baseline's build is kept, so the second run does not build the project. Its reports show no source, as requested.
expect_code 1 "second run" "$FASTGATE" run --against HEAD --schedule abba --set gate.alpha=0.05 --pairs 12:12 --set measure.layouts=never --set measure.sampler.rate=1000 --set report.source=false
expect_text 'REGRESSION' "$work/out" "second verdict"
! grep -q '^building' "$work/err" || fail "the second run built the baseline again"
! grep -q 'memcmp(entry->word' "$work/out" fastgate.json || fail "report.source: false shows source"
