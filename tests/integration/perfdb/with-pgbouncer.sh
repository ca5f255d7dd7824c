#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a program with PERFDB_TEST_URL naming a pgbouncer in transaction mode, in front of a PostgreSQL made for it
# alone. The pool is small, so each transaction of a client may use another session of the server.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ -n "${PERFDB_TEST_URL:-}" ] || exec "$here/with-postgresql.sh" "$here/with-pgbouncer.sh" "$@"
bouncer=$(command -v pgbouncer || echo /usr/sbin/pgbouncer)
[ -x "$bouncer" ] || { echo "skipped: pgbouncer is not installed"; exit 77; }
socket=${PERFDB_TEST_URL#*host=}
folder=$(mktemp -d "${TMPDIR:-/tmp}/fastgate-pgb-XXXXXX")
# shellcheck disable=SC2329
end() {
	[ -z "${process:-}" ] || { kill "$process" && wait "$process" || :; } 2>/dev/null
	rm -rf "$folder"
}
trap end EXIT INT TERM
cat >"$folder/ini" <<INI
[databases]
postgres = host=$socket user=perfdb pool_size=5
[pgbouncer]
pool_mode = transaction
server_round_robin = 1
auth_type = any
listen_addr =
unix_socket_dir = $folder
unix_socket_mode = 0777
max_client_conn = 100
INI
chmod 755 "$folder"
as=""
if [ "$(id -u)" = 0 ]; then
	chown -R postgres "$folder"
	as="setpriv --reuid postgres --clear-groups --"
fi
cd "$folder"
$as "$bouncer" ini >"$folder/log" 2>&1 &
process=$!
until [ -S "$folder/.s.PGSQL.6432" ]; do
	kill -0 "$process" 2>/dev/null || { echo "pgbouncer did not start"; cat "$folder/log"; exit 1; }
done
PERFDB_TEST_URL="postgresql://perfdb@/postgres?host=$folder&port=6432" "$@"
