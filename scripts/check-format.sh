#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that clang-format 14 would not change any C or C++ file. Other versions differ in details, so they are
# not used.
set -u
cd "$1" || exit 2
tool=clang-format-14
command -v $tool >/dev/null || tool=clang-format
case $($tool --version 2>/dev/null) in
*" 14."*) ;;
*) echo "clang-format 14 is not installed: skipped" && exit 77 ;;
esac
find . \( -name '*.c' -o -name '*.h' -o -name '*.cpp' \) -not -path './build/*' -not -path '*/node_modules/*' -print0 |
	xargs -0 -r -n 40 -P 2 $tool --dry-run -Werror --ferror-limit=3
status=$?
[ $status -eq 0 ] || echo "fix it with: ./dev format"
exit $status
