/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From one store to another, of whatever kind.  What is there already is written again: a second
 * try does no harm.
 */
#ifndef FG_STORE_SERVING_COPY_H
#define FG_STORE_SERVING_COPY_H

#include "base/base.h"
#include "base/error.h"

struct fg_store;

/* One run with all that hangs from it. */
int fg_store_copy(struct fg_store *from, struct fg_store *to, const char *id, struct fg_error *err)
	FG_NODISCARD;
/* Tokens, notes, decisions and baselines; the runs must be there. */
int fg_store_copy_access(struct fg_store *from, struct fg_store *to, struct fg_error *err)
	FG_NODISCARD;

#endif
