#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The rule about headers catches a header that cannot be included twice, and a header that does not compile alone, if
# no source includes it first or if the build does not compile that source.
set -eu
python=$1
root=$2
compiler=$3
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
mkdir -p "$copy/base" "$copy/cmake" "$copy/build"
cp "$root/cmake/rooms.json" "$copy/cmake"

header() { # name, body
	printf '#ifndef %s_H\n#define %s_H\n%s\n#endif\n' "$1" "$1" "$2" >"$copy/base/$1.h"
}
expect() { # expected text (empty: no finding)
	said=$("$python" "$root/scripts/check-headers.py" "$copy" "$copy/build" 2>&1) && code=0 || code=1
	if [ -z "$1" ]; then
		[ "$code" -eq 0 ] || { echo "expected no finding, got: $said" && exit 1; }
		return 0
	fi
	case $said in
	*"$1"*) [ "$code" -eq 1 ] || { echo "'$1' was said, and the rule passed" && exit 1; } ;;
	*) echo "expected '$1', got: $said" && exit 1 ;;
	esac
}

header own '#include <stddef.h>
size_t fg_own(void);'
header other 'int fg_other(void);'
printf '#include "base/own.h"\n#include "base/other.h"\n' >"$copy/base/own.c"
printf '[{"directory": "%s", "file": "%s/base/own.c", "command": "%s -I%s -Wall -MD -MT own.o -MF own.d -o own.o -c %s/base/own.c"}]\n' \
	"$copy" "$copy" "$compiler" "$copy" "$copy" >"$copy/build/compile_commands.json"
expect ''
header other 'size_t fg_other(void);'
expect 'base/other.h does not compile alone'
printf '#include "base/other.h"\n' >"$copy/base/other.c" # not in the build, so it proves nothing
expect 'base/other.h does not compile alone'
rm "$copy/base/other.c"
header other 'int fg_other(void);'
# The source defines a macro that its own header needs.
printf '#define SIZE size_t\n#include "base/own.h"\n' >"$copy/base/own.c"
header own '#include <stddef.h>
SIZE fg_own(void);'
expect 'base/own.h does not compile alone'
printf 'struct fg_own {\n\tint x;\n};\n' >"$copy/base/own.h"
expect 'base/own.h: it cannot be included twice'
