#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# perfdb.sh BUILD_FOLDER SECONDS: servers and clients are killed while 30 % of the requests are cut off; half of the
# time on SQLite, the other half with three servers on one PostgreSQL.
set -eu
trap 'exit 143' INT TERM
here=$(cd "$(dirname "$0")" && pwd)
build=$(realpath "$1")
half=$((${2:-60} / 2))
python3 "$here/perfdb.py" "$build" "$half"
code=0
"$here/../integration/perfdb/with-postgresql.sh" python3 "$here/perfdb.py" "$build" "$half" --servers 3 || code=$?
[ "$code" = 77 ] || exit "$code"
