#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Two builds of the same source pass, whatever the machine is doing.
. "$(dirname "$0")/common.sh"
make_project
expect_code 0 "unchanged tree" "$FASTGATE" run --against HEAD
expect_text 'wordcount .*pass' "$work/out" "terminal report"
expect_text '"verdict": "pass"' fastgate.json "JSON report"
