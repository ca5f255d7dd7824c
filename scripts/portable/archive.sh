#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# archive.sh BUILD_FOLDER LIBRARIES_FOLDER TARGET_FOLDER [ARM64_ROOT]: makes one archive for every distribution.
# Packs the build of the `portable` or `portable-arm64` preset. The same sources give the same bytes.
set -eu
build=$(cd "$1" && pwd)
libraries=$(cd "$2" && pwd)
target=$(cd "$3" && pwd)
source=$(cd "$(dirname "$0")/../.." && pwd)
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:.*=//p' "$build/CMakeCache.txt")
machine=$(uname -m)
[ -z "${4:-}" ] || machine=aarch64
name=fastgate-$version-linux-$machine
seconds=${SOURCE_DATE_EPOCH:-$(git -C "$source" log -1 --format=%ct)}
stage=$build/stage
rm -rf "$stage"
umask 022

cmake --install "$build" --prefix "$stage/$name" --strip >/dev/null
python3 "$source/scripts/portable/sbom.py" "$build" "$libraries" "$version" "$seconds" ${4:+"$4"} >"$stage/$name/share/doc/fastgate/sbom.spdx.json"

# Programs must run with nothing from the host but its kernel, and libraries with glibc 2.17.
for program in "$stage/$name"/bin/*; do
	! readelf -d "$program" | grep NEEDED || { echo "archive.sh: $program is not static" >&2; exit 1; }
done
for library in "$stage/$name"/lib/*/fastgate/*.so "$stage/$name"/lib/*/fastgate/lib32/*.so; do
	[ -e "$library" ] || continue # arm64 has no library for 32-bit programs
	newest=$(objdump -T "$library" | grep -o 'GLIBC_[0-9.]*' | sort -V | tail -n 1)
	[ "$(printf 'GLIBC_2.17\n%s\n' "${newest:-}" | sort -V | tail -n 1)" = GLIBC_2.17 ] ||
		{ echo "archive.sh: $library needs $newest" >&2; exit 1; }
done
tar --create --sort=name --format=gnu --mtime="@$seconds" --owner=0 --group=0 --numeric-owner -C "$stage" "$name" |
	zstd -19 -q -T1 -f -o "$target/$name.tar.zst"
rm -rf "$stage"
