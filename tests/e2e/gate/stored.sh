#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs of the candidate alone are kept, compared with each other and shown as a trend; the same binaries are never a regression.
. "$(dirname "$0")/common.sh"
make_project
sed -i 's/wordcount 40/wordcount 4/' fastgate.yml
for n in 1 2 3; do
	expect_code 0 "run $n" "$FASTGATE" run --pairs 2:2
	expect_text 'new' "$work/out" "the first runs have nothing to compare with"
done
expect_code 0 "compare" "$FASTGATE" compare latest~1 latest --json
expect_text '"verdict": "pass"' "$work/out" "same binaries"
expect_code 0 "compare for people" "$FASTGATE" compare latest~1 latest
expect_text 'two sessions, between which the host may have drifted' "$work/out" "what two sessions cannot tell"
git commit -q --allow-empty -m "One more" && expect_code 0 "run of another commit" "$FASTGATE" run --pairs 2:2
expect_code 0 "compare of commits" "$FASTGATE" compare latest~1 latest
expect_text "fastgate run --candidate $(git rev-parse --short=12 HEAD) --against $(git rev-parse --short=12 HEAD~1)" "$work/out" "the command that would be sure"
expect_code 0 "compare by what git calls them" "$FASTGATE" compare HEAD~1 HEAD
expect_text "comparing $(git rev-parse --short=12 HEAD~1) .* with $(git rev-parse --short=12 HEAD)" "$work/err" "the two commits"
git commit -q --allow-empty -m "Not measured"
expect_code 2 "a commit without a run" "$FASTGATE" compare HEAD~1 HEAD
expect_text 'no run of HEAD' "$work/err" "that this commthe benchmark was not measured"
"$FASTGATE" rm latest --yes >/dev/null 2>&1 || "$FASTGATE" rm latest >/dev/null || fail "rm"
expect_code 0 "history for people" "$FASTGATE" history wordcount
expect_text 'wordcount  cpu_time' "$work/out" "the heading names benchmark and metric"
expect_text '^date .*commit .*run .*verdict .*value  bars begin at' "$work/out" "the columns have names"
expect_text 'no lasting change found in 3 runs' "$work/out" "that nothing changed"
[ "$(grep -E '^20[0-9][0-9]-' "$work/out" | awk '{ print $3 }' | sort -u | wc -l)" -eq 3 ] || fail "the ids in history do not tell the runs apart"
expect_code 0 "runs" "$FASTGATE" runs
expect_text '^run .*started (UTC) .*verdict .*commit .*branch .*benchmarks .*project' "$work/out" "the columns of runs have names"
expect_code 0 "history" "$FASTGATE" history wordcount --json
[ "$(grep -c '"run":' "$work/out")" -eq 3 ] || fail "history has not three points"
expect_code 2 "unknown metric" "$FASTGATE" history wordcount --metric nonsense
expect_text 'nonsense' "$work/err" "the unknown metric's name"
expect_code 2 "no such run" "$FASTGATE" compare latest~7 latest
# With two benchmarks, view names each, and view --json needs --bench.
cat >fastgate.yml <<'END'
version: 1
build: { command: make }
benchmarks:
  - { name: one, command: ./wordcount 4 }
  - { name: two, command: ./wordcount 4 }
END
expect_code 0 "run of two benchmarks" "$FASTGATE" run --pairs 2:2
expect_code 0 "history of both" "$FASTGATE" history
expect_text 'one  cpu_time' "$work/out" "the first benchmark"
expect_text 'two  cpu_time' "$work/out" "the second one"
expect_code 0 "view of both" "$FASTGATE" view latest
expect_text '^one  (run ' "$work/out" "the first benchmark's profile"
expect_text '^two  (run ' "$work/out" "the second one's"
expect_code 2 "data is one benchmark's" "$FASTGATE" view latest --json
expect_text 'choose one with --bench' "$work/err" "how to choose"
# A run with two repetitions shows the memory of one repetition.
sed -i '$ a measure: { also: [heap], pairs: { min: 2, max: 2 } }' fastgate.yml
expect_code 0 "run with the heap" "$FASTGATE" run one
"$FASTGATE" view latest -V memory --csv | awk -F, '
	NR == 1 { for (i = 1; i <= NF; i++) if ($i == "share") share = i; next }
	{ sum += $share } END { exit !(sum > 0.999 && sum < 1.001) }' || fail "shares of memory do not add up to the whole"
expect_code 0 "memory of two repetitions" "$FASTGATE" view latest -V memory
! grep -q '200\.0 %' "$work/out" || fail "memory of two repetitions is twice the whole"
