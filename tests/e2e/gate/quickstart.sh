#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The planted slowdown of the quickstart fails the gate, the guilty function is named, the reports are there.
. "$(dirname "$0")/common.sh"
make_project
shorten
slow
expect_code 1 "planted slowdown" "$FASTGATE" run --against HEAD --schedule abba --pairs 10:10
expect_text 'wordcount .*REGRESSION' "$work/out" "terminal report"
expect_text 'table.c:' "$work/out" "the guilty function's place"
for report in fastgate.json fastgate.xml fastgate.html; do
	[ -s $report ] || fail "$report was not written"
done
expect_text '"verdict": "regression"' fastgate.json "JSON report"
expect_text '"name": "\(find\|table_count\)"' fastgate.json "the guilty function"
expect_text '<failure' fastgate.xml "JUnit report"
# The baseline's build is kept: the second run builds nothing.
expect_code 1 "second run" "$FASTGATE" run --against HEAD --schedule abba --pairs 10:10
expect_text 'REGRESSION' "$work/out" "second verdict"
! grep -q '^building' "$work/err" || fail "the second run built the baseline again"
