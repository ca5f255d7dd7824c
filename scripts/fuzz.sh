#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fuzz.sh BUILD_FOLDER NAME|all SECONDS [JOBS]: fuzzes with the corpus and dictionary of tests/fuzz, JOBS targets at once; findings
# stay in build/fuzz/found. Prints one line per target: coverage is the number of reached edges out of all edges in the target's
# program; the edges of other formats and of the sanitizers cannot be reached.
set -u
build=$1
name=$2
seconds=$3
jobs=${4:-1}
here=$(cd "$(dirname "$0")/.." && pwd)
found=$here/build/fuzz/found
mkdir -p "$found"

targets=$(find "$build/tests/fuzz" -maxdepth 1 -type f -name 'fuzz_*' -perm -u+x | sed 's:.*/fuzz_::' | sort)
[ -n "$targets" ] || { echo "no fuzz target was built in $build/tests/fuzz" && exit 2; }

if [ "$name" = all ]; then
	# xargs exits with 123 if a target found something.
	if echo "$targets" | xargs -P "$jobs" -I{} sh "$0" "$build" {} "$seconds"; then
		echo "$(echo "$targets" | wc -l) targets, nothing found"
		exit 0
	fi
	exit 1
fi

echo "$targets" | grep -qxF -e "$name" || { echo "unknown fuzz target '$name'" && exit 2; }
corpus=$build/corpus/$name
log=$build/$name.log
mkdir -p "$corpus"
set -- "$corpus"
[ -d "$here/tests/fuzz/corpus/$name" ] && set -- "$@" "$here/tests/fuzz/corpus/$name"
[ -f "$here/tests/fuzz/$name.dict" ] && set -- -dict="$here/tests/fuzz/$name.dict" "$@"
status=0
"$build/tests/fuzz/fuzz_$name" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
	-artifact_prefix="$found/$name-" "$@" >"$log" 2>&1 || status=1

last() { sed -n "s/$1/\\1/p" "$log" | tail -n 1; }
edges=$(last '.*Loaded 1 modules *(\([0-9]*\) inline.*')
reached=$(last '.* cov: \([0-9]*\) .*')
executions=$(last '^stat::number_of_executed_units: *\([0-9]*\)')
took=$(last '.* in \([0-9]*\) second(s)$')
printf '%-10s %4s s %10s executions, %6s of %6s edges: %s\n' "$name" "${took:-?}" "${executions:-?}" "${reached:-?}" "${edges:-?}" \
	"$([ $status -eq 0 ] && echo 'nothing found' || echo 'FOUND SOMETHING')"
[ $status -eq 0 ] || tail -n 30 "$log"
exit $status
