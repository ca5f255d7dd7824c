/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which client may do what. Inside perfdb/server/ only. */
#ifndef FG_PERFDB_SERVER_ADMISSION_H
#define FG_PERFDB_SERVER_ADMISSION_H

#include "perfdb/server/request.h"

/*
 * Decides from the headers alone: the address, the method, the limits. Finds the route and sets the
 * limits of the body. Uses no database, so libmicrohttpd's threads may call it.
 */
int fg_admission_check(struct fg_request *rq, struct fg_error *err) FG_NODISCARD;
/* Refuses a request that needs the database while the database does not answer. */
int fg_admission_database_is_down(struct fg_request *rq, struct fg_error *err);
/* Its token has not worked lately, so authorise it before taking its body. */
bool fg_admission_is_unproven(struct fg_request *rq);
/* Checks the client's rights and opens the request's session. */
int fg_admission_authorize(struct fg_request *rq, struct fg_error *err) FG_NODISCARD;

#endif
