#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Static libraries for the archive of `./dev package`: libraries.sh FOLDER JOBS [ARM64_ROOT]
# Some are not packaged as such, or only with more behind them than fastgate uses.  They are built from the distribution's own sources,
# in the version of what is installed, into FOLDER/prefix; FOLDER/made says from what.  Nothing is done twice.
# With ARM64_ROOT, of scripts/arm64/root.sh, they are for arm64; FOLDER must then lie in ARM64_ROOT/root.
set -eu
mkdir -p "$1/lists/partial"
folder=$(cd "$1" && pwd)
jobs=$2
prefix=$folder/prefix
die() {
	echo "libraries.sh: $*" >&2
	exit 2
}

packages="libzydis-dev libcjson-dev libcurl4-openssl-dev libarchive-dev libmicrohttpd-dev libpq-dev"
# shellcheck disable=SC2086
wanted=$(dpkg-query -W -f '${Package} ${source:Package} ${source:Version}\n' $packages) || die "needs the packages $packages"
wanted="$wanted
$(sha256sum <"$0")"
[ "$(cat "$folder/wanted" 2>/dev/null)" = "$wanted" ] || rm -rf "$prefix" "$folder/sources"
[ ! -e "$prefix/all" ] || exit 0
mkdir -p "$prefix/lib" "$folder/sources"
printf '%s\n' "$wanted" >"$folder/wanted"

# The mirrors that apt uses here, asked for sources; apt checks their signatures.
apt-get indextargets --format 'deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' "Identifier: Packages" |
	grep " $(. /etc/os-release && echo "$VERSION_CODENAME")" | sort -u >"$folder/sources.list"
apt() {
	apt-get -q -o APT::Sandbox::User=root -o Dir::Etc::SourceList="$folder/sources.list" -o Dir::Etc::SourceParts=- \
		-o Dir::State::Lists="$folder/lists" "$@" >"$folder/log" 2>&1
}
apt update || die "apt-get update failed: $folder/log"
# The same bytes in every folder; a program links only the used parts of a library.
export CFLAGS="-O2 -fPIC -ffunction-sections -fdata-sections -fstack-protector-strong -ffile-prefix-map=$folder=. -w" LC_ALL=C
export CC=gcc AR=ar RANLIB=ranlib
host=
if [ -n "${3:-}" ]; then
	arm64=$(cd "$3" && pwd)
	CC="$(ls "$arm64"/tools/usr/bin/aarch64-linux-gnu-gcc-[0-9]*) --sysroot=$arm64/root"
	AR=$arm64/tools/usr/bin/aarch64-linux-gnu-ar
	RANLIB=$arm64/tools/usr/bin/aarch64-linux-gnu-ranlib
	export PKG_CONFIG_SYSROOT_DIR="$arm64/root" PKG_CONFIG_LIBDIR="$arm64/root/usr/lib/aarch64-linux-gnu/pkgconfig:$arm64/root/usr/share/pkgconfig"
	host=--host=aarch64-linux-gnu
fi

source_of() { # package: unpacked, its patches applied, below sources/PACKAGE
	! ls -d "$folder/sources/$1"/*/ >/dev/null 2>&1 || return 0
	mkdir -p "$folder/sources/$1"
	cd "$folder/sources/$1"
	# A mirror keeps only the newest of a release, which has the same interface.
	apt source "$(dpkg-query -W -f '${source:Package}=${source:Version}' "$1")" ||
		apt source "$(dpkg-query -W -f '${source:Package}' "$1")" || die "no source of $1: $folder/log"
}
inside() { # package command...
	name=$1
	shift
	(cd "$folder/sources/$name"/*/ && "$@") >"$folder/$name.log" 2>&1 || {
		tail -n 20 "$folder/$name.log" >&2
		die "$name could not be built: $folder/$name.log"
	}
}
configured() { # package configure-option...
	[ ! -e "$prefix/$1" ] || return 0
	source_of "$1"
	name=$1
	shift
	# Files made by autotools are up to date, whatever their times are after patches.
	# shellcheck disable=SC2086
	inside "$name" sh -c 'jobs=$1 && shift && ./configure --disable-shared --enable-static --with-pic --disable-dependency-tracking "$@" &&
		make -s -j "$jobs" ACLOCAL=: AUTOMAKE=: AUTOCONF=: AUTOHEADER=: MAKEINFO=: install' sh "$jobs" $host --prefix="$prefix" "$@"
	: >"$prefix/$name"
}
objects() { # package library flag-or-file...: a library that is a handful of files
	name=$1
	library=$2
	shift 2
	inside "$name" sh -c 'rm -f *.o && $CC $CFLAGS -c "$@" && $AR rcsD "$0" *.o' "$prefix/lib/$library" "$@"
}

source_of libzydis-dev
objects libzydis-dev libZydis.a -DZYDIS_STATIC_BUILD -DZYCORE_STATIC_BUILD -Iinclude -Isrc $(cd "$folder"/sources/libzydis-dev/*/ && ls src/*.c)
source_of libcjson-dev
objects libcjson-dev libcjson.a -DCJSON_HIDE_SYMBOLS cJSON.c
configured libcurl4-openssl-dev --with-openssl --without-ca-bundle --without-ca-path --without-brotli --without-gssapi --without-libidn2 \
	--without-libpsl --without-librtmp --without-libssh2 --without-nghttp2 --without-zstd --disable-ldap --disable-ldaps --disable-manual \
	--disable-dict --disable-file --disable-ftp --disable-gopher --disable-imap --disable-mqtt --disable-pop3 --disable-rtsp --disable-smb \
	--disable-smtp --disable-telnet --disable-tftp --disable-ares --disable-libcurl-option
configured libarchive-dev --disable-bsdtar --disable-bsdcpio --disable-bsdcat --disable-acl --disable-xattr --without-bz2lib --without-libb2 \
	--without-lz4 --without-lzma --without-lzo2 --without-cng --without-nettle --without-mbedtls --without-openssl --without-xml2 --without-expat
# The proxy in front does TLS: GnuTLS cannot be linked statically without being built too.
sed -i 's/ iconv$//' "$prefix/lib/pkgconfig/libarchive.pc" # it is in libc
configured libmicrohttpd-dev --disable-https --disable-doc --disable-examples --disable-curl
source_of libpq-dev
# The library contains the names of its folders, so they must be those of every host.
inside libpq-dev sh -c './configure $3 --prefix=/usr --sysconfdir=/etc --with-openssl --without-readline --without-zlib --without-gssapi --without-ldap &&
	make -s -C src/backend generated-headers && make -s -C src/common -j "$2" && make -s -C src/port -j "$2" &&
	make -s -C src/interfaces/libpq -j "$2" all-static-lib && cp src/interfaces/libpq/libpq.a "$1/lib" &&
	cp src/common/libpgcommon_shlib.a "$1/lib/libpgcommon.a" && cp src/port/libpgport_shlib.a "$1/lib/libpgport.a"' sh "$prefix" "$jobs" "$host"
cat >"$prefix/lib/pkgconfig/libpq.pc" <<TXT
Name: libpq
Description: PostgreSQL, linked statically
Version: $(pkg-config --modversion libpq)
Requires: libssl libcrypto
Libs: -L$prefix/lib -lpq -lpgcommon -lpgport
Cflags: $(pkg-config --cflags libpq)
TXT
cat >"$folder/made" <<'TXT'
libZydis.a libzydis-dev
libcjson.a libcjson-dev
libcurl.a libcurl4-openssl-dev
libarchive.a libarchive-dev
libmicrohttpd.a libmicrohttpd-dev
libpq.a libpq-dev
libpgcommon.a libpq-dev
libpgport.a libpq-dev
TXT
: >"$prefix/all"
