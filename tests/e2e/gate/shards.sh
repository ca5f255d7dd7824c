#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Three jobs measure a part each, and a fourth merges them into one verdict; files that do not belong together are
# refused.
. "$(dirname "$0")/common.sh"
mkdir -p "$work/project" && cd "$work/project" || exit 1
for name in scan sort pack find; do
	printf '#!/bin/sh\necho "%s costs 100"\n' $name >$name && chmod +x $name
done
printf 'version: 1\nproject: split\nbenchmarks:\n' >fastgate.yml
for name in scan sort pack find; do
	printf '  - { name: %s, command: ./%s, metrics: [ { name: cost, regex: "costs ([0-9]+)", unit: "1" } ] }\n' $name $name >>fastgate.yml
done
printf '%s\nmeasure: { schedule: abba, pairs: { min: 12, max: 12 }, sampler: { enabled: false } }\nreport: { json: fastgate.json, junit: fastgate.xml }\n' "$ungated" >>fastgate.yml
printf '.fastgate/\n/fastgate.json\n/fastgate.xml\n*.fgrun\n' >.gitignore
git init -q . && git add . && git commit -q -m split
sed -i 's/100/120/' sort

# Every shard is a separate job with its own store.
regressions=0
lost=
for i in 1 2 3; do
	code=0
	"$FASTGATE" run --against HEAD --shard $i/3 --export $i.fgrun --set store.path=.fastgate/$i.db >"$work/out" 2>"$work/err" || code=$?
	case $code in 0) lost=$i ;; 1) regressions=$((regressions + 1)) ;; *) fail "shard $i: exit code $code" ;; esac
	grep -q 'no benchmark belongs' "$work/err" && fail "shard $i is empty: other names are needed"
	[ -s $i.fgrun ] || fail "shard $i was not exported"
done
[ $regressions -eq 1 ] || fail "$regressions shards see a regression, expected 1"

whole() { # the merged result equals that of a single job
	expect_text '^sort .*REGRESSION' "$work/out" "$1"
	expect_text "^3 passed: scan, pack, find" "$work/out" "$1"
	for name in scan sort pack find; do expect_text "\"name\": \"$name\"" fastgate.json "$1: JSON report"; done
	expect_text '"verdict": "regression"' fastgate.json "$1: JSON report"
	[ "$(grep -c '<testsuite ' fastgate.xml)" -eq 4 ] || fail "$1: JUnit report has not four suites"
	rm fastgate.json fastgate.xml
}
expect_code 1 "merged" "$FASTGATE" gate --merge 2.fgrun 3.fgrun 1.fgrun
expect_text 'merged 3 of 3 shards' "$work/err" "merging"
whole "merged from files"
expect_code 0 "the merged run is in the store" "$FASTGATE" show latest
expect_code 1 "merged again" "$FASTGATE" gate --merge 1.fgrun 2.fgrun 3.fgrun
[ "$("$FASTGATE" runs --json | grep -c '"id"')" -eq 1 ] || fail "merging the same shards twice made two runs"
rm fastgate.json fastgate.xml
expect_code 2 "no file" "$FASTGATE" gate --merge

# The current policy decides; the stored verdict stays.
expect_code 0 "another policy" "$FASTGATE" gate --set gate.metrics.cost.gated=false
expect_code 0 "the kept verdict" "$FASTGATE" report latest
expect_text 'REGRESSION' "$work/out" "the kept verdict"

# The benchmarks of a missing shard are errors; all other benchmarks are reported.
rest=$(ls ./*.fgrun | grep -v "/$lost.fgrun")
expect_code 4 "a missing shard" "$FASTGATE" gate --merge --no-store $rest
expect_text "shard $lost/3 is missing: .* not measured" "$work/err" "a missing shard"
[ "$(grep -c '^fastgate: ' "$work/err")" -eq 1 ] || fail "a missing shard is told in more than one line"
expect_text 'sort .*REGRESSION' "$work/out" "what the others found"
expect_text '"verdict": "error"' fastgate.json "a missing shard"

refused() { # what, pattern, files...
	what=$1
	pattern=$2
	shift 2
	expect_code 2 "$what" "$FASTGATE" gate --merge "$@"
	expect_text "$pattern" "$work/err" "$what"
	[ "$(grep -c '^fastgate: ' "$work/err")" -eq 1 ] || fail "$what: more than one line"
}
refused "a shard twice" 'shard 2/3 is given twice' 1.fgrun 2.fgrun 3.fgrun 2.fgrun
"$FASTGATE" runs export latest -o whole.fgrun 2>/dev/null
refused "a whole run" 'is not a shard' whole.fgrun
refused "not there" 'No such file' 1.fgrun nowhere.fgrun
"$FASTGATE" run --shard 2/4 --export four.fgrun >/dev/null 2>&1
refused "another split" 'do not belong to the same split' 1.fgrun four.fgrun
git commit -q -a -m slower
"$FASTGATE" run --against HEAD~1 --shard 2/3 --export later.fgrun >/dev/null 2>&1
refused "another commit" 'measured the candidate at commit' 1.fgrun later.fgrun 3.fgrun
expect_code 2 "two runs without --merge" "$FASTGATE" gate 1.fgrun 2.fgrun
expect_code 2 "no such shard" "$FASTGATE" run --shard 4/3

# More shards than benchmarks: a shard without benchmarks is empty, not missing.
for i in 1 2 3 4 5 6 7 8 9; do
	"$FASTGATE" run --shard $i/9 --export nine-$i.fgrun --pairs 2:2 >/dev/null 2>&1 || fail "shard $i/9"
done
expect_code 0 "nine shards" "$FASTGATE" gate --merge nine-*.fgrun
expect_text 'merged 9 of 9 shards' "$work/err" "nine shards"
