#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests the collector in programs of other distributions, and the release archive on those distributions: anywhere.sh
# BUILD_FOLDER ARCHIVE [RELEASE...] The archive runs in an otherwise empty root first.  Then, for each Debian release,
# the script makes a root outside of the checkout, from the package archive that apt uses here; compiles the target
# programs in it; lets this build's tests run them under this build's collector; gates the quick start with the
# release archive; and removes the root.  Needs root; exits with 77 (skipped) and the reason if it cannot run.
set -eu
build=$(realpath "$1")
packed=$(realpath "$2")
shift 2
[ $# -gt 0 ] || set -- bullseye bookworm trixie forky
skip() {
	echo "anywhere.sh: skipped: $*" >&2
	exit 77
}
[ "$(id -u)" -eq 0 ] || skip "only root can make a root"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
# Runs in its own mount namespace, so that no mount is left behind.
[ -n "${FASTGATE_TEST_MOUNTS:-}" ] || FASTGATE_TEST_MOUNTS=1 exec unshare --mount sh "$0" "$build" "$packed" "$@"

source=$(cd "$(dirname "$0")/../../.." && pwd)
targets=$build/tests/targets
archive=$(apt-get indextargets --format '$(REPO_URI)' "Identifier: Packages" "Codename: $(. /etc/os-release && echo "$VERSION_CODENAME")" | head -n 1)
[ -n "$archive" ] || skip "apt has no archive of this release"
work=$(mktemp -d "${TMPDIR:-/tmp}/fastgate-anywhere-XXXXXX")
root=$work/root
unmount() {
	for point in "$root$work/scratch" "$root$build" "$root$source" "$root/dev" "$root/proc" "$targets"; do
		umount -R "$point" 2>/dev/null || true
	done
}
clean() {
	unmount
	rm -rf --one-file-system "$work"
}
trap clean EXIT
trap 'exit 130' INT TERM

make_root() { # release
	script=/usr/share/debootstrap/scripts/$1
	[ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid # for a release that is newer than this debootstrap
	debootstrap --variant=minbase --include=g++,make,git,libunwind8 "$1" "$root" "$archive" "$script" >"$work/log" 2>&1 || {
		tail -n 5 "$work/log" >&2
		echo "anywhere.sh: debootstrap could not make a root of $1" >&2
		exit 1
	}
}

# The root's programs replace the host's where the tests look for them, both inside and outside of the root.
mount_all() {
	mkdir -p "$work/scratch" "$root$work/scratch" "$root$source" "$root$build"
	mount -t tmpfs targets "$targets"
	mount --rbind "$source" "$root$source"
	mount --rbind "$build" "$root$build"
	mount --bind "$work/scratch" "$root$work/scratch"
	mount --rbind /dev "$root/dev"
	mount -t proc proc "$root/proc"
}

compile='set -eu
cd "$1"
mkdir -p "$2/libraries"
library="gcc -D_GNU_SOURCE -O2 -fomit-frame-pointer -fPIC -shared -Wl,--build-id"
$library -o "$2/libentering.so" lib/entering_library.c -ldl
for number in 0 1 2 3; do
	$library -DNUMBER=$number -o "$2/libraries/libchain$number.so" lib/chain_library.c
	$library -DNUMBER=$number -o "$2/libraries/libtls$number.so" lib/tls_library.c
done
g++ -O2 -fPIC -shared -o "$2/libthrowing.so" lib/throwing_library.cpp
for name in $3; do
	gcc -std=gnu17 -D_GNU_SOURCE -O2 -g -fomit-frame-pointer -rdynamic -I../../include -o "$2/$name" "$name.c" -L"$2" -Wl,-rpath,"$2" \
		-Wl,--as-needed -lentering -lm -lrt -ldl -lpthread
done'
programs="lockstep tick_aliasing short_threads ticking burst kernel deep chain storm_dlopen storm_fork eintr itt names own_signal waits woken yielding
	sandbox stacks regions throwing two_threads thread_ends tls entering"

# No libc and no certificates: only the archive.
bare=$work/bare
mkdir "$bare"
zstd -dcq "$packed" | tar -xf - -C "$bare" --strip-components=1
for program in fastgate perfdb; do
	chroot "$bare" "/bin/$program" --version
done
alone() { env -i "$(command -v chroot)" "$bare" /bin/fastgate "$@" 2>&1; }
mkdir "$bare/tmp"
echo 'main;work 10' >"$bare/tmp/folded"
run=$(alone import /tmp/folded | sed -n 's/^imported as run \([0-9a-f-]*\).*/\1/p')
said=$(alone push --url https://127.0.0.1:1 "$run") && exit 1
case $said in
*"install the package ca-certificates"*) ;;
*) echo "anywhere.sh: without certificates: $said" >&2 && exit 1 ;;
esac
# A folder mounted noexec stays empty.
mkdir "$work/noexec"
mount -t tmpfs -o noexec noexec "$work/noexec"
said=$(sh "$source/install.sh" "$packed" "$work/noexec" "$(sha256sum <"$packed" | cut -d ' ' -f 1)" 2>&1) && exit 1
left=$(ls -A "$work/noexec")
umount "$work/noexec"
case $left:$said in
:*"mounted noexec"*) ;;
*) echo "anywhere.sh: a noexec folder: $said $left" >&2 && exit 1 ;;
esac

failed=
for release in "$@"; do
	make_root "$release"
	mount_all
	chroot "$root" sh -c "$compile" sh "$source/tests/targets" "$targets" "$programs"
	echo "== $release: $(chroot "$root" ldd --version | head -n 1)"
	for subject in truth guest; do
		FASTGATE_TEST_ROOT=$root TMPDIR=$work/scratch "$build/tests/integration/collector/test_integration_collector_$subject" >"$work/log" 2>&1 ||
			failed="$failed $release/$subject"
		grep -E 'ERROR|FAILED|PASSED' "$work/log"
	done
	# A release may have a different version of cmocka from the one that the test is linked to.
	cp "$(ldd "$build/tests/unit/collector/test_unit_collector_walk" | sed -n 's/.*libcmocka.* => \(.*\) (.*/\1/p')" "$root/usr/lib/"
	for index in auto own; do
		if chroot "$root" env FASTGATE_COLLECTOR_INDEX=$index TMPDIR="$work/scratch" "$build/tests/unit/collector/test_unit_collector_walk" >"$work/log" 2>&1; then
			echo "stacks are libunwind's, found by the index: $index"
		elif grep "GLIBC_.* not found" "$work/log"; then
			echo "left out: stacks compared with libunwind's, because the test itself needs a newer glibc"
			break
		else
			failed="$failed $release/walk-$index"
			cat "$work/log"
		fi
	done
	mkdir "$root/opt/fastgate"
	cp -a "$bare/." "$root/opt/fastgate"
	if chroot "$root" env -i PATH=/usr/bin:/bin HOME=/root FASTGATE=/opt/fastgate/bin/fastgate sh "$source/examples/quickstart/demo.sh" /tmp/demo \
		>"$work/log" 2>&1 && grep -q "find *table.c:" "$work/log"; then
		echo "the archive gates the quick start"
	else
		failed="$failed $release/archive"
		cat "$work/log"
	fi
	unmount
	rm -rf --one-file-system "$root"
done
[ -z "$failed" ] || { echo "anywhere.sh: failed:$failed" >&2; exit 1; }
echo "anywhere.sh: sampled the truth and gated in $*"
