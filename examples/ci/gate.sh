#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gate.sh [REF]: the gate for any CI that can run a shell, in a checkout.  REF names the commit to compare with (default: merge-base);
# the exit code is the gate's.  Reports go into the folder $REPORTS.
set -eu
against=${1:-merge-base}
reports=${REPORTS:-fastgate-reports}
mkdir -p "$reports"

# A shallow clone may lack the commit to compare with.
if [ "$(git rev-parse --is-shallow-repository)" = true ]; then
	git fetch --quiet --unshallow origin '+refs/heads/*:refs/remotes/origin/*'
fi
exec fastgate run --against "$against" \
	--set report.junit="$reports/fastgate.xml" --set report.json="$reports/fastgate.json" \
	--set report.html="$reports/fastgate.html" --set report.markdown="$reports/fastgate.md"
