/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits of a project: its size (quotas, which the server checks when a run arrives) and the age of
 * its runs (retention, by `perfdb gc`).
 */
#ifndef FG_STORE_SERVING_LIMITS_H
#define FG_STORE_SERVING_LIMITS_H

#include "base/arena.h"
#include "base/error.h"

struct fg_store;

/* 0 in most_runs, most_bytes or keep_days means no limit. */
struct fg_limits {
	const char *project; /* "": all projects without their own limits */
	int64_t most_runs;   /* maximum number of stored runs */
	int64_t most_bytes;  /* maximum size of the rows added by the project's runs */
	int64_t keep_days;   /* maximum age of a run since its start */
	int64_t keep_newest; /* number of newest runs per branch that stay at any age */
};

struct fg_limits_list {
	struct fg_limits *items;
	size_t count;
	size_t capacity;
	struct fg_arena texts;
};

/* Space used by a project. */
struct fg_usage {
	int64_t runs;
	int64_t bytes;
};

enum {
	FG_KEEP_DAYS_MAX = 36500,
};

/* Replaces the limits of this project, or removes them if all are 0. */
int fg_store_limits_set(struct fg_store *store, const struct fg_limits *limits,
			struct fg_error *err) FG_NODISCARD;
int fg_store_limits_list(struct fg_store *store, struct fg_limits_list *list, struct fg_error *err)
	FG_NODISCARD;
void fg_limits_list_release(struct fg_limits_list *list);
/*
 * Finds a project's own limits, or the limits of all projects if it has none. limits->project is
 * `project`, "" or, without any limits, NULL.
 */
int fg_store_limits_of(struct fg_store *store, const char *project, struct fg_limits *limits,
		       struct fg_error *err) FG_NODISCARD;
int fg_store_usage(struct fg_store *store, const char *project, struct fg_usage *usage,
		   struct fg_error *err) FG_NODISCARD;
/* FG_ELIMIT: with `more`, the project would exceed its limits. */
int fg_store_check_quota(struct fg_store *store, const char *project, const struct fg_usage *more,
			 struct fg_error *err) FG_NODISCARD;
/* Appends "at most 1000 runs; at most 5000000 bytes; kept for 90 days, ...". */
struct fg_strbuf;
void fg_limits_describe(const struct fg_limits *limits, struct fg_strbuf *text);

#endif
