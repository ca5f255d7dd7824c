#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A table in the program makes its time depend on the place of its code within a cache line, so the machine has no
# influence. A slowdown in one place is placement; in every place, it is a regression. A program that cannot be linked
# again keeps its verdict.
. "$(dirname "$0")/common.sh"
in_places="in \\(4\\|8\\|16\\) places on both sides, shifted by 0, 16, 32 and 48 bytes within a cache line: "
mkdir "$work/project" && cd "$work/project" || exit 1
git init -q .
# The time depends on the address of place(): 20 % more in one place of four. The change is in another function.
target cost_by_place.c >main.c
echo 'int changed(void) { return 100; }' >changed.c
cat >Makefile <<'END'
CFLAGS = -O1 -DFIRST=0
prog: main.o pad.o changed.o
	$(CC) -o $@ $^
END
echo >pad.c
cat >fastgate.yml <<'END'
version: 1
project: places
build: { command: make -s }
benchmarks:
  - name: places
    command: ./prog
    metrics: [{ name: took, regex: "took ([0-9]+) ms", better: lower, unit: ms }]
measure: { schedule: abba, warmup: 0, pairs: { min: 10, max: 24 }, sampler: { enabled: false } }
gate: { metrics: { cpu_time: { gated: false }, wall_time: { gated: false }, max_rss: { gated: false }, binary_size: { gated: false } } }
END
printf '*.o\nprog\n.fastgate/\n/fastgate.json\n' >.gitignore
make -s || exit 1
# From here on, place() of the baseline is at the second-to-last place of the table.
at=$(nm prog | sed -n 's/ T place$//p')
sed -i "s/FIRST=0/FIRST=$(((0x$at + 32) % 64))/" Makefile
git add . && git commit -q -m "A table of places"
grep -q 'took 100 ms' <<END || fail "the baseline is slow already"
$(rm -f main.o prog && make -s && ./prog)
END

# The candidate's code lies 16 bytes further on, and part of it did change.
echo '__attribute__((section(".text.unlikely"))) int nobody_calls_this(int x) { return x * 5 + 1; }' >pad.c
echo 'int changed(void) { volatile int same = 100; return same; }' >changed.c
# All places are used from the first pair on: with `auto`, it depends on the machine whether links are cheap.
expect_code 0 "another place" "$FASTGATE" run --against HEAD --verbose --set measure.layouts=always
expect_text 'took .*+0.0 %.* pass' "$work/out" "another place"
! grep -q 'in the default layout\|measuring again' "$work/out" "$work/err" || fail "it was never measured in the default layout only"
"$FASTGATE" show --json >"$work/json" || fail "the run is not stored"
expect_text "$in_places[-+ 0-9.,%]*+20.0" "$work/json" "another place"
# Links are expensive: the run measures in the default layout first, and in all places only because the default layout
# looks slower.
links_are_expensive() {
	rm -rf .fastgate/builds/*/layouts
	for cost in .fastgate/builds/link-times/*; do printf 999000000000 >"$cost"; done
}
links_are_expensive
expect_code 0 "expensive links" "$FASTGATE" run --against HEAD --verbose
expect_text 'measured in the default layout only: linking the program in 4 places would take 49 min 57 s; at most ' "$work/err" "expensive links"
expect_text '+20.0 % in the default layout; measuring again in \(4\|8\|16\) layouts' "$work/err" "expensive links"
expect_text 'took .*+0.0 %.* pass' "$work/out" "expensive links"
"$FASTGATE" show --json >"$work/json" || fail "the run is not stored"
expect_text "$in_places[-+ 0-9.,%]*+20.0" "$work/json" "expensive links"
expect_text 'placement: on average over these places, the candidate is not slower' "$work/json" "expensive links"
# Existing layouts cost nothing.
expect_code 0 "links that are there" "$FASTGATE" run --against HEAD --verbose
! grep -q 'in the default layout\|measuring again' "$work/out" "$work/err" || fail "the places that are there were not used"
expect_code 1 "this very binary is shipped" "$FASTGATE" run --against HEAD --set gate.placement=fail
expect_text '+20.0 % in the default layout; measuring again' "$work/err" "this very binary is shipped"
expect_code 1 "in the default layout" "$FASTGATE" run --against HEAD --set measure.layouts=never
! grep -q 'measuring again' "$work/err" || fail "measure.layouts: never measures again"

sed -i 's/100/110/' changed.c
expect_code 1 "slower in every place" "$FASTGATE" run --against HEAD --set measure.layouts=always
! grep -q 'measuring again' "$work/err" || fail "what is slower beyond doubt is measured again"
expect_text 'took .*+10.0 %.*REGRESSION' "$work/out" "slower in every place"

# A lucky place hides a slowdown, but not if all places are measured from the first pair on; `auto` finds these
# links already made.
git stash -q
sed -i "s/FIRST=[0-9]*/FIRST=$(((0x$at + 16) % 64))/" Makefile
rm -f main.o && make -s && ./prog | grep -q 'took 120 ms' || fail "the baseline is not in the slow place"
git commit -q -a -m "The slow place" && git stash pop -q || fail "the change does not fit any more"
expect_code 0 "lucky in the default layout" "$FASTGATE" run --against HEAD --set measure.layouts=never
for mode in always auto; do
	expect_code 1 "lucky, measured in all places ($mode)" "$FASTGATE" run --against HEAD --set measure.layouts=$mode --verbose
	expect_text 'took .*+10.[0-9] %.*REGRESSION' "$work/out" "lucky, measured in all places ($mode)"
	expect_text "$in_places.*8.3 %.*+32.0 %" "$work/out" "the four places ($mode)"
	! grep -q 'in the default layout' "$work/out" "$work/err" || fail "$mode: it was never measured in the default layout only"
done
git stash -q && git reset -q --hard HEAD^ && git stash pop -q && rm -f main.o

# The objects are gone: the verdict stays, and one line says why other layouts were not tried.
sed -i 's|^prog:.*|&\n\trm -f saved.o; mv pad.o saved.o|; s|-o \$@ \$^|-o $@ main.o saved.o changed.o; rm saved.o|' Makefile
sed -i 's/110/111/' changed.c
expect_code 1 "nothing to link" "$FASTGATE" run --against HEAD
expect_text 'other layouts were not tried: .*saved.o' "$work/err" "nothing to link"
expect_text 'REGRESSION' "$work/out" "nothing to link"
# In a duet only the first four places exist when the first pair begins; more places are linked during the pairs. Yet
# each block has the place given by its number, modulo the final number of places: the program logs where it lies.
# With one CPU, all places exist before the first pair.
mkdir "$work/parallel" && cd "$work/parallel" || exit 1
git init -q .
target logged_place.c >main.c
cat >fastgate.yml <<'END'
version: 1
project: parallel
build: { command: cc -O1 -o prog main.c }
benchmarks: [ { name: parallel, command: ./prog } ]
measure: { schedule: duet, warmup: 1, pairs: { min: 20, max: 20 }, layouts: always, sampler: { enabled: false } }
END
printf 'prog\n.fastgate/\n' >.gitignore
git add . && git commit -q -m "A program that says where it lies"
sed -i 's/return 1/return 2/' main.c
LOG="$work/places" "$FASTGATE" run --against HEAD --set report.json=report.json >"$work/out" 2>"$work/err" || true
places=$(sed -n '/cpu time with all code/s/.* in \([0-9]*\) places on both sides.*/\1/p' report.json | sed q)
case "$places" in 4 | 8 | 16) ;; *) fail "not measured in places: $(cat "$work/out" "$work/err")" ;; esac
# Each block is two executions. The trial of each place comes first: one execution, or more if the machine was busy.
sed -n 's|.*/layouts/[^/]*/\([0-9]*\)/prog$|\1|p' "$work/places" | awk '$1 < last { measured = 1 } measured { print } { last = $1 }' >"$work/taken"
[ "$(wc -l <"$work/taken")" -ge 40 ] || fail "not every pair lay in one of the places"
awk -v places="$places" 'NR == 1 { first = $1 } $1 != (first + int((NR - 1) / 2)) % places { print NR ": " $1; exit 1 }' "$work/taken" >"$work/wrong" ||
	fail "of $places places, another one than the block's number says, in line $(cat "$work/wrong")"

# A program that reads data next to itself does less in another folder, and still succeeds; its time shows that.
mkdir "$work/finding" && cd "$work/finding" || exit 1
git init -q .
target data_beside.c >main.c
echo data >data
cat >fastgate.yml <<'END'
version: 1
project: finding
build: { command: cc -O1 -o prog main.c }
benchmarks: [ { name: finding, command: ./prog } ]
measure: { schedule: abba, pairs: { min: 2, max: 2 }, layouts: always, sampler: { enabled: false } }
END
printf 'prog\n.fastgate/\n' >.gitignore
git add . && git commit -q -m "A program that finds its data"
sed -i 's/return 1/return 2/' main.c
"$FASTGATE" run --against HEAD --verbose >"$work/out" 2>"$work/err" || true
expect_text 'finding: other layouts are not tried: the program does different work in another folder' "$work/err" "a program that finds its data"
! grep -q 'with all code in' "$work/out" || fail "a program that does other work was measured in layouts"
