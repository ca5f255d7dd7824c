#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# operations.sh FASTGATE PERFDB: uploads to a server with a self-signed certificate and tokens, also through a proxy,
# as fastgate.yml says; then backup and restore. No file that was written may contain the token.
set -eu
fastgate=$1
perfdb=$2
here=$(cd "$(dirname "$0")" && pwd)
command -v openssl >/dev/null || { echo "skipped: openssl is not installed"; exit 77; }
. "$here/common.sh"
make_certificate
"$perfdb" token create --database perfdb.db --project demo --scope upload >token.words 2>&1
token=$(grep -o 'fgt_[0-9a-f]*' token.words)
rm token.words
[ ${#token} = 68 ] || fail "no token was made"
start_server --tls-cert cert.pem --tls-key key.pem
keys="url: \"$url\", token_env: PERFDB_DEMO_SECRET, upload: required"
export PERFDB_URL="$url"
write_config "$keys"
export PERFDB_DEMO_SECRET="$token"
code=0
"$fastgate" run >words.1 2>&1 || code=$?
[ $code = 5 ] || { cat words.1; fail "a certificate that nobody vouches for: exit code $code, expected 5"; }
grep -qi 'certificate' words.1 || { cat words.1; fail "the message does not speak of the certificate"; }
write_config "$keys, ca_file: cert.pem"
"$fastgate" push >words.2 2>&1 || { cat words.2; fail "push does not take server, token and certificate from fastgate.yml"; }
"$fastgate" run >words.3 2>&1 || { cat words.3; fail "the upload after a run failed"; }
code=0
PERFDB_DEMO_SECRET=fgt_wrong "$fastgate" run >words.4 2>&1 || code=$?
[ $code = 5 ] || fail "a wrong token: exit code $code, expected 5"
"$fastgate" push --json >words.5 2>&1 || { cat words.5; fail "the run that waited was not sent"; }
if command -v python3 >/dev/null; then
	python3 "$here/connect_proxy.py" >proxy.words &
	proxy=$!
	started="$started $proxy"
	until port=$(sed -n 's/^port //p' proxy.words) && [ -n "$port" ]; do
		kill -0 "$proxy" || fail "the proxy did not start"
	done
	https_proxy="http://127.0.0.1:$port" "$fastgate" run >words.6 2>&1 || { cat words.6; fail "the upload through a proxy failed"; }
	grep -q '^CONNECT 127.0.0.1:' proxy.words || fail "the proxy was not asked"
	kill "$proxy"
	wait "$proxy" 2>/dev/null || :
fi
stored() { "$fastgate" runs --store "$1" --limit 100 --json | grep -c '"id"' || :; }
count=$(stored perfdb.db)
[ "$count" -ge 3 ] || fail "$count runs arrived, 3 or more were sent"
unset PERFDB_DEMO_SECRET
if grep -rl "$token" . ; then
	fail "the token was written down"
fi
"$perfdb" backup --database perfdb.db --to copy.db >words.7 2>&1 || { cat words.7; fail "no backup of a database that is served"; }
stop_server
grep -q '"path":"/api/v1/runs"' server.log || { head -3 server.log; fail "the log does not tell of uploads"; }
mv copy.db perfdb.db
rm -f perfdb.db-wal perfdb.db-shm
"$perfdb" check --database perfdb.db >words.8 2>&1 || { cat words.8; fail "the restored backup is not whole"; }
[ "$(stored perfdb.db)" = "$count" ] || fail "the backup holds $(stored perfdb.db) runs, there were $count"
