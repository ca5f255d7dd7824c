#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a program with PERFDB_TEST_URL naming a PostgreSQL and PERFDB_TEST_REPLICA naming a streaming replica of it,
# both made for it alone. PERFDB_TEST_REPLICA_CONTROL is a command with the argument `stop`, `start`, `pause` or
# `resume`.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ -n "${PERFDB_TEST_URL:-}" ] || exec "$here/with-postgresql.sh" "$here/with-replica.sh" "$@"
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
primary=${PERFDB_TEST_URL#*host=}
folder=$(mktemp -d "${TMPDIR:-/tmp}/fastgate-pgr-XXXXXX")
as=""
if [ "$(id -u)" = 0 ]; then
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
$as "$bin/pg_basebackup" -h "$primary" -U perfdb -D "$folder/data" -R -c fast --no-sync
cat >"$folder/control" <<CONTROL
#!/bin/sh
cd "$folder"
case \$1 in
stop) $as "$bin/pg_ctl" -D "$folder/data" -w -m immediate stop ;;
start) $as "$bin/pg_ctl" -D "$folder/data" -w -t 60 -l "$folder/data/log" \\
	-o "-c listen_addresses='' -c unix_socket_directories='$folder' -c unix_socket_permissions=0777 -c max_connections=50 -c fsync=off" start ;;
pause) psql -qAt "postgresql://perfdb@/postgres?host=$folder" -c "SELECT pg_wal_replay_pause()" ;;
resume) psql -qAt "postgresql://perfdb@/postgres?host=$folder" -c "SELECT pg_wal_replay_resume()" ;;
esac >/dev/null
CONTROL
chmod 755 "$folder/control"
"$folder/control" start
PERFDB_TEST_REPLICA="postgresql://perfdb@/postgres?host=$folder" PERFDB_TEST_REPLICA_CONTROL="$folder/control" "$@"
