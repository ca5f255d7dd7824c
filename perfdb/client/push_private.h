/* SPDX-License-Identifier: Apache-2.0 */
/* What runs and archives share when they are sent from a spool.  Inside perfdb/client/ only. */
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
	bool has_progressed;    /* this attempt came further than those before */
};

enum fg_push_outcome {
	FG_PUSH_SENT,
	FG_PUSH_KNOWN,
	FG_PUSH_LATER,
	FG_PUSH_REFUSED,
	FG_PUSH_REJECTED,
	FG_PUSH_NO_DICTIONARY,
	FG_PUSH_GOES_ON, /* with the next piece */
};

/* One of the things that lie in a spool. */
struct fg_push_kind {
	const char *ending; /* of its files: the rest of a name is a run's id */
	const char *plural;
	bool is_apart; /* one that is refused does not hold up the others; it has its own `http` */
	enum fg_push_outcome (*send)(struct fg_push *p, const char *path, const char *name,
				     struct fg_error *err);
};

/* Sends all of a kind: see fg_push_spool(). */
int fg_push_kind(const struct fg_push_kind *kind, const char *folder,
		 const struct fg_push_options *options, struct fg_push_result *result,
		 struct fg_error *err) FG_NODISCARD;

/* One try at sending something; fills `err` unless it is there. */
typedef enum fg_push_outcome fg_push_attempt(struct fg_push *p, void *what, int64_t *retry_after_ns,
					     struct fg_error *err);

int fg_push_open_server(const struct fg_push_options *options, struct fg_http **http,
			struct fg_error *err) FG_NODISCARD;
/* Likewise for archives of this size: how long a request may take depends on it. */
int fg_push_open_archives(const struct fg_push_options *options, uint64_t size,
			  struct fg_http **http, struct fg_error *err) FG_NODISCARD;
/* Names in the spool, in order: ids are ordered by time, so the oldest comes first. */
int fg_spool_names(const char *folder, char ***names, size_t *count, struct fg_error *err)
	FG_NODISCARD;
/* How much of a file is there already, if that is neither nothing nor all. */
void fg_push_tell_where(const struct fg_push *p, const char *file, uint64_t offset, uint64_t size);
/* By the status of the answer alone. */
enum fg_push_outcome fg_push_classify(long status);

/* What a reply has to name, and where in its JSON. */
struct fg_push_names {
	const char *id_at;
	const char *id;
	const char *digest_at;
	const char *digest;
};

bool fg_push_is_named(const struct fg_http_reply *reply, const struct fg_push_names *names);
/*
 * By the whole answer.  Anything may stand between us and the server, and answer 200: a login page,
 * a cache.  Only a reply that names the run and the digest of what was sent confirms it.
 */
enum fg_push_outcome fg_push_judge(struct fg_push *p, const char *id, const char *digest,
				   const struct fg_http_reply *reply, struct fg_error *err);
/*
 * Tries until it succeeds, is refused, or was tried often enough; each try that came further counts
 * as the first.
 */
enum fg_push_outcome fg_push_deliver(struct fg_push *p, const char *name,
				     fg_push_attempt *attempt_it, void *what, struct fg_error *err);

#endif
