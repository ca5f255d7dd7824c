/* SPDX-License-Identifier: Apache-2.0 */
/* What client.c and archives.c share when they send a spool.  Inside perfdb/client/ only. */
#ifndef FG_PERFDB_CLIENT_PUSH_PRIVATE_H
#define FG_PERFDB_CLIENT_PUSH_PRIVATE_H

#include "perfdb/client/client.h"
#include "perfdb/client/http.h"

enum {
	FG_PUSH_ID_LENGTH = 36,
	FG_SPOOL_FILE_MODE = 0600,
	FG_SPOOL_FOLDER_MODE = 0700,
};

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
	FG_PUSH_NO_DICTIONARY
};

/* One try at sending something; fills `err` unless it is there. */
typedef enum fg_push_outcome fg_push_attempt(struct fg_push *p, const void *what,
					     int64_t *retry_after_ns, struct fg_error *err);

int fg_push_open_server(const struct fg_push_options *options, struct fg_http **http,
			struct fg_error *err) FG_NODISCARD;
/* Names in the spool, in order: ids are ordered by time, so the oldest comes first. */
int fg_spool_names(const char *folder, char ***names, size_t *count, struct fg_error *err)
	FG_NODISCARD;
bool fg_push_is_interrupted(const struct fg_push *p);
void fg_push_tell(const struct fg_push *p, const char *file, const char *what);
void fg_push_keep_reason(struct fg_push *p, const struct fg_error *err);
/* By the status of the answer alone. */
enum fg_push_outcome fg_push_classify(long status);
/* Tries until it succeeds, is refused, or was tried often enough. */
enum fg_push_outcome fg_push_deliver(struct fg_push *p, const char *name,
				     fg_push_attempt *attempt_it, const void *what,
				     struct fg_error *err);
/* It will never be taken: kept under another name. */
void fg_push_reject(struct fg_push *p, const char *path);

#endif
