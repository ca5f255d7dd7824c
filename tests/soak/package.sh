#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the Debian packages in a clean root: package.sh BUILD_FOLDER SECONDS
# Makes a minimal system with debootstrap from the archive that apt uses here, installs the packages of `./dev package`
# with their dependencies and nothing else, and runs them there. Needs root; without it, exits with 77 (skipped) and
# the reason.
set -eu
build=$(realpath "$1")
skip() {
	echo "package.sh: skipped: $*" >&2
	exit 77
}
[ "$(id -u)" -eq 0 ] || skip "only root can make a root"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
. /etc/os-release
[ -n "${VERSION_CODENAME:-}" ] || skip "/etc/os-release names no release"
archive=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' "Identifier: Packages" | sed -n "s/ $VERSION_CODENAME\$//p" | head -n 1)
[ -n "$archive" ] || skip "apt has no archive of $VERSION_CODENAME"

(cd "$build" && cpack -G DEB >/dev/null)
work=$(mktemp -d "${TMPDIR:-/tmp}/fastgate-package-XXXXXX")
root=$work/root
clean() {
	umount "$root/proc" 2>/dev/null || true
	rm -rf --one-file-system "$work"
}
trap clean EXIT
trap 'exit 130' INT TERM
inside() { chroot "$root" /usr/bin/env -i HOME=/root LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"; }

debootstrap --variant=minbase "$VERSION_CODENAME" "$root" "$archive" >"$work/log" 2>&1 || {
	tail -n 5 "$work/log" >&2
	skip "debootstrap could not make a root"
}
mount -t proc proc "$root/proc"
cp "$build"/fastgate_*.deb "$build"/fastgate-i386_*.deb "$root/tmp/"
say() { echo "== $*"; }

say "fastgate alone"
inside sh -c 'apt-get install -y -q --no-install-recommends /tmp/fastgate_*.deb' >"$work/log" 2>&1 || {
	tail -n 20 "$work/log" >&2
	exit 1
}
if inside dpkg-query -W libc6-i386 >/dev/null 2>&1; then
	echo "package.sh: fastgate alone brought a 32-bit libc" >&2
	exit 1
fi
inside fastgate --version
inside perfdb --version
inside sh -c 'cd /tmp && fastgate record -o seq.fgt -- seq 3000000 >/dev/null && fastgate view seq.fgt' >"$work/view"
grep -q seq "$work/view" || { cat "$work/view" >&2; exit 1; }
# Libraries opened at run time were also installed.
inside sh -c 'cd /tmp && fastgate archive seq.fgt -o seq.tar.zst && fastgate view seq.tar.zst' >"$work/unpacked"
grep -q seq "$work/unpacked" || { cat "$work/unpacked" >&2; exit 1; }
inside sh -c 'cd /tmp && fastgate push --url http://127.0.0.1:1' >"$work/fetched" 2>&1 && exit 1
grep -q "127.0.0.1:1: " "$work/fetched" || { cat "$work/fetched" >&2; exit 1; }
inside perfdb token --database postgresql://nobody@127.0.0.1:1/none >"$work/asked" 2>&1 && exit 1
grep -q "cannot connect to" "$work/asked" || { cat "$work/asked" >&2; exit 1; }
status=0
inside sh -c 'cd /tmp && fastgate duel --pairs 4:6 "seq 1000000" "seq 3000000"' >"$work/duel" || status=$?
cat "$work/duel"
[ "$status" -eq 1 ] || { echo "package.sh: three times the work: exit code $status, expected 1" >&2; exit 1; }

say "fastgate-i386 next to it"
inside sh -c 'apt-get install -y -q --no-install-recommends /tmp/fastgate-i386_*.deb' >"$work/log" 2>&1 || {
	tail -n 20 "$work/log" >&2
	exit 1
}
say "removing both leaves nothing behind"
inside apt-get purge -y -q fastgate fastgate-i386 >/dev/null 2>&1
left=$(inside find /usr/bin /usr/lib /usr/share/fastgate -name '*fastgate*' 2>/dev/null || true)
[ -z "$left" ] || { echo "package.sh: left behind: $left" >&2; exit 1; }
echo "package.sh: installed, ran, removed"
