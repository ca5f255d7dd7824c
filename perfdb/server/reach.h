/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a webhook may lead.  Whoever may write a rule must not reach through this server what only
 * this server reaches: itself, its network, the machine's metadata.  Inside perfdb/server/ only.
 */
#ifndef FG_PERFDB_SERVER_REACH_H
#define FG_PERFDB_SERVER_REACH_H

#include "base/base.h"
#include "base/error.h"

struct fg_reach;

/* `allowed` are addresses or CIDR blocks that may be reached all the same. *reach is always set. */
int fg_reach_new(const char *const *allowed, size_t count, struct fg_reach **reach,
		 struct fg_error *err) FG_NODISCARD;
void fg_reach_free(struct fg_reach *reach); /* NULL is fine */
/* An fg_http_admits: a public address, or an allowed one. */
bool fg_reach_admits(void *reach, const char *address);

#endif
