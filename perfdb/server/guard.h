/* SPDX-License-Identifier: Apache-2.0 */
/* Refuses malformed or forged requests by their headers. Private to perfdb/server/. */
#ifndef FG_PERFDB_SERVER_GUARD_H
#define FG_PERFDB_SERVER_GUARD_H

#include "perfdb/server/request.h"

/* Replaces the NUL of %00 in an address, which would end the string. */
#define FG_GUARD_NUL '\1'

/*
 * Refuses a request that two servers could read differently: several body lengths or Host headers,
 * no Host header (except in HTTP/1.0), a NUL in the address.
 */
int fg_guard_shape(struct fg_request *rq, struct fg_error *err) FG_NODISCARD;
/*
 * If the server has a list of names or a secret, refuses host names that are neither listed nor
 * local (DNS rebinding).
 */
int fg_guard_host(struct fg_request *rq, struct fg_error *err) FG_NODISCARD;
/*
 * Refuses cross-site writes (CSRF): a foreign Origin or Sec-Fetch-Site, or a Content-Type that
 * needs no CORS preflight.
 */
int fg_guard_write(struct fg_request *rq, struct fg_error *err) FG_NODISCARD;
/*
 * Refuses a request that does not have the server's secret, if the server has a secret and the
 * route is not public. *is_entry: the secret is in the address.
 */
int fg_guard_secret(struct fg_request *rq, bool *is_entry, struct fg_error *err) FG_NODISCARD;

bool fg_guard_is_local_name(const char *host);

#endif
