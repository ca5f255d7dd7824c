#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the end-to-end tests with fastgate and perfdb under memcheck: valgrind.sh BUILD_FOLDER SECONDS
# All tests together take hours; with fewer than 300 seconds, the script runs three of them.
build=$1 seconds=$2
set -- e2e.report_same_bytes e2e.perfdb_upload e2e.read_only
[ "$seconds" -lt 300 ] || set --
exec python3 "$(dirname "$0")/valgrind.py" "$build" "$@"
