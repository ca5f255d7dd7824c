#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs .github/workflows/ci.yml without a forge: workflow.sh BUILD_FOLDER SECONDS [JOB...] (ignores folder and
# seconds)
shift 2
exec python3 "$(dirname "$0")/workflow.py" "$@"
