#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# projects.sh BUILD_FOLDER SECONDS: gates one of other people's projects for each 300 seconds, drawn at random, from
# `init` to a verdict, without editing a file.
# projects.sh BUILD_FOLDER COUNT SEED, projects.sh BUILD_FOLDER NAME NAME...: gates this many, or these.
set -u
build=$1
shift
command -v apt-get >/dev/null 2>&1 || { echo "skipped: no apt-get"; exit 77; }
[ $# -gt 1 ] || set -- $(($1 < 600 ? 1 : $1 / 300)) 1
exec python3 "$(dirname "$0")/projects.py" "$build" "$@"
