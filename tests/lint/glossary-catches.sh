#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The rule about the glossary's words checks text that people read, and no others.
set -eu
python=$1
root=$2
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git -C "$copy" init -q
mkdir -p "$copy/cli" "$copy/docs" "$copy/base"

expect() { # file, expected text (empty: no finding); the file's content comes from stdin
	cat >"$copy/$1"
	said=$("$python" "$root/scripts/check-glossary.py" "$copy") && code=0 || code=1
	rm "$copy/$1"
	if [ -z "$2" ]; then
		[ "$code" -eq 0 ] || { echo "expected no finding, got: $said" && exit 1; }
		return 0
	fi
	case $said in
	*"$1:1: the glossary's word is '$2"*) [ "$code" -eq 1 ] || { echo "'$2' was said, and the rule passed" && exit 1; } ;;
	*) echo "expected '$2', got: $said" && exit 1 ;;
	esac
}

expect cli/x.c 'informational' <<'C'
say("%s (shown only)", name);
C
expect docs/x.md 'interval' <<'M'
The confidence interval is wide.
M
expect docs/x.md 'smallest detectable change' <<'M'
The minimum detectable effect of this run.
M
expect cli/x.js 'Page not found' <<'J'
heading('Not found');
J
expect cli/x.js 'to blame' <<'J'
const words = `the offender is ${name}`;
J
# Texts for programmers, and texts that follow the glossary, pass.
expect cli/x.c '' <<'C'
static int offender; /* shown only to us */
C
expect base/x.c '' <<'C'
say("(shown only)");
C
expect docs/x.md '' <<'M'
The metric is informational, its interval is wide, and nobody is to blame. It was not decided by counting.
M
echo "the glossary's words are watched"
