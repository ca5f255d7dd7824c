/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that somebody we do not trust has named: they stay below a folder and outside any `.git`,
 * and no link on the way is followed.
 *
 * Paths are relative, without "..".  FG_EINVAL: this one leads elsewhere; the message says why.
 */
#ifndef FG_BASE_BENEATH_H
#define FG_BASE_BENEATH_H

#include "base/base.h"
#include "base/error.h"

/* What exists of the path.  The rest may be missing. */
int fg_beneath_check(const char *folder, const char *path, struct fg_error *err) FG_NODISCARD;
/* Makes missing folders.  A regular file is replaced as a whole; anything else is FG_EINVAL. */
int fg_beneath_write(const char *folder, const char *path, const void *data, size_t size,
		     struct fg_error *err) FG_NODISCARD;

#endif
