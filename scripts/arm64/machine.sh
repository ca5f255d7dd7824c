#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# machine.sh [KERNEL]: tests the collector on a whole emulated arm64 machine.  Unlike `test.sh`, that covers the signals, perf events,
# signed return addresses and SVE registers of a real kernel.  KERNEL is an arm64 kernel, by default that of root.sh.
set -eu
cd "$(dirname "$0")/../.."
source=$PWD
root=$PWD/build/arm64-root
kernel=${1:-$root/kernel}
tests="integration/collector/test_integration_collector_guest integration/collector/test_integration_collector_truth
	unit/collector/test_unit_collector_walk unit/collector/test_unit_collector_restart"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
disk=$work/disk
build=$disk$source/build/arm64
mkdir -p "$disk/bin" "$disk/proc" "$disk/sys" "$disk/dev" "$disk/tmp" "$disk/usr/lib" "$disk/etc" "$build/tests"
ln -s usr/lib "$disk/lib"
cp "$root/root/usr/bin/busybox" "$disk/bin/" 2>/dev/null || cp "$root/root/bin/busybox" "$disk/bin/"
echo 'root:x:0:0::/:/bin/sh' >"$disk/etc/passwd"
for name in sh true cat sleep env; do
	ln -s busybox "$disk/bin/$name"
done
for path in tests/targets lib; do
	mkdir -p "$build/$path"
	cp -a "build/arm64/$path/." "$build/$path"
done
find "$build" -name CMakeFiles -o -name '*.a' -o -name '*.cmake' | xargs rm -rf
for test in $tests; do
	mkdir -p "$build/tests/${test%/*}"
	cp "build/arm64/tests/$test" "$build/tests/$test"
done

# Copy the libraries that the tests need, and the libraries that those need.
libraries=$root/root/usr/lib/aarch64-linux-gnu
mkdir -p "$disk/usr/lib/aarch64-linux-gnu"
cp -L "$libraries/ld-linux-aarch64.so.1" "$disk/usr/lib/" 2>/dev/null || cp -L "$root/root/usr/lib/ld-linux-aarch64.so.1" "$disk/usr/lib/"
todo=$(find "$build/tests" -type f -perm -u+x)
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
echo "machine: Linux \$(busybox uname -r)"
for test in $(echo $tests); do
	$source/build/arm64/tests/\$test 2>&1
	echo "machine: \$test ended with \$?"
done
busybox poweroff -f
TXT
chmod 755 "$disk/init"
(cd "$disk" && find . | cpio --quiet -o -H newc -R 0:0 | gzip -1) >"$work/disk.gz"
qemu-system-aarch64 -M virt -cpu max,pauth-impdef=on -smp 2 -m 3G -nographic -no-reboot -nic none -kernel "$kernel" -initrd "$work/disk.gz" \
	-append "console=ttyAMA0 quiet panic=-1 sysctl.kernel.perf_event_paranoid=1" </dev/null >"$work/log" 2>&1 || true
grep -aE '^machine: |\[  (ERROR|PASSED|FAILED)|SKIPPED' "$work/log" || true
failed=0
for test in $tests; do
	grep -aq "^machine: $test ended with 0" "$work/log" || failed=1
done
[ $failed -eq 0 ] || { cat "$work/log" >&2 && exit 1; }
echo "the collector's tests passed on an arm64 machine: $(sed -n 's/^machine: \(Linux.*\)/\1/p' "$work/log" | tr -d '\r')"
