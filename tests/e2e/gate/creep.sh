#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Commits that each cost a little more add up to creep; the level is the sum of their steps, in commit order.
. "$(dirname "$0")/common.sh"
mkdir "$work/project" && cd "$work/project" || exit 1
cat >fastgate.yml <<END
version: 1
project: creeping
$ungated
benchmarks:
  - name: parse
    command: ./parse
    metrics: [ { name: cost, regex: "cost: ([0-9.]+)", exact: true } ]
measure: { pairs: { min: 2, max: 2 }, sampler: { enabled: false } }
END
sed -i 's/^gate: { metrics: {/gate: { creep: { tolerated: 3.3% }, metrics: { cost: { tolerance: 1% },/' fastgate.yml
printf '.fastgate/\n' >.gitignore
cost() { # cost per mille
	printf '#!/bin/sh\necho "cost: %s"\n' "$1" >parse
	chmod +x parse
	git add . && git commit -q -m "Cost $1"
}
git init -q .
cost 1000
for n in 1 2 3 4 5; do
	cost $((1000 + 6 * n))
	expect_code 0 "run $n" "$FASTGATE" run --against HEAD~1
	expect_text 'pass' "$work/out" "a step that passes"
done
# The newest run's tolerance decides about the history.
expect_code 0 "history before creep" "$FASTGATE" history parse --metric cost
expect_text 'no creep: cost +3\.0 %' "$work/out" "3 % where 3.3 % are tolerated"
# With the sixth step the sum is 3.6 %.
cost 1036
expect_code 0 "the run that meets creep" "$FASTGATE" run --against HEAD~1
expect_text 'CREEP' "$work/out" "the verdict"
expect_text 'creep: cost +3\.6 % \[+3\.6, +3\.6\] over 6 commits since [0-9a-f]*; no step above 0\.6 %' "$work/out" "the sentence"
expect_code 0 "its report" "$FASTGATE" report latest --format json -o "$work/report.json"
expect_text '"verdict": "creep"' "$work/report.json" "the verdict in JSON"
expect_code 0 "history" "$FASTGATE" history parse --metric cost
expect_text 'CREEP: cost +3\.6 %' "$work/out" "the creep in the history"
expect_text 'level: +3\.6 % ± 0 %, from the pairs of 6 commits' "$work/out" "the level"
expect_code 0 "history as JSON" "$FASTGATE" history parse --metric cost --json
[ "$(grep -c '"level":' "$work/out")" -eq 7 ] || fail "the chain has not seven commits"
# Uncommitted work is the last link of the chain.
printf '#!/bin/sh\necho "cost: 1040"\n' >parse
expect_code 1 "creep that fails" "$FASTGATE" run --against HEAD --set gate.creep.found=fail
git checkout -q parse
expect_code 0 "within a shorter window" "$FASTGATE" run --against HEAD~1 --set gate.creep.window=5
! grep -q CREEP "$work/out" || fail "five steps of 0.6 % are called creep"
expect_code 0 "without any window" "$FASTGATE" run --against HEAD~1 --set gate.creep.window=0
! grep -q CREEP "$work/out" || fail "creep is judged without a window"
# Wrong settings are refused by name.
expect_code 2 "a window of no number" "$FASTGATE" run --set gate.creep.window=many
expect_text 'gate.creep.window' "$work/err" "which key is wrong"
expect_code 2 "an unknown anchor" "$FASTGATE" run --set gate.anchor=sometimes
expect_text 'gate.anchor' "$work/err" "which key is wrong"
