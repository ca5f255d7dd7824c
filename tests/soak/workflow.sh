#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# .github/workflows/ci.yml without a forge: workflow.sh BUILD_FOLDER SECONDS [JOB...]  (neither folder nor seconds are looked at)
shift 2
exec python3 "$(dirname "$0")/workflow.py" "$@"
