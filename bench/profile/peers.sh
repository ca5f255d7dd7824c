#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# peers.sh FASTGATE: compares the CPU time in which fastgate, perf and google-pprof turn a recording into a list of
# functions. Each profiler records the same program at 1,000 samples a second of CPU time, with call stacks. Prints
# the CPU time of each report, and its number of samples.
set -eu
fastgate=$(realpath "$1")
work=$(mktemp -d "${TMPDIR:-/tmp}/fastgate-peers-XXXXXX")
trap 'rm -rf "$work"' EXIT INT TERM
cd "$work"
yes 'INSERT INTO t VALUES(abs(random()) % 1000, hex(randomblob(20)));' | head -n 400000 >inserts
{ echo 'CREATE TABLE t(a INT, b TEXT); CREATE INDEX i ON t(a); CREATE INDEX j ON t(b); BEGIN;'; cat inserts; echo 'COMMIT; SELECT count(DISTINCT substr(b, 3)) FROM t;'; } >script

report() { # NAME SAMPLES COMMAND...: prints the CPU time of the command
	name=$1
	samples=$2
	shift 2
	python3 -c '
import resource, subprocess, sys
name, samples, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"  {name:28} {1000 * (used.ru_utime + used.ru_stime):8.0f} ms CPU  {samples:7} samples")' "$name" "$samples" "$@"
}

echo "the profile of one program (sqlite3 on a script) as a list of functions"
"$fastgate" record --rate 1000 -o ours -- sqlite3 :memory: <script >/dev/null 2>&1
count=$("$fastgate" view ours 2>&1 | sed -n "s/.* in \([0-9]*\) samples.*/\1/p")
report 'fastgate view' "${count:-0}" "$fastgate" view ours
report 'fastgate view, again' "${count:-0}" "$fastgate" view ours
if command -v perf >/dev/null && perf record -q -F 1000 -g -o perf.data sqlite3 :memory: <script >/dev/null 2>&1; then
	report 'perf report' "$(perf script -i perf.data -G -F event 2>/dev/null | grep -c .)" perf report -i perf.data --stdio --no-children
else
	echo "  perf report: perf is not here, or may not record"
fi
library=$(ls /usr/lib/*/libprofiler.so.0 2>/dev/null | head -n 1)
if [ -n "$library" ] && command -v google-pprof >/dev/null; then
	LD_PRELOAD=$library CPUPROFILE=$work/theirs CPUPROFILE_FREQUENCY=1000 sqlite3 :memory: <script >/dev/null 2>&1
	report 'google-pprof --text' "$(google-pprof --text "$(command -v sqlite3)" theirs 2>/dev/null | sed -n 's/^Total: \([0-9]*\) samples.*/\1/p')" \
		google-pprof --text "$(command -v sqlite3)" theirs
else
	echo "  google-pprof: it is not here"
fi
