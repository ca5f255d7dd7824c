#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# keeper.sh FASTGATE PERFDB: an operator's commands: tokens are listed and revoked, a database moves to another, old
# runs are counted before they are removed; an invalid command prints one line and exits with 2.
set -eu
fastgate=$1
perfdb=$2
. "$(cd "$(dirname "$0")" && pwd)/common.sh"
keep() { # words of perfdb...: standard output in `out`, standard error in `err`
	code=0
	timeout 500 "$perfdb" "$@" >out 2>err || code=$?
}
must() { # words of perfdb...
	keep "$@"
	[ $code = 0 ] || fail "perfdb $*: exit code $code" err
}
refused() { # exit code, text of the only line, words of perfdb...
	expected=$1 part=$2
	shift 2
	keep "$@"
	[ $code = "$expected" ] || fail "perfdb $*: exit code $code, expected $expected" err
	[ "$(wc -l <err)" = 1 ] && grep -q "^perfdb: .*$part" err || fail "perfdb $*: expected one line with '$part'" err
	[ ! -s out ] || fail "perfdb $*: refused, and something was written" out
}
stored() { "$fastgate" runs --store "$1" --limit 100 --json | grep '"id"' | sort; }

# Tokens: shown once, listed without their secret, refused once they are revoked.
must token create --database perfdb.db --project demo --scope upload --note "the build machine"
PERFDB_OWN_TOKEN=$(cat out)
export PERFDB_OWN_TOKEN
must token create --database perfdb.db --scope read --expires 0s
must token list --database perfdb.db
[ "$(wc -l <out)" = 2 ] || fail "two tokens were made" out
grep -q '^1  upload  demo .* never used  the build machine$' out || fail "the first token is not listed" out
grep -q '^2  read .* (all projects) ' out || fail "the second token is not listed" out
! grep -q "${PERFDB_OWN_TOKEN#fgt_}" out || fail "the list tells the secret"
start_server --quiet
export PERFDB_URL="$url"
write_config "url: \"$url\", token_env: PERFDB_OWN_TOKEN, upload: required"
for _ in 1 2; do
	"$fastgate" run >words 2>&1 || fail "the upload with a token failed" words
done
must token list --database perfdb.db
grep -q ' from 127.0.0.1  the build machine$' out || fail "the token was used, the list does not know" out
must token revoke 1 --database perfdb.db
must token list --database perfdb.db
grep -q '^1  upload  demo  *revoked ' out || fail "the list does not say that it was taken back" out
code=0
"$fastgate" run >words 2>&1 || code=$?
[ $code = 5 ] || fail "with a token that was taken back: exit code $code, expected 5" words
stop_server
refused 2 'expected: perfdb token create, list, or revoke NUMBER' token revoke --database perfdb.db
refused 2 'number' token revoke one --database perfdb.db
refused 1 '77' token revoke 77 --database perfdb.db
refused 2 'two years at most' token create --database perfdb.db --expires 84000d
refused 2 "'root' is not a scope" token create --database perfdb.db --scope root

# Moves runs and tokens to another database; a second time changes nothing.
stored perfdb.db >before
[ "$(wc -l <before)" = 2 ] || fail "two runs were sent" before
for _ in 1 2; do
	must migrate --database perfdb.db --to moved.db
	grep -q ' 2 runs copied' err || fail "migrate does not say how many runs went over" err
	stored moved.db | diff before - || fail "other runs arrived"
	python3 -c 'import sqlite3, sys
times = [row[0] for row in sqlite3.connect("moved.db").execute(
    "SELECT r.started_ns FROM series s JOIN run r ON r.id = s.run ORDER BY s.id")]
sys.exit(len(times) != 2 or times != sorted(times))' || fail "runs were not stored in the order in which they started"
	must token list --database moved.db
	[ "$(wc -l <out)" = 2 ] && grep -q ' revoked ' out && grep -q 'the build machine$' out || fail "the tokens did not go over" out
	must check --database moved.db
done
refused 2 'migrate needs --to DATABASE' migrate --database perfdb.db
refused 1 'nowhere' migrate --database nowhere.db --to moved.db

refused 2 'backup needs --to FILE' backup --database perfdb.db

# Old runs: --dry-run only counts, and the newest stays.
must gc --database perfdb.db --older-than 0d --keep 1 --dry-run
grep -q '1 run would be removed; old runs kept because of a tag: 0' err || fail "gc --dry-run" err
stored perfdb.db | diff before - || fail "gc --dry-run removed something"
must gc --database perfdb.db --older-than 0d --keep 1
grep -q '1 run removed' err || fail "gc" err
[ "$(stored perfdb.db | wc -l)" = 1 ] || fail "gc left another number of runs than the newest"

# Invalid arguments are refused, and an unknown command is answered with the help.
refused 2 'expected ADDRESS:PORT' serve --database perfdb.db --listen 127.0.0.1
refused 2 'expected ADDRESS:PORT' serve --database perfdb.db --listen 127.0.0.1:66000
keep lend
[ $code = 2 ] && grep -q "unknown command 'lend'" err && grep -q '^  migrate ' err || fail "an unknown command: exit code $code" err
keep
[ $code = 2 ] && [ ! -s out ] || fail "no command: exit code $code" err
for words in help --help -h; do
	must "$words"
	grep -q '^  token ' out && [ ! -s err ] || fail "perfdb $words" out
done
must --version
grep -q '^perfdb [0-9]' out || fail "no version" out
must gc --help
grep -q -- '--dry-run' out || fail "gc --help does not list its options" out
