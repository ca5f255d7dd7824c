#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The include rule must see what it is there for: plant breaches in a copy and expect each to be named.
set -eu
python=$1
root=$2
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
mkdir "$copy/base" "$copy/stats" "$copy/model" "$copy/gate" "$copy/docs"
cp "$root/docs/architecture.md" "$copy/docs"
echo '#include "base/error.h"' >"$copy/base/good.c"

expect() { # file, line to plant, words expected
	echo "$2" >"$copy/$1"
	if said=$("$python" "$root/scripts/check-layers.py" "$copy"); then
		echo "not caught: $2 in $1" && exit 1
	fi
	case $said in
	*"$1:1: $3"*) rm "$copy/$1" ;;
	*) echo "expected '$1:1: $3', got: $said" && exit 1 ;;
	esac
}
expect stats/bad.c '#include "gate/gate.h"' 'stats/ may not include gate/gate.h'
expect gate/bad.c '#include "config/config.h"' 'gate/ may not include config/config.h'
expect model/bad.h '#include <sqlite3.h>' 'model/ may not use <sqlite3.h>'
expect base/bad.c '#include "error.h"' 'includes are written from the root: "error.h"'
"$python" "$root/scripts/check-layers.py" "$copy"
