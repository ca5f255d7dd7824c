#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# release.sh FOLDER: checks that FOLDER, filled by `./dev package`, is ready for a release. The version in
# CMakeLists.txt must match the tag. Reports everything that is wrong, and then exits with 1.
set -eu
cd "$(dirname "$0")/../.."
dist=$1
version=$(sed -n 's/^project(fastgate VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
archive_of() { echo "fastgate-$version-linux-$1.tar.zst"; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wrong=0
check() { # words, command...
	words=$1
	shift
	if "$@" >"$work/said" 2>&1; then
		echo "ok     $words"
	else
		echo "WRONG  $words"
		sed 's/^/       /' "$work/said"
		wrong=1
	fi
}
is_small() { [ "$(wc -c <"$dist/$(archive_of "$1")")" -le 15000000 ]; }
is_first() { [ "$(sed -n 's/^## //p' CHANGELOG.md | head -n 1)" = "$version" ]; }
is_clean() { ! git status --porcelain | grep .; }
is_tagged() { [ "$(git describe --tags --exact-match HEAD)" = "v$version" ]; }
installs() { sh install.sh "$dist" "$work/prefix" && [ "$("$work/prefix/bin/fastgate" --version)" = "fastgate $version" ]; }
packs_rpm() { mkdir "$work/rpm" && (cd "$work/rpm" && rpm2cpio "$dist"/fastgate-*.x86_64.rpm | cpio -id --quiet && usr/bin/fastgate --version); }
has_sbom() { python3 -c 'import json, sys; sys.exit(len(json.load(open(sys.argv[1]))["packages"]) < 10)' "$work/prefix/share/doc/fastgate/sbom.spdx.json"; }
# Builds everything again in a folder with another name.
is_reproducible() (
	git clone -q . "$work/another-folder" && cd "$work/another-folder" && ./dev package && ./dev package arm64 &&
		for machine in x86_64 aarch64; do
			cmp "build/dist/$(archive_of "$machine")" "$dist/$(archive_of "$machine")" || exit 1
		done
)

check "nothing has changed since the last commit" is_clean
check "the last commit has the tag v$version" is_tagged
check "CHANGELOG.md begins with $version" is_first
for machine in x86_64 aarch64; do
	check "the archive for $machine is at most 15 MB: $(wc -c <"$dist/$(archive_of "$machine")") bytes" is_small "$machine"
done
check "install.sh installs it, and it runs" installs
check "the .rpm has the program, and it runs" packs_rpm
check "it lists the libraries linked into it" has_sbom
check "a build in another folder gives the same archives" is_reproducible
echo "to be uploaded to the release v$version:"
ls "$dist"/* install.sh
exit $wrong
