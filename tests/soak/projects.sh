#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# projects.sh BUILD_FOLDER SECONDS [NAME...]: strangers' projects, from `init` to a verdict, without an edit.  Fewer than 300 seconds:
# one of them.
set -u
build=$1
seconds=$2
shift 2
command -v apt-get >/dev/null 2>&1 || { echo "skipped: no apt-get"; exit 77; }
[ "$seconds" -ge 300 ] || [ $# -gt 0 ] || set -- bzip2
exec python3 "$(dirname "$0")/projects.py" "$build" "$@"
