#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every call that can fail, one after the other, under a run, a push and a server: faults.sh BUILD_FOLDER SECONDS
# It takes as long as it takes (about half an hour); what has been tried is kept in build/soak/faults.tried, so that a sweep that
# was ended goes on where it was.  Remove that file to begin anew.
set -eu
build=$1
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$here/../../build/soak"
exec python3 "$here/../faults/inject.py" --all --state "$here/../../build/soak/faults.tried" \
	--library "$build/tests/faults/libfg_faults.so" --fastgate "$build/cli/fastgate" --perfdb "$build/perfdb/server/perfdb" \
	--make-store "$build/tests/e2e/report/fg_make_store" --make-runs "$build/tests/web/fg_web_runs"
