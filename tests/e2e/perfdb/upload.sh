#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# upload.sh FASTGATE PERFDB: a run is sent when it is stored; without a server it waits, and the exit code shows
# that. In CI, a later step sends the exported run to a server that only that step knows (docs/ci.md).
set -eu
fastgate=$1
perfdb=$2
. "$(cd "$(dirname "$0")" && pwd)/common.sh"
write_config 'url: "http://127.0.0.1:1", upload: required'
code=0
"$fastgate" run >words 2>&1 || code=$?
[ $code = 5 ] || { cat words; fail "a required upload that failed: exit code $code, expected 5"; }
"$fastgate" push --status | grep -q '^1 waiting' || fail "the run does not wait in the spool"
! "$fastgate" push --url perf.example.org >words 2>&1 || fail "an address without a protocol was accepted" words
! grep -q ' waiting' words || fail "counts of runs before an error about the address" words
code=0
"$fastgate" run --set perfdb.upload=when-possible >words 2>&1 || code=$?
[ $code = 0 ] || { cat words; fail "an upload that is only wished for: exit code $code, expected 0"; }
start_server --quiet
PERFDB_URL=$url PERFDB_TOKEN=$(cat perfdb.db.key)
export PERFDB_URL PERFDB_TOKEN
"$fastgate" run --set "perfdb.url=$url" >words 2>&1 || { cat words; fail "the upload failed"; }
[ "$("$fastgate" runs --store perfdb.db --json | grep -c '"id"')" = 3 ] || fail "not every run arrived"
"$fastgate" push --status | grep -q '^0 waiting' || fail "something is left in the spool"
"$fastgate" push --url "$url" >words 2>&1 || fail "pushing nothing failed" words
grep -q 'nothing to send' words || fail "nothing to send, and no line says so" words
write_config 'upload: required'
env -u PERFDB_URL -u PERFDB_TOKEN "$fastgate" run --no-post --export step.fgrun >words 2>&1 || fail "the step that measures failed" words
"$fastgate" push --when-possible step.fgrun >words 2>&1 || fail "the step that sends failed" words
grep -q '1 sent' words || fail "the exported run was not sent" words
[ "$("$fastgate" runs --store perfdb.db --json | grep -c '"id"')" = 4 ] || fail "the exported run did not arrive"
stop_server
"$fastgate" runs export latest -o run.fgrun 2>/dev/null
"$fastgate" runs import --store other.db run.fgrun 2>/dev/null
"$fastgate" show latest --store other.db | grep -q '^project *demo' || fail "the exported run did not arrive"
"$perfdb" backup --database perfdb.db --to copy.db && "$perfdb" check --database copy.db 2>/dev/null || fail "the backup is not whole"

# Without the host's certificates, no server can be trusted.
alone() { env -u SSL_CERT_FILE unshare --user --map-root-user --mount sh -ec 'for folder in /etc/ssl /etc/pki; do
	[ ! -d $folder ] || mount -t tmpfs none $folder
done
exec "$@"' sh "$@"; }
if alone true 2>words; then
	! alone "$fastgate" push --url https://127.0.0.1:1 run.fgrun 2>words || fail "a server is trusted without certificates" words
	grep -q 'no certificates to check .*: install the package ca-certificates' words || fail "no line says that there are no certificates" words
else
	echo "left out, nothing can be mounted here: a host without certificates"
fi
