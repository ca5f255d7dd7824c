/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses that a webhook may lead to.  A project's administrator must not reach through this
 * server what only this server reaches: itself, its network, the machine's metadata.  Inside
 * perfdb/server/ only.
 */
#ifndef FG_PERFDB_SERVER_WEBHOOK_ADDRESS_CHECK_H
#define FG_PERFDB_SERVER_WEBHOOK_ADDRESS_CHECK_H

#include "base/base.h"
#include "base/error.h"

struct fg_address_check;

/* `allowed` are addresses or CIDR blocks that may be reached all the same. *check is always set. */
int fg_address_check_new(const char *const *allowed, size_t count, struct fg_address_check **check,
			 struct fg_error *err) FG_NODISCARD;
void fg_address_check_free(struct fg_address_check *check); /* NULL is fine */
/* An fg_http_admits: a public address, or an allowed one. */
bool fg_address_check_admits(void *check, const char *address);

#endif
