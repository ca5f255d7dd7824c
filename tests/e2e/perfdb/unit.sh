#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# unit.sh PERFDB PERFDB_SERVICE: systemd accepts the unit and every line of it, and rates the service's exposure as
# low.
set -eu
command -v systemd-analyze >/dev/null || { echo "skipped: systemd-analyze is not installed"; exit 77; }
folder=$(mktemp -d "${TMPDIR:-/tmp}/fastgate-test-XXXXXX")
trap 'rm -rf "$folder"' EXIT
sed "s|/usr/bin/perfdb|$1|" "$2" >"$folder/perfdb.service"
systemd-analyze verify --man=no "$folder/perfdb.service" >"$folder/words" 2>&1 || { cat "$folder/words"; exit 1; }
# Warnings about other units on this machine do not count.
if grep perfdb.service "$folder/words"; then
	exit 1
fi
systemd-analyze security --help | grep -q -- --offline || { echo "skipped: this systemd-analyze cannot judge a file"; exit 77; }
# In tenths: 0 is no exposure, 100 is full exposure.
systemd-analyze security --offline=true --threshold=15 "$folder/perfdb.service" >"$folder/words" || { grep '✗' "$folder/words"; tail -n 1 "$folder/words"; exit 1; }
tail -n 1 "$folder/words"
