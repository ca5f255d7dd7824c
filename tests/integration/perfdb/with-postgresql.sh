#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a program with PERFDB_TEST_URL naming a PostgreSQL made for it alone: its own folder, a socket in that
# folder, no TCP. PostgreSQL refuses to run as root; if root runs this script, PostgreSQL runs as the user postgres.
# The output of initdb is kept in the tests' working folder for the next test. Only processes fail in these tests, not
# the machine, so nothing is synced to the disk.
set -eu
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
[ -x "$bin/initdb" ] || { echo "skipped: PostgreSQL's server is not installed"; exit 77; }
kept=$PWD/postgresql-$("$bin/initdb" --version | tr -cd '0-9.')-$(id -u).tar
folder=$(mktemp -d "${TMPDIR:-/tmp}/fastgate-pg-XXXXXX")
as=""
if [ "$(id -u)" = 0 ]; then
	id postgres >/dev/null 2>&1 || { echo "skipped: running as root, and there is no user postgres"; rm -rf "$folder"; exit 77; }
	command -v runuser >/dev/null || { echo "skipped: running as root without runuser"; rm -rf "$folder"; exit 77; }
	chown postgres "$folder"
	as="runuser -u postgres --"
fi
chmod 755 "$folder"
# shellcheck disable=SC2329
end() {
	$as "$bin/pg_ctl" -D "$folder/data" -m immediate stop >/dev/null 2>&1 || :
	rm -rf "$folder"
}
trap end EXIT INT TERM
cd "$folder"
if ! tar xpf "$kept" 2>/dev/null; then
	rm -rf data
	$as "$bin/initdb" -D "$folder/data" -U perfdb -A trust --no-sync -E UTF8 --locale=C.UTF-8 >"$folder/initdb.log" 2>&1
	# The rename makes the file appear complete or not at all: other tests start at the same time.
	{ tar cf "$kept.$$" data && mv "$kept.$$" "$kept"; } 2>/dev/null || rm -f "$kept.$$"
fi
$as "$bin/pg_ctl" -D "$folder/data" -w -t 60 -l "$folder/data/log" \
	-o "-c listen_addresses='' -c unix_socket_directories='$folder' -c unix_socket_permissions=0777 -c max_connections=50 -c fsync=${PERFDB_TEST_FSYNC:-off}" start >/dev/null
PERFDB_TEST_URL="postgresql://perfdb@/postgres?host=$folder" "$@"
