/* SPDX-License-Identifier: Apache-2.0 */
/* Stores the values of a series that are new since the last mark, as chunks. */
#ifndef FG_STORE_SERIES_VALUES_H
#define FG_STORE_SERIES_VALUES_H

#include "base/base.h"
#include "base/error.h"
#include "model/plan.h"
#include "model/profile_set.h"
#include "model/run.h"
#include "store/bytes.h"

/* Progress of storing repetitions, rows or regions of a series in chunks. */
struct fg_chunk_mark {
	size_t count; /* items stored */
	size_t first; /* first item of the last chunk */
	/* key of the last item: its chunk is rewritten if the pair continues or is settled */
	uint32_t pair;
	uint16_t aside;
};

/* The stored part of a series in progress. */
struct fg_progress_mark {
	int64_t series; /* row id; 0: not stored yet */
	struct fg_chunk_mark repetitions;
	struct fg_chunk_mark rows;
	struct fg_chunk_mark regions;
	size_t metrics;
	size_t facts; /* number of facts of both builds: facts are added, never changed */
	enum fg_measure_state state;
	enum fg_schedule schedule;
	bool in_layouts;
	int64_t *functions; /* ids of the set's functions; 0: unknown */
	size_t function_count;
	size_t node_count; /* number of stored nodes */
};

/* The destination of a series' chunks. */
struct fg_chunk_place {
	struct fg_store *store;
	int64_t series;
	/* a run in progress, whose chunks will be rewritten */
	bool passing;
};

int fg_store_put_repetitions(const struct fg_chunk_place *place, const struct fg_series *series,
			     struct fg_chunk_mark *mark, struct fg_error *err) FG_NODISCARD;
int fg_store_put_profile(const struct fg_chunk_place *place, const struct fg_profile_set *set,
			 struct fg_progress_mark *mark, struct fg_error *err) FG_NODISCARD;

/* ---- intern.c ---- */

/* Finds or adds the functions; ids[i] becomes the id of function i. */
int fg_store_intern(struct fg_store *store, const struct fg_profile_function *functions,
		    size_t count, int64_t *ids, struct fg_error *err) FG_NODISCARD;

#endif
