/* SPDX-License-Identifier: Apache-2.0 */
/* A decision and its entry in the audit log are one transaction.  Inside perfdb/server/. */
#ifndef FG_PERFDB_SERVER_API_DECISION_H
#define FG_PERFDB_SERVER_API_DECISION_H

#include "base/json.h"
#include "perfdb/server/request.h"
#include "store/serving/audit.h"

/* After FG_OK, fg_decision_end() must be called, whatever happens in between. */
int fg_decision_begin(struct fg_request *rq, struct fg_error *err) FG_NODISCARD;
/* Commits everything if `status` is FG_OK, else nothing. `entry` need not name the author. */
int fg_decision_end(struct fg_request *rq, int status, const struct fg_audit_entry *entry,
		    struct fg_error *err) FG_NODISCARD;

/*
 * The body as JSON, which lives until the caller deletes it, and the project that it names (NULL:
 * none) and this client may change.  FG_EINVAL: it has a member besides `project` and `names`,
 * which end with NULL: a name with a slip in it must not silently count as missing.
 */
int fg_decision_body(struct fg_request *rq, const char *const *names, cJSON **json,
		     const char **project, struct fg_error *err) FG_NODISCARD;
/* A text of the body that lives as long as the request; `missing` may be NULL. */
char *fg_decision_text(struct fg_request *rq, const cJSON *json, const char *name,
		       const char *missing);
/* The number at the end of the path. */
int fg_decision_number(struct fg_request *rq, const char *what, int64_t *number,
		       struct fg_error *err) FG_NODISCARD;
/* {"NAME": "TEXT"} or, without a text, {"NAME": NUMBER}: what a change answers. */
void fg_decision_answer(struct fg_request *rq, const char *name, const char *text, int64_t number);

#endif
