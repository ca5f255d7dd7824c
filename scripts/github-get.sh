#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The first step of action.yml: finds fastgate and writes its path to GITHUB_OUTPUT. Takes the installed fastgate, the
# archive given in the inputs, or the archive of the action's own release; if no archive can be installed,
# builds the action's sources. FASTGATE_ACTION_* come from the inputs, except that FASTGATE_ACTION_REF is the ref in the workflow and
# FASTGATE_ACTION_RELEASES is the address of the action's releases.
set -eu
prefix=${RUNNER_TEMP:-/tmp}/fastgate-prebuilt
version=$(sed -n 's/^project(fastgate VERSION \([0-9.]*\).*/\1/p' "$GITHUB_ACTION_PATH/CMakeLists.txt")
program=${FASTGATE_ACTION_PROGRAM:-}
if [ -z "$program" ]; then
	rm -rf "$prefix"
	program=$prefix/bin/fastgate
	if [ -n "${FASTGATE_ACTION_ARCHIVE:-}" ]; then
		sh "$GITHUB_ACTION_PATH/install.sh" "$FASTGATE_ACTION_ARCHIVE" "$prefix" "${FASTGATE_ACTION_SHA256:-}" >&2 || {
			echo "::error::the archive was not installed" >&2
			exit 2
		}
	elif ! expr "${FASTGATE_ACTION_REF:-}" : 'v[0-9]' >/dev/null ||
		! sh "$GITHUB_ACTION_PATH/install.sh" "$FASTGATE_ACTION_RELEASES/v$version" "$prefix" >&2; then
		echo "no release archive can be installed: building fastgate, which takes minutes" >&2
		"$GITHUB_ACTION_PATH/dev" build product >&2
		program=$GITHUB_ACTION_PATH/build/product/cli/fastgate
	fi
fi
echo "program=$program" >>"$GITHUB_OUTPUT"
