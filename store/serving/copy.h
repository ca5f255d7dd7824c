/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copying from one store to another, of either kind.  Existing rows are written again, so a second
 * attempt does no harm.
 */
#ifndef FG_STORE_SERVING_COPY_H
#define FG_STORE_SERVING_COPY_H

#include "base/base.h"
#include "base/error.h"

struct fg_store;

/* One run with everything that belongs to it. */
int fg_store_copy(struct fg_store *from, struct fg_store *to, const char *id, struct fg_error *err)
	FG_NODISCARD;
/* Tokens, notes, decisions; the runs must be there. */
int fg_store_copy_access(struct fg_store *from, struct fg_store *to, struct fg_error *err)
	FG_NODISCARD;

#endif
