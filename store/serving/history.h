/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics over many runs, and the names that menus offer. */
#ifndef FG_STORE_SERVING_HISTORY_H
#define FG_STORE_SERVING_HISTORY_H

#include "base/arena.h"
#include "base/base.h"
#include "base/error.h"
#include "model/metric.h"

struct fg_store;

/* One run in the history of a metric. */
struct fg_history_point {
	char run[37];
	int64_t started_ns;
	const char *commit; /* like all strings, in the history's arena; NULL: unknown */
	const char *branch;
	const char *fingerprint;
	bool dirty;
	bool complete;
	unsigned pairs;
	double baseline; /* median of the repetitions that count; NaN: none */
	double candidate;
	double ratio; /* ratio of the verdict; NaN: none */
	double low;
	double high;
	const char *outcome;
	const char *tag; /* tag of the commit; NULL: none */
	const char *base_commit;
};

struct fg_history {
	struct fg_history_point *points; /* oldest first */
	size_t count;
	size_t capacity;
	char *unit;
	enum fg_better better;
	double min_effect; /* smaller changes do not fail; 0: unknown */
	struct fg_arena texts;
};

struct fg_history_query {
	const char *project; /* NULL: the store holds only one project */
	const char *benchmark;
	const char *metric;
	const char *branch; /* NULL: all */
	size_t limit;       /* number of newest runs to read; 0: all */
};

int fg_store_history(struct fg_store *store, const struct fg_history_query *query,
		     struct fg_history *history, struct fg_error *err) FG_NODISCARD;

void fg_history_release(struct fg_history *history);

/*
 * Reads the history of a benchmark, given its row and its newest definitions of metrics as stored.
 * Without values the history is empty.
 */
int fg_store_newest_points(struct fg_store *store, int64_t benchmark, const char *definitions,
			   const struct fg_history_query *query, struct fg_history *history,
			   struct fg_error *err) FG_NODISCARD;

struct fg_name_list {
	char **items;
	size_t count;
	size_t capacity;
};

int fg_store_projects(struct fg_store *store, struct fg_name_list *names, struct fg_error *err)
	FG_NODISCARD;

int fg_store_benchmarks(struct fg_store *store, const char *project, struct fg_name_list *names,
			struct fg_error *err) FG_NODISCARD;

int fg_store_metrics(struct fg_store *store, const char *project, const char *benchmark,
		     struct fg_name_list *names, struct fg_error *err) FG_NODISCARD;

void fg_name_list_release(struct fg_name_list *names);

/* Lists the keys of all conditions recorded for a project (NULL: for any project), for menus. */
int fg_store_fact_keys(struct fg_store *store, const char *project, struct fg_name_list *names,
		       struct fg_error *err) FG_NODISCARD;

/* Finds a fact about a run's candidate, in the arena; NULL: not recorded. */
int fg_store_candidate_fact(struct fg_store *store, const char *run, const char *key,
			    struct fg_arena *arena, const char **value, struct fg_error *err)
	FG_NODISCARD;

/* Finds the row of a benchmark; `project` may be NULL. */
int fg_store_benchmark(struct fg_store *store, const char *project, const char *benchmark,
		       int64_t *id, struct fg_error *err) FG_NODISCARD;

#endif
