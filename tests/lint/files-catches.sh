#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The rule about files catches what it should: in a copy, plants files that call each other, headers that include each
# other, unused functions, two types with the same name, wide Python, a long test and a C program in a test.
set -eu
python=$1
root=$2
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
mkdir -p "$copy/base" "$copy/cmake" "$copy/tests/unit" "$copy/bench"
cp "$root/cmake/rooms.json" "$copy/cmake"
git -C "$copy" init -q

define() { # file, name, names it calls
	file=$1
	name=$2
	shift 2
	printf 'int %s(void)\n{\n\treturn 0' "$name" >>"$copy/$file"
	for call in "$@"; do printf ' + %s()' "$call" >>"$copy/$file"; done
	printf ';\n}\n' >>"$copy/$file"
}
expect() { # expected text; empty: no finding
	said=$("$python" "$root/scripts/check-files.py" "$copy") && code=0 || code=1
	case $said in
	*"$1"*) [ -n "$1" ] && return 0 ;;
	*) echo "expected '$1', got: $said" && exit 1 ;;
	esac
	[ "$code" -eq 0 ] || { echo "expected nothing, got: $said" && exit 1; }
}
start() {
	rm -f "$copy"/base/* "$copy"/tests/unit/* "$copy"/tests/test.py "$copy"/bench/*
	define base/low.c fg_low
	define base/high.c fg_high fg_low
	printf 'static int main_of_nothing(void)\n{\n\treturn fg_high();\n}\n' >"$copy/base/top.c"
}
start
expect ''
define base/low.c fg_lower fg_high
expect 'base/high.c names fg_low of base/low.c'
start
printf 'const struct fg_a_thing_with_a_long_name *\nfg_lower(void)\n{\n\treturn fg_high();\n}\n' >>"$copy/base/low.c"
expect 'base/high.c names fg_low of base/low.c'
start
printf '#include "base/b.h"\n' >"$copy/base/a.h"
printf '#include "base/a.h"\n' >"$copy/base/b.h"
expect 'base/a.h includes base/b.h'
start
define base/high.c fg_forgotten
expect 'base/high.c: nothing in the product uses fg_forgotten: remove it'
printf 'void f(void) { fg_forgotten(); }\n' >"$copy/tests/unit/test_x.c"
expect 'base/high.c: nothing in the product uses fg_forgotten: remove it'
printf 'void f(void) { fg_forgotten(); }\n' >"$copy/bench/b.c"
expect ''
start
define base/high.c fg_inner
define base/high.c fg_outer fg_inner
printf 'static int g(void)\n{\n\treturn fg_outer();\n}\n' >>"$copy/base/top.c"
expect 'base/high.c: fg_inner is used here only: make it static'
printf 'void f(void) { fg_inner(); }\n' >"$copy/tests/unit/test_x.c"
expect ''
start
printf 'struct fg_thing {\n\tint a;\n};\n' >"$copy/base/a.h"
printf 'struct fg_thing;\nstruct fg_other {\n\tstruct fg_thing *thing;\n};\n' >"$copy/base/b.h"
expect ''
printf 'struct fg_thing {\n\tint b;\n};\n' >>"$copy/base/top.c"
expect 'fg_thing is a type in each of base/a.h, base/top.c: rename all but one'
comment() { # columns
	printf '#%*s\n' $(($1 - 1)) '' | tr ' ' x
}
start
comment 106 >"$copy/bench/run" # is not Python
expect ''
printf '#!/usr/bin/env python3\n' >"$copy/bench/run"
comment 105 >>"$copy/bench/run"
expect ''
comment 106 >>"$copy/bench/run"
expect 'bench/run:3: 106 columns: Python keeps to 105'
start
seq 400 | sed 's/^/x = /' >"$copy/tests/test.py"
expect ''
echo 'x = 0' >>"$copy/tests/test.py"
expect 'tests/test.py: 401 lines: split it by subject (400)'
start
cat >"$copy/tests/test.py" <<'END'
MAIN = "int main(void) { return 0; }\n"
SUM = """
int sum(int a)
{
	a += 1;
	a += 2;
	return a;
}
"""
END
expect ''
sed -i 's/a += 2;/& a += 3;\n/' "$copy/tests/test.py"
expect 'tests/test.py:2: a C program in a string: make it a file below tests/targets'
start
printf 'def passes():\n    assert True\n\n\npasses()\n' >"$copy/tests/test.py"
expect ''
sed -i '$d' "$copy/tests/test.py"
expect 'tests/test.py: nothing calls passes: call it or remove it'
printf '%s\n' 'SAYS = f"#include <stdio.h>\nint main(void) {{ return puts(\"{1}\"); }}\n"' >"$copy/tests/test.py"
expect 'tests/test.py:1: a C program in a string: make it a file below tests/targets'
