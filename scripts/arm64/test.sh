#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# test.sh CTEST_ARGUMENT...: runs tests of build/arm64 in a temporary user namespace, in which the kernel passes arm64 programs to
# the emulator. If something is missing, says so and exits with 77 (skipped).
set -eu
cd "$(dirname "$0")/../.."
root=$PWD/build/arm64-root
if [ -z "${FASTGATE_TEST_NAMESPACE:-}" ]; then
	unshare --user --map-root-user --mount true 2>/dev/null || { echo "test.sh: skipped: no user namespaces here" >&2 && exit 77; }
	FASTGATE_TEST_NAMESPACE=1 exec unshare --user --map-root-user --mount sh "$0" "$@"
fi
mount -t binfmt_misc arm64 /proc/sys/fs/binfmt_misc 2>/dev/null || {
	echo "test.sh: skipped: no handlers of programs in a namespace here: that takes Linux 6.7 with binfmt_misc" >&2
	exit 77
}
zeros='\x00\x00\x00\x00\x00\x00\x00\x00\x00'
printf '%s' ':arm64:M::\x7fELF\x02\x01\x01'"$zeros"'\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:' \
	"$root/tools/usr/bin/qemu-aarch64-static:F" >/proc/sys/fs/binfmt_misc/register
export QEMU_LD_PREFIX="$root/root"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
code=0
ctest --test-dir build/arm64 "$@" >"$log" 2>&1 || code=$?
[ "$code" -eq 0 ] || cat "$log"
awk '/tests passed/ { print $NF - $4 " of " $NF " tests passed on arm64" }' "$log"
exit "$code"
