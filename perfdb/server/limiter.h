/* SPDX-License-Identifier: Apache-2.0 */
/* Limits requests per minute and caller. Private to perfdb/server/. */
#ifndef FG_PERFDB_SERVER_LIMITER_H
#define FG_PERFDB_SERVER_LIMITER_H

#include "base/base.h"

struct fg_limiter;

struct fg_limiter *fg_limiter_new(unsigned per_minute);
void fg_limiter_free(struct fg_limiter *limiter); /* NULL is fine */
/*
 * Counts one request of this caller. Returns 0 or, if the allowance is used up, the number of
 * seconds until the next minute.
 */
unsigned fg_limiter_count(struct fg_limiter *limiter, const char *caller, int64_t now_ns);

#endif
