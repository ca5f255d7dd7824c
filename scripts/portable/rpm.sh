#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# rpm.sh ARCHIVE: makes an .rpm of the archive, next to it. The same archive gives the same bytes.
set -eu
archive=$(realpath "$1")
name=${archive##*/fastgate-}
version=${name%%-*}
machine=${name##*-linux-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git -C "$(dirname "$0")" log -1 --format=%ct)}"
rpmbuild --quiet -bb --target "${machine%.tar.zst}" --define "_topdir $work" --define "_rpmdir ${archive%/*}" --define '_build_name_fmt %%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm' \
	--define "archive $archive" --define "version $version" --define 'use_source_date_epoch_as_buildtime 1' --define 'clamp_mtime_to_source_date_epoch 1' \
	--define '_buildhost localhost' "$(dirname "$0")/fastgate.spec" >"$work/said" 2>&1 || { cat "$work/said" >&2 && exit 1; }
