#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One LD_PRELOAD serves programs of both widths in one tree of processes: a 64-bit shell that starts a 32-bit program and a
# 64-bit one, and a 32-bit program that starts a 64-bit one.
# usage: both-widths.sh FASTGATE COLLECTOR TARGETS_FOLDER
set -u
fastgate=$1 collector=$2 targets=$3
scratch=$(mktemp -d "${TMPDIR:-/tmp}/fastgate-widths-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
[ -x "$targets/storm_fork_i386" ] || { echo "this compiler makes no 32-bit programs"; exit 77; }
"$targets/deep_i386" 1 >/dev/null 2>&1 || { echo "this system runs no 32-bit programs"; exit 77; }
failed=0
fail() { echo "FAILED: $*"; failed=1; }

# pid word_bits samples, of every trace
headers() {
	for trace in "$1"/*.fgtrace; do
		od -An -v -t u4 -j 24 -N 4 "$trace" | tr -d '\n'
		od -An -v -t u8 -j 120 -N 8 "$trace"
	done
}
sampled() { # folder, width: samples in images of that width
	headers "$1" | awk -v width="$2" '$1 == width { sum += $2 } END { print sum + 0 }'
}
try() { # name, minimum of 64-bit samples, minimum of 32-bit samples, command...
	name=$1 wide=$2 narrow=$3
	shift 3
	"$@" >"$scratch/out-without" 2>"$scratch/err-without"
	without=$?
	FASTGATE_COLLECTOR=$collector "$fastgate" --quiet record --rate 1000 -o "$scratch/$name" -- "$@" >"$scratch/out-with" 2>"$scratch/err-with"
	with=$?
	[ $with -eq $without ] || fail "$name: exit code $with, without the collector $without"
	cmp -s "$scratch/err-with" "$scratch/err-without" || { fail "$name: said"; cat "$scratch/err-with"; }
	[ "$(sampled "$scratch/$name" 64)" -ge "$wide" ] || { fail "$name: 64-bit programs were not sampled"; headers "$scratch/$name"; }
	[ "$(sampled "$scratch/$name" 32)" -ge "$narrow" ] || { fail "$name: 32-bit programs were not sampled"; headers "$scratch/$name"; }
}

try shell 100 100 sh -c "'$targets/deep_i386' 10 && '$targets/deep' 10; exit 3"
# storm_fork forks, spawns and executes itself
try itself 0 60 "$targets/storm_fork_i386" 15
# ... or the program that argv[0] names: here its 64-bit sister
try across 50 20 bash -c "exec -a '$targets/storm_fork' '$targets/storm_fork_i386' 15"
[ $failed -eq 0 ] && echo "32-bit and 64-bit programs of one tree are both sampled"
exit $failed
