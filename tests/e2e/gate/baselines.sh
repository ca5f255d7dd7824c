#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The baselines of a stored comparison: a branch, a tag, a run, an exported file. Also the result if the baseline does
# not exist.
. "$(dirname "$0")/common.sh"
mkdir -p "$work/project" && cd "$work/project" || exit 1
printf 'int main(void) { for (volatile long i = 0; i < 1000000; i++) {} return 0; }\n' >spin.c
cc -O1 -o spin spin.c || fail "cc"
printf 'version: 1\nproject: lines\nbenchmarks:\n  - { name: spin, command: ./spin }\nmeasure: { pairs: { min: 2, max: 4 }, sampler: { enabled: false } }\n' >fastgate.yml
printf 'spin\n.fastgate/\n*.fgrun\n' >.gitignore
git init -q . && git add . && git commit -q -m lines

# Nothing is stored: the benchmark is new, or the run fails if a baseline is required.
for kind in branch=main tag=v1 run=latest file=none.fgrun; do
	expect_code 0 "first run, $kind" "$FASTGATE" run --no-store --set baseline.$kind
	expect_text '^spin .*new' "$work/out" "first run, $kind"
	expect_code 3 "first run, $kind, required" "$FASTGATE" run --no-store --set baseline.$kind --set baseline.required=true
	expect_text '^spin .*new' "$work/out" "first run, $kind, required"
	[ -s "$work/err" ] || fail "$kind: what was looked for is not said"
done

git tag v1
expect_code 0 "a run to compare with" "$FASTGATE" run --export first.fgrun
mv .fastgate/store.db first.db
first=$("$FASTGATE" runs --store first.db --json | sed -n 's/.*"id": "\(.\{36\}\)".*/\1/p')
git checkout -q -b topic
for kind in branch=main tag=v1 run="$first" file=first.fgrun; do
	cp first.db .fastgate/store.db
	expect_code 0 "against $kind" "$FASTGATE" run --set baseline.$kind --set baseline.required=true
	expect_text 'spin ' "$work/out" "against $kind"
	grep -q 'no baseline\| new' "$work/out" && fail "against $kind: it is new"
done
# A baseline in a file needs no store at all.
rm .fastgate/store.db
expect_code 0 "against a file, without a store" "$FASTGATE" run --no-store --set baseline.file=first.fgrun --set baseline.required=true
expect_text 'spin ' "$work/out" "against a file"
head -c 200 first.fgrun >half.fgrun
expect_code 2 "against half a file" "$FASTGATE" run --no-store --set baseline.file=half.fgrun
expect_text 'half.fgrun' "$work/err" "half a file"
[ "$(grep -c '^fastgate: ' "$work/err")" -eq 1 ] || fail "half a file: more than one line"

# The baseline file has only a benchmark of the old name, so our benchmark is new again.
sed -i 's/name: spin/name: other/' fastgate.yml
expect_code 3 "a benchmark that the baseline lacks" "$FASTGATE" run --no-store --set baseline.file=first.fgrun --set baseline.required=true
expect_text '^other .*new' "$work/out" "a benchmark that the baseline lacks"
