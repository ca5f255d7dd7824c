#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mutants.sh BUILD_FOLDER SECONDS: what the unit tests of gate/ and gate/statistics/ do not notice.
exec python3 "$(dirname "$0")/mutants.py" "$@"
