/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files named by an untrusted party. They stay below a folder and outside any `.git`, and no
 * symbolic link in the path is followed.
 *
 * Paths are relative, without "..".  FG_EINVAL: the path would leave the folder; the message says
 * why.
 */
#ifndef FG_BASE_BENEATH_H
#define FG_BASE_BENEATH_H

#include "base/base.h"
#include "base/error.h"

/* Checks the part of the path that exists; the remainder may be missing. */
int fg_beneath_check(const char *folder, const char *path, struct fg_error *err) FG_NODISCARD;
/* Creates missing folders. Replaces a regular file as a whole; anything else is FG_EINVAL. */
int fg_beneath_write(const char *folder, const char *path, const void *data, size_t size,
		     struct fg_error *err) FG_NODISCARD;

#endif
