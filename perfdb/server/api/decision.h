/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a decision and its entry in the audit log in one transaction. Private to perfdb/server/.
 */
#ifndef FG_PERFDB_SERVER_API_DECISION_H
#define FG_PERFDB_SERVER_API_DECISION_H

#include "base/json.h"
#include "perfdb/server/request.h"
#include "store/serving/audit.h"

/* After FG_OK, fg_decision_end() must be called in any case. */
int fg_decision_begin(struct fg_request *rq, struct fg_error *err) FG_NODISCARD;
/* Commits if `status` is FG_OK, otherwise rolls back. `entry` may leave out the author. */
int fg_decision_end(struct fg_request *rq, int status, const struct fg_audit_entry *entry,
		    struct fg_error *err) FG_NODISCARD;

/*
 * Parses the body as JSON, which the caller deletes, and checks that this client may change the
 * project that the body names (NULL: no project). FG_EINVAL: the body has a member other than
 * `project` and `names`, which ends with NULL; a misspelled name must not silently count as
 * missing.
 */
int fg_decision_body(struct fg_request *rq, const char *const *names, cJSON **json,
		     const char **project, struct fg_error *err) FG_NODISCARD;
/*
 * Returns the string member `name` of the body, or `missing` (may be NULL) if the body has no
 * such member. The result lives as long as the request.
 */
char *fg_decision_text(struct fg_request *rq, const cJSON *json, const char *name,
		       const char *missing);
/* Reads the number at the end of the path. */
int fg_decision_number(struct fg_request *rq, const char *what, int64_t *number,
		       struct fg_error *err) FG_NODISCARD;
/* Answers a change with {"NAME": "TEXT"} or, if `text` is NULL, {"NAME": NUMBER}. */
void fg_decision_answer(struct fg_request *rq, const char *name, const char *text, int64_t number);

#endif
