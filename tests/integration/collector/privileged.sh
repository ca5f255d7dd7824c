#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# privileged.sh PROGRAM: a program with more privileges than its caller writes no trace to the folder in the caller's
# environment. The program is linked with the collector, because the dynamic loader ignores LD_PRELOAD for such
# programs.
set -eu
program=$1
[ "$(id -u)" -eq 0 ] || { echo "only root can make a program privileged"; exit 77; }
work=$(mktemp -d "${TMPDIR:-/tmp}/fastgate-test-XXXXXX")
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir "$work/out"
chmod 777 "$work/out"
cp "$program" "$work/plain"
cp "$program" "$work/privileged"
chmod 755 "$work/plain"
chmod 4755 "$work/privileged"

fail() { echo "FAILED: $*"; exit 1; }
try() { # name: its output, and its traces in $work/out
	rm -f "$work"/out/*
	setpriv --reuid 65534 --regid 65534 --clear-groups env FASTGATE_COLLECTOR_OUTPUT="$work/out" FASTGATE_COLLECTOR_PERIOD=1000000 "$work/$1"
}
said=$(try plain) || { echo "another user cannot reach the programs here"; exit 77; }
[ "$said" = 0 ] || fail "the plain program is privileged"
[ "$(ls "$work/out")" ] || fail "the plain program left no trace: the test shows nothing"
said=$(try privileged) || fail "the privileged program failed"
[ "$said" = 1 ] || { echo "a set-user-ID program gains nothing on this file system"; exit 77; }
[ -z "$(ls "$work/out")" ] || fail "the privileged program left a trace: $(ls "$work/out")"
