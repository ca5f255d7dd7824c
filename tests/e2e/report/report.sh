#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# `fastgate report` as a user runs it: report.sh FASTGATE MAKE_STORE GOLDEN_FOLDER
set -eu
fastgate=$1
make_store=$2
golden=$3
folder=$(mktemp -d "${TMPDIR:-/tmp}/fastgate-report-XXXXXX")
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir .fastgate
"$make_store" .fastgate/store.db
failures=0

fail() {
	echo "FAILED: $*"
	failures=$((failures + 1))
}

# expect CODE WORDS COMMAND...: the exit code, and text on stderr
expect() {
	code=$1 words=$2
	shift 2
	status=0
	"$@" >out 2>err || status=$?
	[ "$status" -eq "$code" ] || fail "'$*' ended with $status, expected $code: $(cat err)"
	grep -qF -- "$words" err || fail "'$*' does not say '$words' but: $(cat err)"
}

# Every format gives the same bytes twice; six of them are compared with the golden files.
for format in terminal json junit markdown comment html github gitlab csv csv-raw; do
	"$fastgate" report --format "$format" >first
	"$fastgate" report --format "$format" -o second
	cmp first second || fail "$format differs between two calls"
done
for pair in terminal:txt json:json junit:junit.xml markdown:md gitlab:metrics.txt csv:csv; do
	"$fastgate" report --format "${pair%%:*}" | cmp - "$golden/mixed.${pair#*:}" || fail "$pair is not the golden file"
done

# Annotations refer to lines of the checkout; --source-root names it, and files outside have none.
"$fastgate" report --format github --source-root /src/ | grep -q '^::error file=reco/fit.cpp,line=[0-9]*,' || fail "--source-root does not lead to the file"
for root in /src/rec /elsewhere /src/reco/fit.cpp; do
	! "$fastgate" report --format github --source-root "$root" | grep -q 'file=' || fail "--source-root $root leads to a file"
done

# The file's extension selects the format.
"$fastgate" report -o page.html
head -c 15 page.html | grep -q '<!DOCTYPE html>' || fail "page.html is not HTML"
"$fastgate" report -o junit.xml
cmp -s junit.xml "$golden/mixed.junit.xml" || fail "junit.xml is no JUnit"
"$fastgate" report --json | cmp - "$golden/mixed.json" || fail "--json is not the JSON report"

# Wrong options, runs and targets are reported by name.
expect 2 "did you mean 'junit'?" "$fastgate" report --format juint
expect 2 "expected one of terminal, json" "$fastgate" report --format powerpoint
status=0
"$fastgate" report nosuchrun >out 2>err || status=$?
[ "$status" -ne 0 ] && grep -q nosuchrun err || fail "an unknown run is not named: $(cat err)"
echo old >kept.html
status=0
"$fastgate" report -o no/such/folder/r.html 2>err || status=$?
[ "$status" -ne 0 ] && grep -q 'no/such/folder/r.html' err || fail "the path is not named: $(cat err)"
if [ -w /dev/full ]; then
	status=0
	"$fastgate" report --format html >/dev/full 2>err || status=$?
	[ "$status" -ne 0 ] && [ -s err ] || fail "a full disk is not noticed"
	status=0
	"$fastgate" report --format html -o /dev/full 2>err || status=$?
	[ "$status" -ne 0 ] && grep -q 'No space left' err || fail "a full disk is not named: $(cat err)"
	[ -c /dev/full ] || fail "/dev/full was replaced"
fi
# A limit of 64 KiB per file simulates a full disk: the old report stays, and no other file is left.
status=0
(ulimit -f 128; trap '' XFSZ; "$fastgate" report -o kept.html) 2>err || status=$?
[ "$status" -ne 0 ] && grep -q kept.html err || fail "a file that cannot grow is not named: $(cat err)"
[ "$(cat kept.html)" = old ] || fail "the old report was damaged"
[ "$(find . -maxdepth 1 -name '*kept.html*' | wc -l)" -eq 1 ] || fail "something was left behind"
exit $((failures > 0))
