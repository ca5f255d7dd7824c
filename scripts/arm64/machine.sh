#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# machine.sh [KERNEL...]: tests the collector on a whole emulated arm64 machine. Unlike `test.sh`, this covers the
# signals, perf events, signed return addresses, SVE registers and pages of a real kernel. By default, tests the
# kernels that root.sh unpacked.
set -eu
cd "$(dirname "$0")/../.."
source=$PWD
root=$PWD/build/arm64-root
[ $# -gt 0 ] || set -- "$root"/kernel*
tests="integration/collector/test_integration_collector_guest integration/collector/test_integration_collector_truth
	unit/collector/test_unit_collector_walk unit/collector/test_unit_collector_restart"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
disk=$work/disk
build=$disk$source/build/arm64
mkdir -p "$disk/bin" "$disk/proc" "$disk/sys" "$disk/dev" "$disk/tmp" "$disk/usr/lib" "$disk/etc" "$build/tests"
ln -s usr/lib "$disk/lib"
for name in busybox bash dash true cat sleep env seq ls wc head gzip cksum; do
	cp "$root/root/usr/bin/$name" "$disk/bin/"
done
ln -s dash "$disk/bin/sh"
echo 'root:x:0:0::/:/bin/sh' >"$disk/etc/passwd"
for path in tests/targets lib; do
	mkdir -p "$build/$path"
	cp -a "build/arm64/$path/." "$build/$path"
done
find "$build" -name CMakeFiles -o -name '*.a' -o -name '*.cmake' | xargs rm -rf
for test in $tests; do
	mkdir -p "$build/tests/${test%/*}"
	cp "build/arm64/tests/$test" "$build/tests/$test"
done

# Copy the libraries that the programs need, directly or through other libraries.
libraries=$root/root/usr/lib/aarch64-linux-gnu
mkdir -p "$disk/usr/lib/aarch64-linux-gnu"
cp -L "$libraries/ld-linux-aarch64.so.1" "$disk/usr/lib/" 2>/dev/null || cp -L "$root/root/usr/lib/ld-linux-aarch64.so.1" "$disk/usr/lib/"
todo=$(find "$build/tests" "$disk/bin" -type f -perm -u+x)
while [ -n "$todo" ]; do
	needed=$(for file in $todo; do readelf -d "$file" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'; done | sort -u)
	todo=
	for name in $needed; do
		[ -e "$libraries/$name" ] && [ ! -e "$disk/usr/lib/aarch64-linux-gnu/$name" ] || continue
		cp -L "$libraries/$name" "$disk/usr/lib/aarch64-linux-gnu/$name"
		todo="$todo $libraries/$name"
	done
done
cat >"$disk/init" <<TXT
#!/bin/sh
busybox mount -t proc proc /proc
busybox mount -t sysfs sysfs /sys
busybox mount -t devtmpfs devtmpfs /dev
echo "machine: Linux \$(busybox uname -r), pages of \$(busybox awk '/^KernelPageSize/ { print \$2 " KiB"; exit }' /proc/self/smaps)"
for test in $(echo $tests); do
	$source/build/arm64/tests/\$test 2>&1
	echo "machine: \$test ended with \$?"
done
busybox poweroff -f
TXT
chmod 755 "$disk/init"
# Unpacks a kernel that is compressed in an EFI program, which the emulator cannot start. Prints the path of the
# kernel to start.
plain() { # KERNEL
	[ "$(head -c 8 "$1" | tail -c 4)" = zimg ] || { echo "$1" && return; }
	# shellcheck disable=SC2046
	set -- "$1" $(od -An -tu4 -j8 -N8 "$1") "$(tail -c +25 "$1" | head -c 4)"
	tail -c "+$(($2 + 1))" "$1" | head -c "$3" | "$4" -dc >"$work/kernel"
	echo "$work/kernel"
}
(cd "$disk" && find . | cpio --quiet -o -H newc -R 0:0 | gzip -1) >"$work/disk.gz"
# The guest's clock advances 1 ns per instruction and jumps over waits, so the host's load does not influence the tests.
for kernel in "$@"; do
	qemu-system-aarch64 -M virt -cpu max,pauth-impdef=on -icount shift=0,sleep=off -m 3G -nographic -no-reboot -nic none -kernel "$(plain "$kernel")" -initrd "$work/disk.gz" \
		-append "console=ttyAMA0 quiet panic=-1 sysctl.kernel.perf_event_paranoid=1" </dev/null >"$work/log" 2>&1 || true
	grep -aE '^machine: |\[  (ERROR|PASSED|FAILED)|SKIPPED' "$work/log" || true
	for test in $tests; do
		grep -aq "^machine: $test ended with 0" "$work/log" || { cat "$work/log" >&2 && exit 1; }
	done
	echo "the collector's tests passed on an arm64 machine: $(sed -n 's/^machine: \(Linux.*\)/\1/p' "$work/log" | tr -d '\r')"
done
