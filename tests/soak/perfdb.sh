#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# perfdb.sh BUILD_FOLDER SECONDS: a server is killed again and again while runs are pushed to it.  What was confirmed is
# there afterwards, each once; what was not is still in the spool.
set -eu
build=$1
end=$(($(date +%s) + ${2:-60}))
folder=$(mktemp -d "${TMPDIR:-/tmp}/fastgate-soak-XXXXXX")
server=
# shellcheck disable=SC2329
clean() {
	[ -z "$server" ] || kill -9 "$server" 2>/dev/null || :
	rm -rf "$folder"
}
trap clean EXIT
start() {
	: >"$folder/words"
	"$build/perfdb/server/perfdb" serve --quiet --database "$folder/perfdb.db" --listen 127.0.0.1:0 2>"$folder/words" &
	server=$!
	until url=$(sed -n 's/.* at \(http[^ ]*\).*/\1/p' "$folder/words") && [ -n "$url" ]; do
		kill -0 "$server" || { cat "$folder/words"; exit 1; }
		sleep 0.05
	done
}
rounds=0
while [ "$(date +%s)" -lt "$end" ]; do
	rounds=$((rounds + 1))
	rm -rf "$folder/spool"
	"$build/tests/web/fg_web_runs" "$folder/spool"
	sent=$(find "$folder/spool" -name '*.fgrun' | wc -l)
	start
	"$build/cli/fastgate" push --quiet --attempts 1 --spool "$folder/spool" --url "$url" >/dev/null 2>&1 &
	client=$!
	# Between nothing and about a second, another number in every round.
	sleep "0.$(printf '%03d' $((rounds * 617 % 700)))"
	kill -9 "$server"
	wait "$server" 2>/dev/null || :
	[ $((rounds % 2)) = 0 ] || kill -9 "$client" 2>/dev/null || :
	wait "$client" 2>/dev/null || :
	start
	"$build/cli/fastgate" push --quiet --spool "$folder/spool" --url "$url"
	kill "$server"
	wait "$server" || { echo "the server did not stop in order"; exit 1; }
	server=
	"$build/perfdb/server/perfdb" check --database "$folder/perfdb.db" 2>/dev/null || { echo "damaged after round $rounds"; exit 1; }
	stored=$("$build/cli/fastgate" runs --store "$folder/perfdb.db" --limit 1000 --json | grep -c '"id"')
	[ "$stored" = "$sent" ] || { echo "round $rounds: $stored runs, $sent were confirmed"; exit 1; }
	rm -f "$folder/perfdb.db"*
done
echo "$rounds rounds: every confirmed run there, each once"
