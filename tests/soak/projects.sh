#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# projects.sh BUILD_FOLDER SECONDS [COUNT SEED | NAME...]: gates other people's projects, from `init` to a
# verdict, without editing a file.  Without names, packages are drawn at random: COUNT of them, or one for each 300
# seconds.
set -u
build=$1
seconds=$2
shift 2
command -v apt-get >/dev/null 2>&1 || { echo "skipped: no apt-get"; exit 77; }
count=$((seconds / 300))
[ $# -gt 0 ] || set -- $((count > 0 ? count : 1)) 1
exec python3 "$(dirname "$0")/projects.py" "$build" "$@"
