#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The gate step of action.yml, which has no secrets, because programs under test can read the environment of the programs that start
# them. The next step, github-send.sh, has the secrets and runs nothing from the checkout. All input comes from the environment of a
# GitHub job, so that a test can imitate one: GITHUB_EVENT_NAME, GITHUB_STEP_SUMMARY, GITHUB_OUTPUT, RUNNER_TEMP and FASTGATE_ACTION_*
# from the inputs and from github-get.sh.
set -u
program=${FASTGATE_ACTION_PROGRAM:?}
reports=${RUNNER_TEMP:-/tmp}/fastgate
rm -rf "$reports"
mkdir -p "$reports"

# A pull request or merge queue is compared with the input `against`, by default the merge base; any other run is
# recorded for the trend.
set --
case ${GITHUB_EVENT_NAME:-} in
pull_request | pull_request_target | merge_group) set -- --against "${FASTGATE_ACTION_AGAINST:-merge-base}" ;;
esac
if [ $# -gt 0 ] && [ "$(git rev-parse --is-shallow-repository 2>/dev/null)" = true ]; then
	echo "fetching the rest of the shallow clone, which may lack the merge base" >&2
	git fetch --quiet --unshallow origin '+refs/heads/*:refs/remotes/origin/*' || true
fi

status=0
# The inputs are lists of words and are split on purpose.
# shellcheck disable=SC2086
env -u GITHUB_ENV -u GITHUB_PATH -u GITHUB_STATE -u GITHUB_OUTPUT -u GITHUB_STEP_SUMMARY \
	"$program" run --no-post "$@" ${FASTGATE_ACTION_ARGUMENTS:-} \
	--set report.json="$reports/fastgate.json" --set report.junit="$reports/fastgate.xml" \
	--set report.html="$reports/fastgate.html" --set report.markdown="$reports/fastgate.md" \
	--set report.github="$reports/annotations.txt" ${FASTGATE_ACTION_BENCHMARKS:-} || status=$?

# A benchmark could use these files to set the environment of later steps, which have secrets.
for file in "${GITHUB_ENV:-}" "${GITHUB_PATH:-}"; do
	if [ -n "$file" ] && [ -s "$file" ]; then
		echo "::warning::a program under test wrote to the file of $(basename "$file"); its contents are discarded"
		: >"$file"
	fi
done

verdict=error
if [ -s "$reports/fastgate.json" ]; then
	verdict=$(sed -n 's/^  "verdict": "\([a-z]*\)",*$/\1/p' "$reports/fastgate.json" | head -n 1)
	[ -n "${GITHUB_STEP_SUMMARY:-}" ] && cat "$reports/fastgate.md" >>"$GITHUB_STEP_SUMMARY"
	cat "$reports/annotations.txt"
fi
if [ -n "${GITHUB_OUTPUT:-}" ]; then
	{
		echo "verdict=${verdict:-error}"
		echo "exit-code=$status"
		echo "report=$reports/fastgate.json"
	} >>"$GITHUB_OUTPUT"
fi
exit $status
