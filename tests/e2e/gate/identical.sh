#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Two builds of the same source pass at once, even if the folder's name is in the debug information and in a string.
# The same code at other addresses is measured, with two pairs, which decide nothing. The slower program takes seven
# times as long.
. "$(dirname "$0")/common.sh"
make_project
expect_code 0 "unchanged tree" "$FASTGATE" run --against HEAD
expect_text 'wordcount .*pass' "$work/out" "terminal report"
expect_text '"verdict": "pass"' fastgate.json "JSON report"
expect_text 'same binaries on both sides' "$work/out" "terminal report"
sed -i 's/ -ffile-prefix-map=.*//; s/wordcount 40/wordcount 2/' Makefile fastgate.yml
sed -i '1i const char *built_in(void);\nconst char *built_in(void)\n{\n\treturn FOLDER;\n}' table.c
sed -i "s|^CFLAGS.*|& -g -DFOLDER='\"\$(CURDIR)\"'|" Makefile
git commit -q -a -m "Let the folder into the program"
make -s clean
expect_code 0 "same source, other bytes" "$FASTGATE" run --against HEAD --verbose
expect_text 'same binaries on both sides' "$work/out" "same source, other bytes"
expect_text 'same code at the same addresses (only debug information differs)' "$work/out" "same source, other bytes"
printf '\n__attribute__((used)) static int nobody_calls_this(int x)\n{\n\treturn x * 3 + 1;\n}\n' >>table.c
expect_code 0 "other addresses" "$FASTGATE" run --against HEAD --schedule abba --pairs 2:2 --set measure.layouts=never
expect_text '"pairs": 2' fastgate.json "other addresses"
! grep -q 'same binaries' "$work/out" || fail "other addresses were taken for the same"
git checkout -q table.c

# A rebuilt plugin, and a script that starts a rebuilt program: the file on the command line is the same, but other code
# runs.
target work_host.c >host.c
printf 'static volatile unsigned sink;\nvoid work(void) { unsigned x = sink; for (unsigned i = 0; i < 3000000; i++) x = x * 31 + i; sink = x; }\n' >plugin.c
printf '#!/bin/sh\nexec ./inner\n' >wrapper && chmod +x wrapper
printf 'static volatile unsigned sink;\nint main(void) { unsigned x = sink; for (unsigned i = 0; i < 3000000; i++) x = x * 31 + i; sink = x; return 0; }\n' >inner.c
printf 'all: host plugin.so inner\nhost: host.c\n\tcc -O1 -o host host.c -ldl\nplugin.so: plugin.c\n\tcc -O1 -shared -fPIC -o plugin.so plugin.c\ninner: inner.c\n\tcc -O1 -o inner inner.c\n' >Makefile
printf 'version: 1\nproject: hidden\nbuild: { command: make -s }\nbenchmarks:\n  - { name: plugin, command: ./host }\n  - { name: script, command: ./wrapper }\nmeasure: { schedule: abba, pairs: { min: 12, max: 12 }, layouts: never, sampler: { rate: 1000 } }\n' >fastgate.yml
printf 'host\nplugin.so\ninner\n' >>.gitignore
git add . && git commit -q -m "Hide the work"
expect_code 0 "nothing changed" "$FASTGATE" run --against HEAD --pairs 2:2
[ "$(grep -c 'same binaries on both sides' "$work/out")" -eq 1 ] || fail "of host and wrapper exactly the host is known to be the same"
sed -i 's/3000000/30000000/' plugin.c inner.c
expect_code 1 "a changed plugin, a changed program behind a script" "$FASTGATE" run --against HEAD
expect_text '^plugin .*REGRESSION' "$work/out" "a changed plugin"
expect_text '^ *[0-9]* %  work ' "$work/out" "the function of a changed plugin"
! grep -q 'no symbol' "$work/out" || fail "the plugin of one side has no names"
expect_text '^script .*REGRESSION' "$work/out" "a changed program behind a script"
expect_text 'plugin: the program is the same on both sides, but the files that the program loads or starts differ' "$work/err" "a changed plugin"
