#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the fixtures of a release in FOLDER, once: make.sh FASTGATE FOLDER.  README.md explains their purpose.
set -eu
fastgate=$(realpath "$1")
mkdir -p "$2"
target=$(cd "$2" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cp "$here/fastgate.yml" "$here/spin.c" .
git init -q && git add . && git -c user.name=fixture -c user.email=fixture@example.invalid commit -q -m "a commit"
"$fastgate" run --against HEAD >/dev/null 2>&1 || test $? -le 1
cc -g -O1 spin.c -o spin
"$fastgate" runs export latest -o "$target/run.fgrun" 2>/dev/null
"$fastgate" report latest -o "$target/report.json" 2>/dev/null
"$fastgate" -q record --rate 1000 -o trace -- ./spin >/dev/null 2>&1
zstd -q -19 -f trace/*.fgtrace -o "$target/trace.fgtrace.zst"
sqlite3 .fastgate/store.db "VACUUM INTO 'small.db'"
zstd -q -19 -f small.db -o "$target/store.db.zst"
cp fastgate.yml "$target"
"$fastgate" -q export -F json trace | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["samples"]))' >"$target/trace.samples"
