/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The webhook of a project, and its pending calls. A call is written in the transaction that stores
 * its run, so a crash cannot separate the call from the run. A project's calls are made one after
 * the other, the oldest first. An attempt delays the next attempt, so that servers that share a
 * database do not make the same call.
 */
#ifndef FG_STORE_SERVING_WEBHOOK_H
#define FG_STORE_SERVING_WEBHOOK_H

#include "base/arena.h"
#include "base/error.h"

struct fg_store;

/* Strings live in the given arena. */
struct fg_webhook {
	const char *url;
	const char *template; /* JSON */
	const char *problem;  /* reason why the last attempt failed; NULL: no failure */
	int64_t waiting;      /* number of pending calls */
};

/* Replaces the project's webhook; `url` NULL removes it, with its pending calls. */
int fg_store_webhook_set(struct fg_store *store, const char *project, const char *url,
			 const char *template, struct fg_error *err) FG_NODISCARD;
/* Reads the project's webhook; its url is NULL if the project has no webhook. */
int fg_store_webhook_get(struct fg_store *store, const char *project, struct fg_arena *arena,
			 struct fg_webhook *hook, struct fg_error *err) FG_NODISCARD;

struct fg_webhook_call {
	struct fg_webhook hook;
	int64_t id;
	int64_t attempts; /* attempts so far, including this one */
	const char *project;
	const char *run;
};

/* Adds a call. Does nothing if the project has no webhook, or 1,000 pending calls. */
int fg_store_webhook_call(struct fg_store *store, const char *project, const char *run,
			  struct fg_error *err) FG_NODISCARD;
/*
 * Begins an attempt at a due call. The next attempt is due after `retry_ns`, doubled with each
 * attempt so far. FG_ENOENT without a message: no call is due.
 */
int fg_store_webhook_claim(struct fg_store *store, int64_t retry_ns, struct fg_arena *arena,
			   struct fg_webhook_call *call, struct fg_error *err) FG_NODISCARD;
/* Ends an attempt; `is_done` removes the call. */
int fg_store_webhook_settle(struct fg_store *store, const struct fg_webhook_call *call,
			    bool is_done, const char *problem, struct fg_error *err) FG_NODISCARD;

#endif
