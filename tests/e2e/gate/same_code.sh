#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The facts of both builds distinguish identical code at other addresses from other code, other data, and an unused
# file.
. "$(dirname "$0")/common.sh"
make_project
shorten 10
echo 'one line' >words.txt
# Without debug information, the hot function has the name of a clone, which a compiler numbers.
sed -i 's/-O2 -g/-O2/' Makefile
sed -i 's|^static struct entry \*find(.*|__attribute__((noinline)) static struct entry *find(struct table *, const char *, size_t, size_t) __asm__("find.isra.0");\n&|' table.c
grep -q 'find.isra.0' table.c || fail "no clone was planted"
git add .
git commit -q -m "A word list"

# fact NAME: "same" or "different" between the sides of the last run
fact() {
	"$FASTGATE" report --format json >"$work/out" 2>"$work/err" || fail "no report"
	found=$(grep -o "\"build\.$1\": \"[0-9a-f]*\"" "$work/out")
	[ "$(echo "$found" | wc -l)" -eq 2 ] || fail "build.$1 does not stand on both sides"
	if [ "$(echo "$found" | sort -u | wc -l)" -eq 1 ]; then echo same; else echo different; fi
}
measure() { # what, expected of the code, expected of the inputs
	"$FASTGATE" run --against HEAD --pairs 5:5 --set measure.warmup=0 >"$work/out" 2>"$work/err"
	[ $? -le 1 ] || fail "$1: the run failed"
	[ "$(fact code)" = "$2" ] || fail "$1: the code counts as $(fact code), expected $2"
	[ "$(fact inputs)" = "$3" ] || fail "$1: the inputs count as $(fact inputs), expected $3"
}

# An unused function in front of everything else moves the rest of the program.
sed -i 's|^#include "table.h"|&\n__attribute__((used)) static int nobody_calls_this(int x)\n{\n\treturn x * 3 + 1;\n}|' table.c
grep -q nobody_calls_this table.c || fail "nothing was planted"
echo 'A sentence.' >README.md
# A build product that git does not ignore is not an input.
sed -i "s|^wordcount:.*|&\n\tpwd >where-it-was-built|" Makefile
grep -q 'where-it-was-built' Makefile || fail "no product was planted"
measure "an unused function and a document" same same
git checkout -q table.c Makefile
rm README.md

echo 'another line' >>words.txt
sed -i 's|^#include "table.h"|/* a comment */\n&|' table.c
measure "data and a comment" same different
git checkout -q .

sed -i 's/hash % 512/hash % 256/' table.c
measure "fewer chains" different same
grep -q '"build.changed": ".*table_count' "$work/out" || fail "the changed functions are not named"
grep -q '"build.functions": ".*table_count=[0-9]*:[0-9]*:c' "$work/out" || fail "the changed function is not among those that take the time"
grep -q '"build.functions": ".*find.isra.0=[0-9]*:[0-9]*:c' "$work/out" || fail "the clone is not among them"
