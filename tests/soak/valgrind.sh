#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The end-to-end tests with fastgate and perfdb under memcheck: valgrind.sh BUILD_FOLDER SECONDS  (the seconds are not looked at)
exec python3 "$(dirname "$0")/valgrind.py" "$1"
