/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a project may hold another run.  What it holds is counted in the database every few
 * seconds, and what this server adds in between is added here: an upload costs no count of its own.
 * Until the next count, what other servers add is not known.  Inside perfdb/server/ only.
 */
#ifndef FG_PERFDB_SERVER_QUOTAS_H
#define FG_PERFDB_SERVER_QUOTAS_H

#include "base/base.h"
#include "base/error.h"

struct fg_quotas;
struct fg_store;
struct fg_usage;

struct fg_quotas *fg_quotas_new(void);
void fg_quotas_free(struct fg_quotas *quotas);
/*
 * FG_ELIMIT: the project has reached a quota, or would pass it with `more` (a size of 0: not known
 * yet).  Nobody is refused by a count that is old.
 */
int fg_quotas_check(struct fg_quotas *quotas, struct fg_store *store, const char *project,
		    const struct fg_usage *more, struct fg_error *err) FG_NODISCARD;
/* It was stored. */
void fg_quotas_add(struct fg_quotas *quotas, const char *project, const struct fg_usage *more);
/* Limits were set, or runs were removed: ask again. */
void fg_quotas_forget(struct fg_quotas *quotas);

#endif
