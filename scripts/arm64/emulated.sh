#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# emulated.sh COMMAND...: runs COMMAND in a temporary user namespace in which the kernel starts arm64 programs with the emulator of
# build/arm64-root. Exits with 77 (skipped), and says what is missing, if that is impossible.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)/build/arm64-root
if [ -z "${FASTGATE_TEST_NAMESPACE:-}" ]; then
	unshare --user --map-root-user --mount true 2>/dev/null || { echo "emulated.sh: skipped: no user namespaces here" >&2 && exit 77; }
	FASTGATE_TEST_NAMESPACE=1 exec unshare --user --map-root-user --mount sh "$0" "$@"
fi
mount -t binfmt_misc arm64 /proc/sys/fs/binfmt_misc 2>/dev/null || {
	echo "emulated.sh: skipped: binfmt_misc handlers in a namespace need Linux 6.7" >&2
	exit 77
}
zeros='\x00\x00\x00\x00\x00\x00\x00\x00\x00'
printf '%s' ':arm64:M::\x7fELF\x02\x01\x01'"$zeros"'\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:' \
	"$root/tools/usr/bin/qemu-aarch64-static:F" >/proc/sys/fs/binfmt_misc/register
exec "$@"
