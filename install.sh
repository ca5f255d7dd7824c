#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs a released fastgate, after checking its hash: install.sh FROM [PREFIX [SHA256]]
# FROM is the address or folder of a release, with the archives and SHA256SUMS, or a single archive, for which SHA256 is required.
# PREFIX defaults to /usr/local; nothing is written there unless everything succeeded.
set -eu
die() {
	echo "install.sh: $*" >&2
	exit 2
}
from=${1:?usage: install.sh FROM [PREFIX [SHA256]]}
prefix=${2:-/usr/local}
wanted=${3:-}
for tool in zstd tar sha256sum; do
	command -v "$tool" >/dev/null || die "$tool is missing: install it first"
done
mkdir -p "$prefix" && [ -w "$prefix" ] || die "cannot write to $prefix: choose a folder of your own, such as ~/.local"
work=$(mktemp -d "$prefix/.fastgate-XXXXXX")
trap 'rm -rf "$work"' EXIT
get() { # name-or-address: fetches it into $work
	case $1 in
	*://*) curl --fail --silent --show-error --location --retry 3 --output "$work/${1##*/}" "$1" || die "cannot fetch $1" ;;
	*) cp "$1" "$work" || die "$1 does not exist" ;;
	esac
}
if [ "${from%.tar.zst}" = "$from" ]; then
	get "$from/SHA256SUMS"
	name=$(sed -n "s/^[0-9a-f]*  \(fastgate-.*-linux-$(uname -m)\.tar\.zst\)\$/\1/p" "$work/SHA256SUMS")
	[ -n "$name" ] || die "$from has no archive for $(uname -m): build fastgate from source with ./dev install"
	wanted=${wanted:-$(sed -n "s/  $name\$//p" "$work/SHA256SUMS")}
	from=$from/$name
fi
[ "${#wanted}" -eq 64 ] || die "to install $from, give the SHA-256 that you expect"
get "$from"
found=$(sha256sum <"$work/${from##*/}")
[ "$found" = "$wanted  -" ] || die "the SHA-256 of $from is ${found%% *}, expected $wanted"
mkdir "$work/unpacked"
zstd -dcq "$work/${from##*/}" | tar -xf - -C "$work/unpacked" --strip-components=1
"$work/unpacked/bin/fastgate" --version || die "fastgate does not run in $prefix: is the file system mounted noexec, or is this not $(uname -m)?"
(cd "$work/unpacked" && tar -cf - -- *) | tar -xf - -C "$prefix" # replaces even a fastgate that is running
