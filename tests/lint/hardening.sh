#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks from the files themselves how binaries were hardened.  usage: hardening.sh READELF FILE...
#
# Prints one line per finding; without findings, prints nothing and exits with 0.  A program must have the stack
# protector.  A library need not, because the collector is built without it: it runs in signal handlers of other
# people's threads, before their guard is set up.
set -eu
readelf=$1
shift
status=0

finding() { # file, text
	echo "$1: $2"
	status=1
}

for file in "$@"; do
	all=$("$readelf" -hldW "$file") # header, segments and dynamic section
	has() { printf '%s\n' "$all" | grep -Eq -e "$1"; }

	has '^ *Type: +DYN' || finding "$file" "not position independent"
	has '^ *GNU_RELRO ' || finding "$file" "no RELRO"
	has '\((FLAGS|FLAGS_1|BIND_NOW)\).*NOW' || finding "$file" "no BIND_NOW"
	has '^ *GNU_STACK .* RW ' || finding "$file" "executable stack"
	has '\((RPATH|RUNPATH)\)' && finding "$file" "RPATH: $(printf '%s\n' "$all" | sed -n 's/.*PATH).*\[\(.*\)\].*/\1/p')"
	has '\(TEXTREL\)' && finding "$file" "text relocations"
	if has '^ *INTERP |\(FLAGS_1\).* PIE' && ! "$readelf" -sW "$file" | grep -q ' __stack_chk_fail'; then
		finding "$file" "no stack protector"
	fi
done
exit $status
