#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# package-needs.sh ARCHIVE: what a host must have to run an archive of `./dev package`: the version of
# glibc, and the libraries that are not in the archive, those that are opened when they are needed, too.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -xzf "$1" -C "$work"
files=$(find "$work" -type f \( -perm -100 -o -name '*.so' \) ! -path '*/lib32/*')
# shellcheck disable=SC2086
glibc=$(objdump -T $files 2>/dev/null | grep -o 'GLIBC_[0-9][0-9.]*' | sort -uV | tail -n 1)
# shellcheck disable=SC2086
libraries=$(readelf -d $files 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u |
	grep -v -e '^libc\.so' -e '^libm\.so' -e '^ld-linux' -e '^libfastgate')
# shellcheck disable=SC2086
opened=$(readelf -p .note.dlopen $files 2>/dev/null | sed -n 's/.*"soname":\["\([^"]*\)"\].*/\1/p')
echo "glibc ${glibc#GLIBC_} or later"
printf '%s\n' "$libraries" $opened | sort -u
