#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The hardening check catches what it should: builds a program without each part, and expects the part to be named.
# usage: hardening-catches.sh CC READELF
set -eu
here=$(dirname "$0")
cc=$1 readelf=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/main.c" <<'C'
#include <stdio.h>
int main(int argc, char **argv)
{
	char text[64];

	return snprintf(text, sizeof(text), "%s", argv[argc - 1]) < 0 || puts(text) < 0;
}
C
good='-O0 -fPIE -pie -fstack-protector-strong -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack'

expect() { # expected text, flags that remove one part
	# shellcheck disable=SC2086
	"$cc" $good $2 "$folder/main.c" -o "$folder/program"
	said=$("$here/hardening.sh" "$readelf" "$folder/program") && echo "not caught: $2" && exit 1
	[ "$said" = "$folder/program: $1" ] || { echo "$2: expected '$1', got: $said" && exit 1; }
}

# shellcheck disable=SC2086
"$cc" $good "$folder/main.c" -o "$folder/good"
"$here/hardening.sh" "$readelf" "$folder/good"
expect 'not position independent' '-fno-PIE -no-pie'
expect 'no RELRO' '-Wl,-z,norelro'
expect 'no BIND_NOW' '-Wl,-z,lazy'
expect 'executable stack' '-Wl,-z,execstack'
expect "RPATH: $folder" "-Wl,-rpath,$folder"
expect 'no stack protector' '-fno-stack-protector'
