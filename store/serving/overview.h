/* SPDX-License-Identifier: Apache-2.0 */
/* All benchmarks of a project: the newest run of each, and earlier runs. */
#ifndef FG_STORE_SERVING_OVERVIEW_H
#define FG_STORE_SERVING_OVERVIEW_H

#include "base/arena.h"
#include "store/serving/history.h"

struct fg_overview_row {
	char *name;
	const char *metric; /* the metric shown: if possible, the first gated metric with values */
	const char *label;
	char *metrics; /* definitions in the newest run, as stored */
	/* The newest run, even if it has no value. */
	char run[37];
	int64_t started_ns;
	char *commit;
	char *branch;
	char *subject;
	bool dirty;
	struct fg_history history; /* the newest runs with values */
	int64_t series;            /* series of the newest run */
	int64_t benchmark;
};

struct fg_overview {
	struct fg_overview_row *items; /* sorted by name */
	size_t count;
	size_t capacity;
	/* The newest complete run of a tagged commit before the newest run; NULL: none. */
	char *release_tag;
	char *release_run;
	struct fg_arena texts;
};

int fg_store_overview(struct fg_store *store, const char *project, size_t runs,
		      struct fg_overview *overview, struct fg_error *err) FG_NODISCARD;
/* Returns the benchmark with the newest run, or NULL. */
const struct fg_overview_row *fg_overview_newest(const struct fg_overview *overview);
void fg_overview_release(struct fg_overview *overview);

#endif
