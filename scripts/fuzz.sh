#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fuzz.sh BUILD_FOLDER NAME|all SECONDS: fuzz with the corpus and dictionary of tests/fuzz; findings stay in build/fuzz/found.
set -u
build=$1
name=$2
seconds=$3
here=$(cd "$(dirname "$0")/.." && pwd)
found=$here/build/fuzz/found
mkdir -p "$found"

targets=$(find "$build/tests/fuzz" -maxdepth 1 -type f -name 'fuzz_*' -perm -u+x | sort)
[ -n "$targets" ] || { echo "no fuzz target was built in $build/tests/fuzz" && exit 2; }
status=0
ran=0
for target in $targets; do
	short=$(basename "$target" | sed 's/^fuzz_//')
	[ "$name" = all ] || [ "$name" = "$short" ] || continue
	ran=$((ran + 1))
	corpus=$build/corpus/$short
	mkdir -p "$corpus"
	set -- "$corpus"
	[ -d "$here/tests/fuzz/corpus/$short" ] && set -- "$@" "$here/tests/fuzz/corpus/$short"
	[ -f "$here/tests/fuzz/$short.dict" ] && set -- -dict="$here/tests/fuzz/$short.dict" "$@"
	echo "== $short, $seconds s" >&2
	"$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
		-artifact_prefix="$found/$short-" "$@" >"$build/$short.log" 2>&1 || {
		status=1
		tail -n 30 "$build/$short.log"
	}
	sed -n -e 's/^stat::number_of_executed_units: /  executions: /p' "$build/$short.log"
	sed -n -e 's/.*\(cov: [0-9]*\) \(ft: [0-9]*\).*/  \1 \2/p' "$build/$short.log" | tail -n 1
done
[ $ran -gt 0 ] || { echo "there is no fuzz target '$name'" && exit 2; }
[ $status -eq 0 ] && echo "$ran target(s), nothing found"
exit $status
