/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The webhook of a project, and its pending calls. A call is written in the transaction that stores
 * its run, so that it exists exactly if the run does. Of several servers on one database one claims
 * it; when a claim has expired, any of them may.
 */
#ifndef FG_STORE_SERVING_WEBHOOK_H
#define FG_STORE_SERVING_WEBHOOK_H

#include "base/arena.h"
#include "base/error.h"

struct fg_store;

/* Texts live in the arena that was given. */
struct fg_webhook {
	const char *url;
	const char *template; /* JSON */
	const char *problem;  /* why the newest attempt failed; NULL: it did not */
	int64_t waiting;      /* calls */
};

/* Replaces the project's webhook. */
int fg_store_webhook_set(struct fg_store *store, const char *project, const char *url,
			 const char *template, struct fg_error *err) FG_NODISCARD;
/* Its url is NULL if the project has none. */
int fg_store_webhook_get(struct fg_store *store, const char *project, struct fg_arena *arena,
			 struct fg_webhook *hook, struct fg_error *err) FG_NODISCARD;
/* With its pending calls. */
int fg_store_webhook_remove(struct fg_store *store, const char *project, struct fg_error *err)
	FG_NODISCARD;

struct fg_webhook_call {
	struct fg_webhook hook;
	int64_t id;
	int64_t attempts; /* with this one */
	const char *project;
	const char *run;
};

/* Due now.  Nothing happens if the project has no webhook, or 1,000 calls wait. */
int fg_store_webhook_call(struct fg_store *store, const char *project, const char *run,
			  struct fg_error *err) FG_NODISCARD;
/* The next call that is due, claimed until `until_ns`; FG_ENOENT without a message: none. */
int fg_store_webhook_claim(struct fg_store *store, int64_t until_ns, struct fg_arena *arena,
			   struct fg_webhook_call *call, struct fg_error *err) FG_NODISCARD;
/* `again_ns`: when this call, and with it the project's others, is due again; 0: it is over. */
int fg_store_webhook_settle(struct fg_store *store, const struct fg_webhook_call *call,
			    int64_t again_ns, const char *problem, struct fg_error *err)
	FG_NODISCARD;

#endif
