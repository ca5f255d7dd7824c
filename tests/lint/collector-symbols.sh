#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The collector runs inside other people's programs: allow-lists limit the functions that it calls and those
# that it interposes, and it is linked with libc only.  usage: collector-symbols.sh NM READELF LIBRARY LISTS_FOLDER
set -eu
nm=$1 readelf=$2 library=$3 lists=$4
status=0

compare() { # what, file with the allow-list, names found
	extra=$(printf '%s\n' "$3" | LC_ALL=C sort -u | LC_ALL=C comm -13 "$2" -)
	if [ -n "$extra" ]; then
		echo "$1 that is not in $2:" $extra
		status=1
	fi
}

needed=$("$readelf" -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
for name in $needed; do
	case $name in
	libc.so.6 | ld-linux*.so.2) ;;
	*)
		echo "needs $name, and may need only libc"
		status=1
		;;
	esac
done
# The program may run on any glibc from this version on.
newer=$({ "$readelf" -VW "$library" | grep -oE 'GLIBC_[0-9.]+' && echo GLIBC_2.17; } | sort -uV | sed '1,/^GLIBC_2\.17$/d')
if [ -n "$newer" ]; then
	echo "needs" $newer", and may need GLIBC_2.17 at most"
	status=1
fi
# A handler must not be the first to access a variable whose memory malloc provides. So thread-local variables are in
# static storage, and there are few of them, because libraries loaded late share that space.
dynamic=$("$readelf" -rW "$library" | grep -cE 'DTPMOD|DTPOFF|TLSDESC|TLS_DESC' || true)
if [ "$dynamic" -gt 0 ]; then
	echo "$dynamic thread-local variables come from dynamic storage"
	status=1
fi
size=$(($("$readelf" -lW "$library" | awk '$1 == "TLS" { print $6 }')))
if [ "$size" -gt 256 ]; then
	echo "thread-local variables take $size bytes, and may take 256"
	status=1
fi
compare "an import" "$lists/collector-imports.txt" \
	"$("$nm" -D --undefined-only "$library" | awk '{ sub(/@.*/, "", $2); print $2 }')"
exports=$lists/collector-exports.txt
case $library in
*_counting.so | *_calls.so)
	kind=${library##*_}
	exports=$(mktemp)
	trap 'rm -f "$exports"' EXIT
	LC_ALL=C sort "$lists/collector-exports.txt" "$lists/collector-${kind%.so}-exports.txt" >"$exports"
	;;
esac
compare "an export" "$exports" \
	"$("$nm" -D --defined-only "$library" | awk '{ sub(/@.*/, "", $3); print $3 }')"
exit $status
