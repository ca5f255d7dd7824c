#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# faults.sh BUILD_FOLDER SECONDS: lets one call after another fail during a run, a push and a server's work. It tries
# every call that can fail, but of the memory and database calls only the first from each stack. It takes about half
# an hour. The calls tried at this commit are recorded in build/soak, so an interrupted sweep continues where it
# stopped; after a complete sweep that passed, the next one starts over. With fewer than 300 seconds, the script tries
# a sample of the calls.
set -eu
build=$1 seconds=$2
here=$(cd "$(dirname "$0")" && pwd)
folder=$here/../../build/soak
state=$folder/faults-$(git -C "$here" describe --always --dirty --exclude='*' 2>/dev/null || echo unknown).tried
mkdir -p "$folder"
trap 'exit 143' INT TERM
set -- --all --state "$state"
[ "$seconds" -ge 300 ] || set --
python3 "$here/../faults/inject.py" "$@" \
	--library "$build/tests/faults/libfg_faults.so" --fastgate "$build/cli/fastgate" --perfdb "$build/perfdb/server/perfdb" \
	--make-store "$build/tests/e2e/report/fg_make_store" --make-runs "$build/tests/web/fg_web_runs"
rm -f "$state"
