#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The include rule catches what it should: plants breaches in a copy, and expects each to be named.
set -eu
python=$1
root=$2
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
mkdir -p "$copy/base" "$copy/gate/statistics" "$copy/model" "$copy/cmake"
cp "$root/cmake/rooms.json" "$copy/cmake"
echo '#include "base/error.h"' >"$copy/base/good.c"

expect() { # file, line to plant, expected text
	echo "$2" >"$copy/$1"
	if said=$("$python" "$root/scripts/check-layers.py" "$copy"); then
		echo "not caught: $2 in $1" && exit 1
	fi
	case $said in
	*"$1:1: $3"*) rm "$copy/$1" ;;
	*) echo "expected '$1:1: $3', got: $said" && exit 1 ;;
	esac
}
expect gate/statistics/bad.c '#include "gate/gate.h"' 'gate/statistics/ may not include gate/gate.h'
expect gate/bad.c '#include "config/config.h"' 'gate/ may not include config/config.h'
expect model/bad.h '#include <sqlite3.h>' 'model/ may not use <sqlite3.h>'
expect base/bad.c '#include "error.h"' 'includes are written from the root: "error.h"'
"$python" "$root/scripts/check-layers.py" "$copy"
