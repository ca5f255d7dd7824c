#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# upload.sh FASTGATE PERFDB: a run is sent when it is stored; without a server it waits, and says so by its exit code.
set -eu
fastgate=$1
perfdb=$2
folder=$(mktemp -d "${TMPDIR:-/tmp}/fastgate-test-XXXXXX")
server=
# shellcheck disable=SC2329
clean() {
	[ -z "$server" ] || kill "$server" 2>/dev/null || :
	rm -rf "$folder"
}
trap clean EXIT
cd "$folder"
cat >fastgate.yml <<'END'
version: 1
project: demo
benchmarks:
  - name: nothing
    command: /bin/true
measure:
  pairs: { min: 3, max: 3 }
perfdb: { url: "http://127.0.0.1:1", upload: required }
END
fail() {
	echo "$1"
	exit 1
}
code=0
"$fastgate" run >words 2>&1 || code=$?
[ $code = 5 ] || { cat words; fail "a required upload that failed: exit code $code, expected 5"; }
"$fastgate" push --status | grep -q '^1 waiting' || fail "the run does not wait in the spool"
code=0
"$fastgate" run --set perfdb.upload=when-possible >words 2>&1 || code=$?
[ $code = 0 ] || { cat words; fail "an upload that is only wished for: exit code $code, expected 0"; }
"$perfdb" serve --quiet --database perfdb.db --listen 127.0.0.1:0 2>server.words &
server=$!
until url=$(sed -n 's/.* at \(http[^ ]*\).*/\1/p' server.words) && [ -n "$url" ]; do
	kill -0 "$server" || fail "the server did not start"
done
"$fastgate" run --set "perfdb.url=$url" >words 2>&1 || { cat words; fail "the upload failed"; }
[ "$("$fastgate" runs --store perfdb.db --json | grep -c '"id"')" = 3 ] || fail "not every run arrived"
"$fastgate" push --status | grep -q '^0 waiting' || fail "something is left in the spool"
kill "$server"
wait "$server" || fail "the server did not stop in order"
server=
"$fastgate" runs export latest -o run.fgrun 2>/dev/null
"$fastgate" runs import --store other.db run.fgrun 2>/dev/null
"$fastgate" baseline set gold latest --store other.db 2>/dev/null
"$fastgate" show gold --store other.db | grep -q '^project *demo' || fail "the exported run did not arrive"
"$perfdb" backup --database perfdb.db --to copy.db && "$perfdb" check --database copy.db 2>/dev/null || fail "the backup is not whole"
