#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Real programs have the same output and exit code under the collector at 1 kHz as without it.
# usage: real-programs.sh FASTGATE COLLECTOR SOURCE_FOLDER
set -u
fastgate=$1 collector=$2 source=$3
scratch=$(mktemp -d "${TMPDIR:-/tmp}/fastgate-real-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
failed=0

try() { # program that must be there, command...
	program=$1
	shift
	command -v "$program" >/dev/null || { echo "left out, not installed: $program"; return; }
	"$@" >"$scratch/out-without" 2>"$scratch/err-without" </dev/null
	without=$?
	FASTGATE_COLLECTOR=$collector "$fastgate" --quiet record --rate 1000 -o "$scratch/traces" -- "$@" \
		>"$scratch/out-with" 2>"$scratch/err-with" </dev/null
	with=$?
	if [ $with -ne $without ] || ! cmp -s "$scratch/out-with" "$scratch/out-without" ||
		! cmp -s "$scratch/err-with" "$scratch/err-without"; then
		echo "differs: $* (exit codes $with and $without)"
		diff "$scratch/err-with" "$scratch/err-without" | head -n 5
		failed=1
	fi
	if ! ls "$scratch/traces"/*.fgtrace >/dev/null 2>&1; then
		echo "left no trace: $*"
		failed=1
	fi
}

try gcc gcc -O2 -D_GNU_SOURCE -I"$source" -c "$source/collector/walk.c" -o "$scratch/walk.o"
try python3 python3 -c 'import subprocess, threading
print(sum(i * i for i in range(300000)))
print([subprocess.run(["echo", str(i)], capture_output=True).stdout for i in range(10)])
t = [threading.Thread(target=lambda: sum(range(200000))) for _ in range(8)]
[x.start() for x in t]; [x.join() for x in t]'
try sqlite3 sqlite3 :memory: 'with recursive c(x) as (select 1 union all select x+1 from c where x<300000) select sum(x) from c;'
try zstd sh -c "zstd -q -9 -T2 -c $(command -v gcc) | cksum"
try xz sh -c "xz -T2 -1 -c $(command -v git || command -v bash) | cksum"
try git git -C "$source" rev-list --objects --count HEAD
# The output of git fsck (dangling objects) may change while other programs use the repository: take a copy with one dangling object.
git clone -q --bare --no-hardlinks --depth 50 "file://$source" "$scratch/repository.git" 2>/dev/null &&
	echo 'in no tree' | git -C "$scratch/repository.git" hash-object -w --stdin >/dev/null
try git git -C "$scratch/repository.git" fsck --full --strict --no-progress
try git git -C "$scratch/repository.git" fsck --connectivity-only --unreachable
try bash bash -c 'for i in $(seq 60); do x=$(echo $i | tr 0-9 a-j); done; echo $x; exit 3'
try openssl sh -c 'openssl speed -seconds 1 -bytes 1024 -evp sha256 >/dev/null 2>&1; echo $?'
try openssl sh -c 'head -c 3000000 /dev/zero | openssl dgst -sha256'
try perl perl -e 'my $s = 0; $s += $_ for 1 .. 500000; print "$s\n"; exit 5'
exit $failed
