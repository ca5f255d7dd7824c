#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mutants.sh BUILD_FOLDER SECONDS: finds faults in gate/ and gate/statistics/ that the unit tests would miss.
exec python3 "$(dirname "$0")/mutants.py" "$@"
