#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A complete gate from start to finish: demo.sh [FOLDER].  A repository is made in FOLDER with this example as its only
# commit, a slowdown is planted in the work tree, and fastgate compares the two.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
fastgate=${FASTGATE:-fastgate}
folder=${1:-$(mktemp -d)}

rm -rf "$folder"
mkdir -p "$folder"
cp "$here/Makefile" "$here/fastgate.yml" "$here"/*.c "$here"/*.h "$folder"
cd "$folder"
printf '*.o\nwordcount\n.fastgate/\nfastgate.*ml\nfastgate.json\n!fastgate.yml\n' >.gitignore
git init -q .
git add .
git -c user.name=demo -c user.email=demo@example.org commit -q -m "Count words"
git apply "$here/slower.patch"

echo "In $folder, one line of table.c has changed since the last commit:"
git --no-pager diff --unified=0 table.c | sed -n 's/^\([-+]\s.*\)/    \1/p'
echo
echo "\$ fastgate run --against HEAD"
status=0
"$fastgate" run --against HEAD || status=$?
echo
echo "fastgate ended with exit code $status (1: a regression, the build fails)."
for report in fastgate.json fastgate.xml fastgate.html; do
	[ -f "$report" ] && echo "  $folder/$report"
done
[ "$status" -eq 1 ]
