#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The action's gate step in the environment of a GitHub job: pull request, summary, outputs, annotations.
. "$(dirname "$0")/common.sh"
make_project
shorten
git checkout -q -b topic
slow
git commit -q -a -m "Drop a needless check"
export GITHUB_ACTIONS=true GITHUB_EVENT_NAME=pull_request GITHUB_BASE_REF=main RUNNER_TEMP="$work/runner"
export GITHUB_STEP_SUMMARY="$work/summary" GITHUB_OUTPUT="$work/output" FASTGATE_ACTION_PROGRAM="$FASTGATE"
export FASTGATE_ACTION_ARGUMENTS="--schedule abba --pairs 10:10"
mkdir -p "$RUNNER_TEMP"
expect_code 1 "pull request" sh "$FASTGATE_ROOT/scripts/github-gate.sh"
expect_text '^verdict=regression$' "$GITHUB_OUTPUT" "outputs"
expect_text '^exit-code=1$' "$GITHUB_OUTPUT" "outputs"
expect_text 'wordcount' "$GITHUB_STEP_SUMMARY" "step summary"
expect_text '^::error file=table.c,line=' "$work/out" "annotation on the guilty line"
[ -s "$RUNNER_TEMP/fastgate/fastgate.html" ] || fail "no HTML report"
