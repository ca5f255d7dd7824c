#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The step of action.yml that takes a prebuilt archive of `./dev package` instead of building.  FASTGATE_ACTION_ARCHIVE is an address
# or a path, FASTGATE_ACTION_SHA256 what its content must hash to: without it, or with another, nothing is unpacked.
set -eu
archive=${FASTGATE_ACTION_ARCHIVE:?}
wanted=${FASTGATE_ACTION_SHA256:-}
folder=${RUNNER_TEMP:-/tmp}/fastgate-prebuilt
if [ "${#wanted}" -ne 64 ]; then
	echo "::error::archive-sha256 is missing: an archive is run only if its SHA-256 is the one that you expect" >&2
	exit 2
fi
rm -rf "$folder"
mkdir -p "$folder"
case $archive in
*://*) curl --fail --silent --show-error --location --retry 3 --output "$folder/archive.tar.gz" "$archive" ;;
*) cp "$archive" "$folder/archive.tar.gz" ;;
esac
found=$(sha256sum "$folder/archive.tar.gz" | cut -d ' ' -f 1)
if [ "$found" != "$wanted" ]; then
	rm -rf "$folder"
	echo "::error::the archive's SHA-256 is $found, expected $wanted" >&2
	exit 2
fi
tar -xzf "$folder/archive.tar.gz" -C "$folder" --strip-components=1
rm "$folder/archive.tar.gz"
[ -x "$folder/bin/fastgate" ] || {
	echo "::error::there is no bin/fastgate in the archive" >&2
	exit 2
}
