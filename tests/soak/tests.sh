#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tests.sh BUILD_FOLDER SECONDS: does any test depend on chance? Runs each test 20 times next to busy processes and 20
# times on one CPU, or once each with fewer than 300 seconds.
set -u
times=20
[ "$2" -ge 300 ] || times=1
exec python3 "$(dirname "$0")/tests.py" "$1" --times $times
