#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Two builds of the same source: the same bytes pass at once; different bytes (a folder's name in the debug information) are
# measured, and are never a regression.
. "$(dirname "$0")/common.sh"
make_project
expect_code 0 "unchanged tree" "$FASTGATE" run --against HEAD
expect_text 'wordcount .*pass' "$work/out" "terminal report"
expect_text '"verdict": "pass"' fastgate.json "JSON report"
expect_text 'same binaries on both sides' "$work/out" "terminal report"
sed -i 's/ -ffile-prefix-map=.*//; s/wordcount 40/wordcount 10/' Makefile fastgate.yml
git commit -q -a -m "Let the folder into the program"
make -s clean
expect_code 0 "same source, other bytes" "$FASTGATE" run --against HEAD --schedule duet --pairs 10:24
! grep -q 'same binaries' "$work/out" || fail "different bytes were taken for the same"
