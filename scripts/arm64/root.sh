#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# root.sh FOLDER: unpacks into FOLDER everything that a build for arm64 needs, without installing it: FOLDER/tools gets the cross
# compiler and the emulator, FOLDER/root the libraries of an arm64 system and the programs of a first gate, FOLDER/libraries the
# source package of each static library; FOLDER/kernel is a kernel, and FOLDER/kernel-16k one with pages of 16 KiB. (Installing the
# compiler would remove gcc-multilib.)
# Does nothing if this script made FOLDER from the same list of packages, otherwise starts over. Needs apt and an
# archive with arm64, such as Debian's.
set -eu
cd "$(dirname "$0")/../.."
folder=$1
list="libc6-dev libstdc++6 libcmocka-dev libbz2-dev gcc make git bash dash coreutils gzip sed grep busybox-static $(awk '$1 == "build" && $2 ~ /-dev$/ { print $2 }' scripts/packages.txt | tr '\n' ' ')"
wanted=$({ cat scripts/arm64/root.sh && echo "$list"; } | sha256sum)
[ "$(cat "$folder/made" 2>/dev/null)" = "$wanted" ] && exit 0
rm -rf "$folder"
mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial" "$folder/tools" "$folder/root"
folder=$(realpath "$folder")
for link in bin lib sbin; do # as on a merged-/usr system, where /lib is /usr/lib
	mkdir -p "$folder/root/usr/$link"
	ln -s "usr/$link" "$folder/root/$link"
done

# Unpack programs for the host, from the host's package lists: the cross compiler, without its libc, and the emulator.
compiler=$(apt-cache depends gcc-aarch64-linux-gnu g++-aarch64-linux-gnu | sed -n 's/.*Depends: \(g[c+]*-[0-9]*-aarch64-linux-gnu\)$/\1/p')
[ -n "$compiler" ] || { echo "root.sh: apt knows no gcc-aarch64-linux-gnu" >&2 && exit 2; }
# shellcheck disable=SC2086
tools="qemu-user-static $(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances $compiler |
	grep -E '^[a-z].*(aarch64-linux-gnu|arm64-cross)$' | grep -vE '^(linux-)?libc6?-' | sort -u | tr '\n' ' ')"
# shellcheck disable=SC2086
(cd "$folder/apt/cache" && apt-get -q -o APT::Sandbox::User=root download $tools >/dev/null)
unpack() { # PACKAGE tools|root
	dpkg --fsys-tarfile "$1" | tar -x --keep-directory-symlink -C "$folder/$2"
	source=$(dpkg-deb -W --showformat '${source:Package} ${source:Version}' "$1")
	dpkg --fsys-tarfile "$1" | tar -t | sed -n "s|^\./\(.*\.a\)\$|$2/\1 $source|p" >>"$folder/libraries"
}
for package in "$folder/apt/cache"/*.deb; do
	unpack "$package" tools
done

# Download the libraries and all their dependencies, as if nothing were installed.
cat >"$folder/apt/conf" <<TXT
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "root";
Dir::State "$folder/apt";
Dir::State::status "$folder/apt/status";
Dir::Cache "$folder/apt/cache";
TXT
: >"$folder/apt/status"
APT_CONFIG=$folder/apt/conf
export APT_CONFIG
apt-get -q update >/dev/null 2>"$folder/apt/said" || { cat "$folder/apt/said" >&2 && exit 2; }
# shellcheck disable=SC2086
apt-get -q -y --no-install-recommends --download-only install $list >"$folder/apt/said" 2>&1 || {
	tail -n 5 "$folder/apt/said" >&2
	echo "root.sh: this archive has not all of an arm64 system" >&2
	exit 2
}
for package in "$folder"/apt/cache/archives/*.deb; do
	unpack "$package" root
done
# Make the links that the packages' own scripts would have made.
ln -sf gcc "$folder/root/usr/bin/cc"
ln -sf dash "$folder/root/usr/bin/sh"
kernel() { # PACKAGE FILE
	(cd "$folder/apt" && apt-get -q download "$(apt-cache depends "$1" | sed -n 's/^ *Depends: //p')" >/dev/null)
	dpkg --fsys-tarfile "$folder"/apt/linux-image-*.deb | tar -x --wildcards -O './boot/vmlinuz-*' >"$folder/$2"
	rm "$folder"/apt/linux-image-*.deb
}
kernel linux-image-arm64 kernel
# Debian's releases since 13 have a kernel with pages of 16 KiB.
archive=$(apt-get indextargets --format '$(REPO_URI)' "Identifier: Packages" "Codename: $(. /etc/os-release && echo "$VERSION_CODENAME")" | head -n 1)
echo "deb $archive stable main" >"$folder/apt/list"
printf 'Dir::Etc { SourceList "%s"; SourceParts "-"; };\n' "$folder/apt/list" >>"$folder/apt/conf"
apt-get -q update >/dev/null 2>&1 && kernel linux-image-arm64-16k kernel-16k
rm -rf "$folder/apt"
echo "$wanted" >"$folder/made"
