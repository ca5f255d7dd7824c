#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# generated.sh FASTGATE ROOT: the generated pages in docs/ are up to date.
set -eu
fastgate=$1
root=$2
docs=$root/docs
status=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

compare() { # committed file, arguments...
	file=$docs/$1
	shift
	"$fastgate" "$@" >"$scratch/now"
	if ! diff -u "$file" "$scratch/now" >"$scratch/diff"; then
		head -n 40 "$scratch/diff"
		echo "$file is not what 'fastgate $*' writes; fix it with: ./dev docs"
		status=1
	fi
}

compare schema/fastgate.schema.json config --json-schema
python3 "$root/scripts/tables.py" "$fastgate" "$root" --check || status=1
exit $status
