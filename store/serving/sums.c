// SPDX-License-Identifier: Apache-2.0
/*
 * What a benchmark's rows add up to: time by call path, and by function.
 *
 * Totals by function follow from the rows and the tree, so a local store does not keep them: they
 * would be a quarter of it, and computing them takes about a millisecond.  A server, which follows
 * one function through hundreds of runs, stores them too.
 */
#include "store/serving/sums.h"

#include "model/measure.h"
#include "model/profile_set.h"
#include "model/run.h"
#include "store/bytes.h"
#include "store/call_tree.h"
#include "store/chunks.h"
#include "store/matrix.h"
#include "store/measures.h"
#include "store/save.h"
#include "store/serving/totals.h"
#include "store/session.h"
#include "store/store.h"

void fg_weights_release(struct fg_weights *weights)
{
	free(weights->ids);
	free(weights->sums);
	*weights = (struct fg_weights){0};
}

/* Merge two ascending lists; an id in both gets the sum. */
static void add_weights(struct fg_weights *into, const struct fg_weights *more)
{
	struct fg_weights all = {
		.ids = fg_xcalloc(into->count + more->count, sizeof(*all.ids)),
		.sums = fg_xcalloc(into->count + more->count, sizeof(*all.sums)),
		.repetitions = into->repetitions + more->repetitions,
		.arm = into->arm,
		.fold = into->fold,
	};
	size_t a = 0;
	size_t b = 0;

	while (a < into->count || b < more->count) {
		const bool left =
			b == more->count || (a < into->count && into->ids[a] <= more->ids[b]);
		const bool right =
			a == into->count || (b < more->count && more->ids[b] <= into->ids[a]);

		all.ids[all.count] = left ? into->ids[a] : more->ids[b];
		all.sums[all.count++] = (left ? into->sums[a] : 0) + (right ? more->sums[b] : 0);
		a += left;
		b += right;
	}
	fg_weights_release(into);
	*into = all;
}

static void sum_up(const struct fg_matrix *m, uint8_t arm, struct fg_weights *w)
{
	*w = (struct fg_weights){.ids = fg_xcalloc(m->id_count, sizeof(*w->ids)),
				 .sums = fg_xcalloc(m->id_count, sizeof(*w->sums)),
				 .arm = arm,
				 .fold = w->fold};
	for (size_t r = 0; r < m->row_count; r++)
		w->repetitions += m->rows[r].arm == arm && m->rows[r].aside == 0;
	for (size_t i = 0; i < m->id_count; i++) {
		double sum = 0;

		for (size_t e = m->starts[i]; e < m->starts[i + 1]; e++) {
			const struct fg_matrix_row *row = &m->rows[m->entry_rows[e]];

			if (row->arm == arm && row->aside == 0)
				sum += m->self[e];
		}
		if (!(sum > 0))
			continue;
		w->ids[w->count] = m->ids[i];
		w->sums[w->count++] = sum;
	}
}

/* A complete run has one chunk; a run in progress has one per call of fg_store_progress(). */
static void take_arm(const struct fg_matrix *m, struct fg_weights *weights)
{
	struct fg_weights more = {.fold = weights->fold};

	sum_up(m, weights->arm, &more);
	if (weights->ids) {
		add_weights(weights, &more);
		fg_weights_release(&more);
	} else {
		*weights = more;
	}
}

static int take_weights(struct fg_byte_reader *reader, void *context, struct fg_error *err)
{
	struct fg_matrix m = {0};
	const int status = fg_matrix_read(reader, 0, &m, err);

	if (status == FG_OK)
		take_arm(&m, context);
	fg_matrix_release(&m);
	return status;
}

/* A measure of a series; .kinds.rows is 0 when the series does not have it. */
struct measure {
	struct fg_measure_kinds kinds;
	enum fg_measure_fold fold;
	bool exact;
};

static const char wall_time[] = "wall_time";

static int find_measure(struct fg_store *store, int64_t series, const char *name,
			struct measure *measure, struct fg_error *err)
{
	struct fg_series_measures all = {0};
	int status = FG_OK;

	*measure = (struct measure){.kinds = {FG_CHUNK_ROWS, FG_CHUNK_TOTALS}};
	if (!name || strcmp(name, "cpu_time") == 0)
		return FG_OK;
	*measure = (struct measure){0};
	status = fg_store_series_measures(store, series, &all, err);
	for (size_t i = 0; i < all.count && status == FG_OK; i++) {
		const struct fg_measure *m = &all.items[i].measure;

		if (strcmp(m->name, name) == 0)
			*measure = (struct measure){all.items[i].kinds, m->fold, m->exact};
	}
	fg_series_measures_release(&all);
	return status;
}

static int read_weights(struct fg_store *store, int64_t series, const char *name,
			struct fg_weights *weights, struct fg_error *err)
{
	struct measure measure;
	const int status = find_measure(store, series, name, &measure, err);

	if (status != FG_OK)
		return status;
	weights->fold = measure.fold;
	return fg_store_chunks(store, series, measure.kinds.rows, take_weights, weights, err);
}

int fg_store_weights(struct fg_store *store, int64_t series, const char *measure,
		     struct fg_weights *weights, struct fg_error *err)
{
	const int status = read_weights(store, series, measure, weights, err);

	if (status != FG_OK || measure || weights->ids)
		return status;
	return read_weights(store, series, wall_time, weights, err);
}

/* ---- by function ---- */

struct both {
	struct fg_weights arms[FG_ARM_COUNT];
	double sum; /* over everything, for the value of one sample */
	double samples;
	bool exact;
};

static int take_both(struct fg_byte_reader *reader, void *context, struct fg_error *err)
{
	struct both *both = context;
	struct fg_matrix m = {0};
	const int status = fg_matrix_read(reader, 0, &m, err);

	for (size_t arm = 0; arm < FG_ARM_COUNT && status == FG_OK; arm++)
		take_arm(&m, &both->arms[arm]);
	for (size_t e = 0; e < m.entry_count && status == FG_OK; e++) {
		both->sum += m.self[e];
		both->samples += m.samples[e];
	}
	fg_matrix_release(&m);
	return status;
}

/*
 * Each node's value goes to its function: as self value, and as inclusive value unless the function
 * already appears above it.
 */
static void add_arm(const struct fg_store *store, const struct fg_weights *w, size_t arm,
		    double *inclusive, struct fg_function_total *by_function)
{
	const size_t end = w->count ? (size_t)w->ids[w->count - 1] + 1 : 0;

	memset(inclusive, 0, end * sizeof(*inclusive));
	for (size_t i = 0; i < w->count; i++) {
		const size_t id = (size_t)w->ids[i];
		double *self = &by_function[store->tree.nodes[id].function].self[arm];

		inclusive[id] = w->sums[i];
		*self = fg_measure_join(w->fold, *self, inclusive[id]);
	}
	for (size_t id = end; id-- > 1;) {
		const struct fg_tree_node *node = &store->tree.nodes[id];
		double *sum = &by_function[node->function].inclusive[arm];

		if (!(inclusive[id] > 0))
			continue;
		inclusive[node->parent] =
			fg_measure_join(w->fold, inclusive[node->parent], inclusive[id]);
		if (!node->recursive)
			*sum = fg_measure_join(w->fold, *sum, inclusive[id]);
	}
}

/*
 * Sums of whole nanoseconds first, means afterwards: the same in every store, however it numbers
 * its nodes.
 */
static void make_means(struct fg_function_total *all, size_t count, size_t arm,
		       uint32_t repetitions)
{
	for (size_t i = 0; i < count && repetitions; i++) {
		all[i].self[arm] /= repetitions;
		all[i].inclusive[arm] /= repetitions;
	}
}

static void add_up(const struct fg_store *store, const struct both *both, size_t node_end,
		   struct fg_totals *totals)
{
	double *inclusive = fg_xcalloc(node_end, sizeof(*inclusive));
	struct fg_function_total *all = NULL;
	size_t end = 0;

	for (size_t id = 0; id < node_end; id++) {
		if (store->tree.nodes[id].function >= end)
			end = (size_t)store->tree.nodes[id].function + 1;
	}
	all = fg_xcalloc(end, sizeof(*all));
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		totals->repetitions[arm] = both->arms[arm].repetitions;
		add_arm(store, &both->arms[arm], arm, inclusive, all);
		make_means(all, end, arm, totals->repetitions[arm]);
	}
	for (size_t id = 0; id < end; id++) {
		if (!(all[id].inclusive[0] > 0) && !(all[id].inclusive[1] > 0))
			continue;
		all[totals->count] = all[id];
		all[totals->count++].id = id;
	}
	totals->items = all;
	totals->unit = fg_totals_unit(both->sum, both->samples, both->exact);
	free(inclusive);
}

static int check_ids(const struct fg_store *store, const struct fg_weights *w, struct fg_error *err)
{
	for (size_t i = 0; i < w->count; i++) {
		if (!store->tree.nodes[w->ids[i]].function)
			return fg_error_set(err, FG_EDB,
					    "%s is damaged: call path %llu is not there",
					    store->db->name, (unsigned long long)w->ids[i]);
	}
	return FG_OK;
}

static int compute(struct fg_store *store, int64_t series, const struct measure *measure,
		   struct fg_totals *totals, struct fg_error *err)
{
	struct both both = {.arms = {{.arm = FG_ARM_BASELINE, .fold = measure->fold},
				     {.arm = FG_ARM_CANDIDATE, .fold = measure->fold}},
			    .exact = measure->exact};
	uint64_t last = 0;
	int status = fg_store_chunks(store, series, measure->kinds.rows, take_both, &both, err);

	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		const struct fg_weights *w = &both.arms[arm];

		if (w->count && w->ids[w->count - 1] > last)
			last = w->ids[w->count - 1];
	}
	/* Without weights there need not be a call path in the whole store. */
	if (status != FG_OK || last == 0)
		goto out;
	status = fg_store_read_tree(store, last, err);
	if (status != FG_OK)
		goto out;
	for (size_t arm = 0; arm < FG_ARM_COUNT && status == FG_OK; arm++)
		status = check_ids(store, &both.arms[arm], err);
	if (status != FG_OK)
		goto out;
	add_up(store, &both, (size_t)last + 1, totals);
out:
	fg_weights_release(&both.arms[0]);
	fg_weights_release(&both.arms[1]);
	return status;
}

static int take_totals(struct fg_byte_reader *reader, void *context, struct fg_error *err)
{
	struct fg_totals *totals = context;

	fg_totals_release(totals);
	return fg_totals_read(reader, totals, err);
}

static int read_totals(struct fg_store *store, int64_t series, const char *name,
		       struct fg_totals *totals, struct fg_error *err)
{
	struct measure measure;
	int status = find_measure(store, series, name, &measure, err);

	if (status != FG_OK)
		return status;
	status = fg_store_chunks(store, series, measure.kinds.totals, take_totals, totals, err);
	if (status != FG_OK)
		goto out;
	if (!totals->items)
		status = compute(store, series, &measure, totals, err);
out:
	if (status != FG_OK)
		fg_totals_release(totals);
	totals->exact = measure.exact;
	return status;
}

int fg_store_totals(struct fg_store *store, int64_t series, const char *measure,
		    struct fg_totals *totals, struct fg_error *err)
{
	struct fg_totals found = {0};
	int status = read_totals(store, series, measure, &found, err);

	if (status != FG_OK)
		return status;
	if (!measure && found.count == 0) {
		fg_totals_release(&found);
		status = read_totals(store, series, wall_time, &found, err);
	}
	if (status != FG_OK)
		return status;
	*totals = found;
	return FG_OK;
}

static int make_totals(const struct fg_profile_set *set, uint16_t measure, const int64_t *functions,
		       struct fg_bytes *content, struct fg_error *err)
{
	struct fg_totals totals = {0};
	int status = FG_OK;

	fg_totals_from_set(&totals, set, measure, functions);
	status = fg_totals_write(&totals, content, err);
	fg_totals_release(&totals);
	return status;
}

int fg_store_save_with_totals(struct fg_store *store, const struct fg_stored_run *stored,
			      const char *digest, struct fg_error *err)
{
	struct fg_save save = {.run = &stored->run,
			       .profiles = stored->profiles,
			       .make_totals = make_totals,
			       .digest = digest};

	return fg_store_save_made(store, &save, stored->report, err);
}
