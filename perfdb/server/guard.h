/* SPDX-License-Identifier: Apache-2.0 */
/* Refuses malformed request headers.  Inside perfdb/server/ only. */
#ifndef FG_PERFDB_SERVER_GUARD_H
#define FG_PERFDB_SERVER_GUARD_H

#include "perfdb/server/request.h"

/* Replaces %00 in an address, which would end the string. */
#define FG_GUARD_NUL '\1'

/* A request that two servers could read differently: two lengths, no or two hosts, a NUL. */
int fg_guard_shape(struct fg_request *rq, struct fg_error *err) FG_NODISCARD;
/* Called by a name that is not ours: DNS rebinding. */
int fg_guard_host(struct fg_request *rq, struct fg_error *err) FG_NODISCARD;
/* A write that another page made a browser send, or that any page can send without asking. */
int fg_guard_write(struct fg_request *rq, struct fg_error *err) FG_NODISCARD;
/* A server with a secret: does the request know it?  `*is_entry`: it is in the address. */
int fg_guard_secret(struct fg_request *rq, bool *is_entry, struct fg_error *err) FG_NODISCARD;

bool fg_guard_is_local_name(const char *host);

#endif
