/* SPDX-License-Identifier: Apache-2.0 */
/* How files are sent from a spool.  Inside perfdb/client/ only. */
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
	struct fg_error reason; /* the first */
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

/* Sends all of them: see fg_push_spool(). */
int fg_push_files(fg_push_send *send, const char *folder, const struct fg_push_options *options,
		  struct fg_push_result *result, struct fg_error *err) FG_NODISCARD;

/* One try at sending something; fills `err` unless it is there. */
typedef enum fg_push_outcome fg_push_attempt(struct fg_push *p, void *what, int64_t *retry_after_ns,
					     struct fg_error *err);

/* Names in the spool, in order: ids are ordered by time, so the oldest comes first. */
int fg_spool_names(const char *folder, char ***names, size_t *count, struct fg_error *err)
	FG_NODISCARD;
/*
 * By the whole answer.  Anything may stand between us and the server, and answer 200: a login page,
 * a cache.  Only a reply that names the run and the digest of what was sent confirms it.
 */
enum fg_push_outcome fg_push_judge(struct fg_push *p, const char *id, const char *digest,
				   const struct fg_http_reply *reply, struct fg_error *err);
/* Tries until it succeeds, is refused, or was tried often enough. */
enum fg_push_outcome fg_push_deliver(struct fg_push *p, const char *name,
				     fg_push_attempt *attempt_it, void *what, struct fg_error *err);

#endif
