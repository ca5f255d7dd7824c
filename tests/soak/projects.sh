#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# projects.sh BUILD_FOLDER SECONDS [NAME...]: strangers' projects, from `init` to a verdict, without an edit.
set -u
build=$1
shift 2
command -v apt-get >/dev/null 2>&1 || { echo "skipped: no apt-get"; exit 77; }
exec python3 "$(dirname "$0")/projects.py" "$build" "$@"
