#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The step of action.yml after the gate. This step has the secrets and measures nothing: it sends the run to the
# perfdb server, and the report to the targets of report.post in fastgate.yml. GITHUB_TOKEN and FASTGATE_ACTION_* come
# from the inputs.
set -u
program=${FASTGATE_ACTION_PROGRAM:?}
report=${RUNNER_TEMP:-/tmp}/fastgate/fastgate.json
[ -s "$report" ] || exit 0
[ -z "${FASTGATE_ACTION_PERFDB_TOKEN:-}" ] || export PERFDB_TOKEN="$FASTGATE_ACTION_PERFDB_TOKEN"
[ -z "${FASTGATE_ACTION_PERFDB_URL:-}" ] || export PERFDB_URL="$FASTGATE_ACTION_PERFDB_URL"
unset FASTGATE_ACTION_PERFDB_TOKEN FASTGATE_ACTION_PERFDB_URL

status=0
# A run waits in the spool if fastgate.yml names a server; an input may turn uploading off.
set -- .fastgate/spool/*.fgrun
if [ -e "$1" ]; then
	"$program" push --when-possible || status=$?
elif [ -n "${PERFDB_URL:-}" ]; then
	"$program" push --when-possible "$(sed -n 's/^ *"id": "\([0-9a-f-]*\)",*$/\1/p' "$report" | head -n 1)" || status=$?
fi
"$program" report --post-from "$report" || status=$?
exit $status
