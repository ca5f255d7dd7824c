#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The rules about pages catch what they should: a wrong name of a test, a test case, a file or a heading, and a page
# that the map does not lead to.
set -eu
python=$1
root=$2
build=$3
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
mkdir -p "$copy/docs" "$copy/scripts" "$copy/examples/perfdb" "$copy/tests/integration"
echo '[a page](docs/page.md)' >"$copy/README.md"
cp "$root/scripts/packages.txt" "$copy/scripts"
cp "$root/examples/perfdb/Containerfile" "$copy/examples/perfdb"
cp -r "$root/tests/integration/collector" "$copy/tests/integration"

expect() { # text of the page, expected finding; empty: none
	printf "$1\n" >"$copy/docs/page.md"
	said=$("$python" "$root/scripts/check-documents.py" "$copy" "$build") || true
	case $2,$said in
	,) ;;
	,* | *,) echo "expected '$2', got: $said" && exit 1 ;;
	*) case $said in *"$2"*) ;; *) echo "expected '$2', got: $said" && exit 1 ;; esac ;;
	esac
}
expect '`lint.documents` and `unit.base_*` exist' ''
expect '`lint.document` does not' 'docs/page.md: test lint.document does not exist'
expect '`unit.bases_*` do not' 'docs/page.md: test unit.bases_* does not exist'
table='| promise | test |\n|---|---|\n| `left_column`'
expect "$table | \`no_call_is_cut_short\`, \`lint.documents\` |" ''
expect "$table | \`no_call_is_cut\`, \`lint.documents\` |" 'docs/page.md: test no_call_is_cut does not exist'
expect '[text](missing.md)' 'link to missing.md: the file does not exist'
expect '# One\n[text](#two)' 'link to #two: the page has no such heading'
echo '[a page](docs/page.md#one)' >"$copy/README.md"
expect '# One' 'the map of the documentation does not lead to docs/page.md'
