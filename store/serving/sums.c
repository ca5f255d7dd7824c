// SPDX-License-Identifier: Apache-2.0
#include "store/serving/sums.h"

#include "model/measure.h"
#include "store/bytes.h"
#include "store/chunks.h"
#include "store/db.h"
#include "store/matrix.h"
#include "store/measures.h"
#include "store/session.h"

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

/* A measure of a series. */
struct measure {
	int64_t id;
	enum fg_measure_fold fold;
	bool exact;
	bool is_there;
};

static const char wall_time[] = "wall_time";

static int find_measure(struct fg_store *store, int64_t series, const char *name,
			struct measure *measure, struct fg_error *err)
{
	struct fg_series_measures all = {0};
	int status = FG_OK;

	*measure = (struct measure){.is_there = !name || strcmp(name, "cpu_time") == 0};
	if (measure->is_there)
		return FG_OK;
	status = fg_store_series_measures(store, series, &all, err);
	for (size_t i = 0; i < all.count && status == FG_OK; i++) {
		const struct fg_measure *m = &all.items[i].measure;

		if (strcmp(m->name, name) == 0)
			*measure = (struct measure){all.items[i].id, m->fold, m->exact, true};
	}
	fg_series_measures_release(&all);
	return status;
}

static int read_weights(struct fg_store *store, int64_t series, const char *name,
			struct fg_weights *weights, struct fg_error *err)
{
	struct measure measure;
	const int status = find_measure(store, series, name, &measure, err);

	if (status != FG_OK || !measure.is_there)
		return status;
	weights->fold = measure.fold;
	return fg_store_chunks(store, series, fg_measure_rows_kind(measure.id), take_weights,
			       weights, err);
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

static int take_part(const struct fg_query *q, struct fg_totals *totals, struct fg_error *err)
{
	struct fg_bytes content = {0};
	struct fg_byte_reader reader;
	size_t size = 0;
	const void *block = fg_column_bytes(q, 0, &size);
	int status = fg_unpack(block, size, FG_MAX_CHUNK_BYTES, &content, err);

	if (status != FG_OK)
		return status;
	reader = (struct fg_byte_reader){content.data, content.data + content.size, false};
	status = fg_totals_read(&reader, totals, err);
	fg_bytes_release(&content);
	return status;
}

static int read_totals(struct fg_store *store, int64_t series, const char *name,
		       struct fg_totals *totals, struct fg_error *err)
{
	struct measure measure;
	struct fg_query q;
	int status = find_measure(store, series, name, &measure, err);

	if (status != FG_OK || !measure.is_there)
		return status;
	totals->exact = measure.exact;
	fg_query_begin(&q, store->db, FG_SQL_TOTALS_OF_SERIES);
	fg_query_int(&q, series);
	fg_query_int(&q, measure.id);
	while ((status = fg_query_step(&q, err)) > 0) {
		status = take_part(&q, totals, err);
		if (status != FG_OK)
			break;
	}
	fg_query_end(&q);
	return status;
}

int fg_store_totals(struct fg_store *store, int64_t series, const char *measure,
		    struct fg_totals *totals, struct fg_error *err)
{
	const int status = read_totals(store, series, measure, totals, err);

	if (status != FG_OK || measure || totals->count)
		return status;
	return read_totals(store, series, wall_time, totals, err);
}
