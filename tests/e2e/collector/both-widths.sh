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
# storm_fork forks, spawns and executes itself.
try itself 0 60 "$targets/storm_fork_i386" 15
# Here storm_fork executes the program that argv[0] names, which is its 64-bit build.
try across 50 20 bash -c "exec -a '$targets/storm_fork' '$targets/storm_fork_i386' 15"

# Test $LIB as on Red Hat, where it is lib64 or lib: in a mount namespace, replace this system's loaders with patched copies.
red_hat='set -e
change() { python3 -c "import sys; old, new = (word.encode() for word in sys.argv[1:]); data = sys.stdin.buffer.read(); assert data.count(bytes(1) + old + bytes(1)) == 1
sys.stdout.buffer.write(data.replace(bytes(1) + old + bytes(1), bytes(1) + new.ljust(len(old), bytes(1)) + bytes(1)))" "$1" "$2"; }
wide=$(realpath /lib64/ld-linux-x86-64.so.2) narrow=$(realpath /lib/ld-linux.so.2)
change "$(cd "${wide%/*}" && pwd | sed "s|.*\(lib/[^/]*\)|\1|")" lib64 <"$wide" >wide
change lib32 lib <"$narrow" >narrow
chmod 755 wide narrow
cp -a /usr/lib64 kept
rm kept/ld-linux-x86-64.so.2
cp wide kept/ld-linux-x86-64.so.2
mount --bind kept /usr/lib64
mount --bind narrow "$narrow"
exec "$@"'
cd "$scratch"
if [ "$(id -u)" -eq 0 ] && unshare --mount sh -c "$red_hat" sh true 2>/dev/null; then
	rm -rf kept
	FASTGATE_COLLECTOR=$collector unshare --mount sh -c "$red_hat" sh \
		"$fastgate" --quiet record --rate 1000 -o red-hat -- sh -c "'$targets/deep_i386' 10 && '$targets/deep' 10" >out 2>err ||
		{ fail "lib64 and lib"; cat err; }
	[ ! -s err ] || { fail "lib64 and lib: said"; cat err; }
	[ "$(sampled red-hat 64)" -ge 100 ] && [ "$(sampled red-hat 32)" -ge 100 ] || { fail "lib64 and lib: not sampled"; headers red-hat; }
else
	echo "left out, no loader can be changed here: a system with lib64 and lib"
fi
[ $failed -eq 0 ] && echo "32-bit and 64-bit programs of one tree are both sampled"
exit $failed
