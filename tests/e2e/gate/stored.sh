#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs of the candidate alone are kept, compared with each other and shown as a trend; the same binaries are never a regression.
. "$(dirname "$0")/common.sh"
make_project
sed -i 's/wordcount 40/wordcount 4/' fastgate.yml
for n in 1 2 3; do
	expect_code 0 "run $n" "$FASTGATE" run --pairs 2:2
	expect_text 'new' "$work/out" "the first runs have nothing to compare with"
done
expect_code 0 "compare" "$FASTGATE" compare latest~1 latest --json
expect_text '"verdict": "pass"' "$work/out" "same binaries"
expect_code 0 "history" "$FASTGATE" history wordcount --json
[ "$(grep -c '"run":' "$work/out")" -eq 3 ] || fail "history has not three points"
expect_code 2 "unknown metric" "$FASTGATE" history wordcount --metric nonsense
expect_text 'nonsense' "$work/err" "the unknown metric's name"
expect_code 2 "no such run" "$FASTGATE" compare latest~7 latest
