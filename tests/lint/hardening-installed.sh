#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every installed binary is hardened, including new ones.
# usage: hardening-installed.sh CMAKE READELF BUILD_FOLDER PATH_END...   The ends of paths that must be installed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cmake=$1 readelf=$2 build=$3
shift 3
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
"$cmake" --install "$build" --prefix "$prefix" >"$prefix/log" || { cat "$prefix/log" && exit 1; }

# Our file names contain no spaces.
cd "$prefix"
binaries=$(find . -type f -exec sh -c 'test "$(head -c 4 "$1" | tr -d "\177")" = ELF && echo "${1#./}"' - {} \;)
for name in "$@"; do
	echo "$binaries" | grep -q "$name\$" || { echo "$name is not installed" && exit 1; }
done
# shellcheck disable=SC2086
"$here/hardening.sh" "$readelf" $binaries && echo "$binaries"
