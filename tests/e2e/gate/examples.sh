#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# examples.sh: the examples other than the quickstart, each in its own repository, as their READMEs describe.
. "$(dirname "$0")/common.sh"
PATH=$(dirname "$FASTGATE"):$PATH
few="--pairs 2:2 --set measure.warmup=0"

begin() { # example
	cp -r "$FASTGATE_ROOT/examples/$1" "$work/$1"
	rm -rf "$work/$1/build" "$work/$1/.fastgate"
	cd "$work/$1" || exit 1
	git init -q .
	git add .
	git commit -q -m "An example"
}
# The results of the last run, and the exit code of a test on them.
verdicts() {
	python3 - fastgate.json "$1" <<'END' || fail "$2"
import json, sys
found = {b["name"]: b for b in json.load(open(sys.argv[1]))["benchmarks"]}
for b in found.values():
    assert b["verdict"] not in ("error", "new", "missing"), (b["name"], b["error"])
assert eval(sys.argv[2]), {name: b["pairs"] for name, b in found.items()}
END
}

# A server: `setup` writes its requests, each execution cleans up, and each request is a unit of work.
export FASTGATE_INCLUDE="$FASTGATE_ROOT/include"
begin server
sed -i 's/10000/2000/' fastgate.yml
sed -i 's/what?/what is that?/' server.c # a different program: identical ones would not be measured
# shellcheck disable=SC2086
expect_code 0 "the server" fastgate run --against HEAD $few
verdicts 'list(found) == ["requests"] and found["requests"]["pairs"] == 2' "the server's verdict"
[ -z "$(find . -name server.sock)" ] || fail "cleanup did not run"
[ "$(find .fastgate/builds -name requests.txt -size +0 | wc -l)" -eq 2 ] || fail "setup did not run on both sides"
cd "$(dirname "$(find .fastgate/builds -name requests.txt | head -n 1)")" || exit 1
expect_code 0 "recording it" fastgate record --rate 5000 -- ./server requests.txt server.sock
expect_code 0 "its units" fastgate view --view units
expect_text 'request' "$work/out" "units of work"

# A monorepo: each shard measures its part, and merging gives one verdict.
begin monorepo
sed -i 's/ROUNDS = 30,/ROUNDS = 3,/; s/ROUNDS = 2000000,/ROUNDS = 200000,/; s/200 << 20/10 << 20/' sorting/bench.c lookup/bench.c checksum/bench.c
git commit -q -a -m "A smaller load"
sed -i 's/ROUNDS = 3,/ROUNDS = 4,/' sorting/bench.c
grep -q 'ROUNDS = 4,' sorting/bench.c && grep -q 'ROUNDS = 200000,' lookup/bench.c && grep -q '10 << 20' checksum/bench.c || fail "the load is no longer what it was"
for part in 1/2 2/2; do
	# shellcheck disable=SC2086
	expect_code 0 "shard $part" fastgate run --shard $part --export part-${part%/2}.fgrun --against HEAD $few --set measure.sampler.enabled=false
done
expect_code 0 "the merge" fastgate gate --merge --set measure.pairs.min=2 --set measure.pairs.max=2 part-1.fgrun part-2.fgrun
expect_text 'merged 2 of 2 shards' "$work/err" "the merge"
verdicts 'sorted(found) == ["checksum/long", "checksum/short", "lookup/hit", "lookup/miss", "sorting/random", "sorting/sorted"]' "the whole"

# A C++ library: each case of Google Benchmark on its own, and a program whose functions are named.
if [ ! -e /usr/include/benchmark/benchmark.h ]; then
	echo "left out: libbenchmark-dev is not installed"
	exit 0
fi
begin google-benchmark
sed -i 's/min_time=0.1/min_time=0.005/; s/cmake -B build/cmake -B build -DCMAKE_BUILD_TYPE=Debug/' fastgate.yml
sed -i 's/day < 160/day < 1/; s/320000/2000/' busy_day.cpp
git commit -q -a -m "A smaller load"
grep -q 'day < 1;' busy_day.cpp && grep -q '== 2000 ' busy_day.cpp || fail "the load is no longer what it was"
sed -i 's/std::int64_t at = from;/std::int64_t at = from < 0 ? 0 : from;/' intervals.cpp
# shellcheck disable=SC2086
expect_code 0 "the library" fastgate run --against HEAD $few
verdicts 'set(found) == {"micro/add/1000", "micro/first_gap/1000", "micro/first_gap/10000", "busy_day"}' "the cases"
