#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# program.sh ARCHIVE FASTGATE: gates the quick start with the arm64 archive, in an arm64 root under the emulator, records the
# program there, and views the recording with FASTGATE, which runs without the emulator.
set -eu
cd "$(dirname "$0")/../.."
if [ -z "${FASTGATE_TEST_NAMESPACE:-}" ]; then
	exec sh scripts/arm64/emulated.sh sh "$0" "$(realpath "$1")" "$(realpath "$2")"
fi
root=$PWD/build/arm64-root/root
log=$(mktemp)
trap 'rm -f "$log"' EXIT
mkdir -p "$root/tmp" "$root/opt" "$root/dev" "$root/proc"
mount -t tmpfs scratch "$root/tmp"
mount -t tmpfs archive "$root/opt"
mount --rbind /dev "$root/dev"
mount --rbind /proc "$root/proc"
zstd -dcq "$1" | tar -xf - -C "$root/opt" --strip-components=1
cp -r examples/quickstart "$root/tmp/quickstart"
inside() { env -i PATH=/usr/bin HOME=/tmp FASTGATE=/opt/bin/fastgate "$(command -v chroot)" "$root" "$@"; }
fail() {
	echo "program.sh: $*" >&2
	cat "$log" >&2
	exit 1
}
inside /opt/bin/perfdb --version >"$log" 2>&1 || fail "perfdb does not start"
inside sh /tmp/quickstart/demo.sh /tmp/demo >"$log" 2>&1 || fail "the quick start is not a regression"
grep -q "find *table.c:" "$log" || fail "the quick start's verdict does not name find"
inside make -s -C /tmp/demo >"$log" 2>&1 && inside /opt/bin/fastgate record --quiet -o /tmp/recorded -- /tmp/demo/wordcount 40 >>"$log" 2>&1 &&
	inside /opt/bin/fastgate archive --quiet /tmp/recorded -o /tmp/recorded.tar.zst >>"$log" 2>&1 || fail "nothing could be recorded"
"$2" view "$root/tmp/recorded.tar.zst" >"$log" 2>&1 && grep -q "find" "$log" || fail "its archive cannot be viewed here"
echo "the archive for arm64 gates the quick start, and its recording is viewed on $(uname -m)"
