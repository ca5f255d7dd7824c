/* SPDX-License-Identifier: Apache-2.0 */
/* Sends the files of a spool. Private to perfdb/client/. */
#ifndef FG_PERFDB_CLIENT_PUSH_PRIVATE_H
#define FG_PERFDB_CLIENT_PUSH_PRIVATE_H

#include "perfdb/client/client.h"
#include "perfdb/client/http.h"

enum {
	FG_PUSH_ID_LENGTH = 36,
};

#define FG_PUSH_REJECTED_ENDING ".rejected"

struct fg_push {
	const struct fg_push_options *options;
	struct fg_push_result result;
	struct fg_http *http;
	struct fg_http_patience patience;
	struct fg_error reason; /* the first failure */
};

enum fg_push_outcome {
	FG_PUSH_SENT,
	FG_PUSH_KNOWN,
	FG_PUSH_LATER,
	FG_PUSH_REFUSED,
	FG_PUSH_REJECTED,
};

/* Sends one file of the spool. */
typedef enum fg_push_outcome fg_push_send(struct fg_push *p, const char *path, const char *name,
					  struct fg_error *err);

/* Sends all files; see fg_push_spool(). */
int fg_push_files(fg_push_send *send, const char *folder, const struct fg_push_options *options,
		  struct fg_push_result *result, struct fg_error *err) FG_NODISCARD;

/* Makes one attempt; sets `err` unless it succeeds. */
typedef enum fg_push_outcome fg_push_attempt(struct fg_push *p, void *what, int64_t *retry_after_ns,
					     struct fg_error *err);

/* Lists the names in the spool, sorted: ids begin with the time, so the oldest comes first. */
int fg_spool_names(const char *folder, char ***names, size_t *count, struct fg_error *err)
	FG_NODISCARD;
/*
 * Judges the whole reply. A login page or a cache in between may answer 200, so only a reply with
 * the run's id and fg_wire_digest() confirms the run.
 */
enum fg_push_outcome fg_push_judge(struct fg_push *p, const char *id, const char *digest,
				   const struct fg_http_reply *reply, struct fg_error *err);
/* Repeats the attempt until it succeeds, is refused, or the attempts are used up. */
enum fg_push_outcome fg_push_deliver(struct fg_push *p, const char *name,
				     fg_push_attempt *attempt_it, void *what, struct fg_error *err);

#endif
