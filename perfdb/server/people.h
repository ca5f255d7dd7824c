/* SPDX-License-Identifier: Apache-2.0 */
/* People who are signed in, as opposed to programs with tokens.  Inside perfdb/server/ only. */
#ifndef FG_PERFDB_SERVER_PEOPLE_H
#define FG_PERFDB_SERVER_PEOPLE_H

#include "perfdb/server/request.h"

#define FG_SIGN_IN_PATH "/sign-in"
#define FG_SIGN_IN_DONE "/sign-in/done" /* where the identity server sends the browser back to */

bool fg_people_can_sign_in(const struct fg_server *server);
/* By the name that a trusted proxy gives, or by the cookie of a sign-in. */
int fg_people_admit(struct fg_request *rq, struct fg_error *err) FG_NODISCARD;
/* A cookie of this server with `suffix` after its name; `life_s` 0: forget it. */
const char *fg_people_cookie(struct fg_request *rq, const char *suffix, const char *value,
			     int64_t life_s);
/* What the browser has kept there; NULL: nothing. */
const char *fg_people_kept(struct fg_request *rq, const char *suffix);

#endif
