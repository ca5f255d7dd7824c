#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The fastgate.yml at the root builds what it measures: each program is a target of its build.
set -eu
root=$1
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
options=$(grep -o -- '-D[A-Z_]*=[A-Za-z]*' "$root/fastgate.yml")
# shellcheck disable=SC2086 # each option is a word
cmake -S "$root" -B "$copy" $options >"$copy/log" 2>&1 || { tail -5 "$copy/log" && exit 1; }
cmake --build "$copy" --target help >"$copy/targets"
programs=$(sed -n 's|.*command: build/self/bench/self/||p' "$root/fastgate.yml")
[ -n "$programs" ] || { echo "fastgate.yml measures no program of bench/self" && exit 1; }
for target in $(sed -n 's/.*--target \([a-z]*\).*/\1/p' "$root/fastgate.yml") $programs; do
	grep -q " $target\$\|^$target:" "$copy/targets" || { echo "no target '$target' with $options" && exit 1; }
done
