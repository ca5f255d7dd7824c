// SPDX-License-Identifier: Apache-2.0
/*
 * Stores a run in progress. Each call is one transaction that adds chunks for the benchmarks with
 * new values.
 */
#include "model/plan.h"
#include "model/profile_set.h"
#include "model/run.h"
#include "store/db.h"
#include "store/run_rows.h"
#include "store/series_values.h"
#include "store/session.h"
#include "store/store.h"
#include "store/transaction.h"

/* Stores the run's row and discards the marks of any earlier run. */
static int start_progress(struct fg_store *store, const struct fg_run *run, struct fg_error *err)
{
	int64_t id = 0;
	int status = FG_OK;

	FG_TRY_OUT(fg_store_put_run(store, run, &(struct fg_run_head){0}, &id, err));
	status = fg_store_put_run_conditions(store, id, run, err);
out:
	fg_store_forget_progress(store);
	memcpy(store->progress.run, run->id, sizeof(run->id));
	store->progress.id = id;
	return status;
}

/*
 * Deletes the stored chunks, which must be rewritten: a change of the schedule, or measuring again
 * in layouts, sets all earlier pairs aside at once.
 */
static int forget_chunks(struct fg_store *store, struct fg_progress_mark *mark,
			 struct fg_error *err)
{
	mark->repetitions = mark->rows = mark->regions = (struct fg_chunk_mark){0};
	mark->node_count = 0;
	return FG_QUERY_DO(store->db, err, FG_SQL_CHUNKS_FORGET, FG_BIND(mark->series));
}

/* Adds or updates the series' row. */
static int progress_row(struct fg_store *store, const struct fg_run *run, size_t position,
			struct fg_error *err)
{
	const struct fg_series *series = &run->series[position];
	const size_t facts =
		fg_build_facts_count(&series->build[0]) + fg_build_facts_count(&series->build[1]);
	struct fg_progress_mark *mark = &store->progress.marks[position];
	const bool given_up =
		mark->series &&
		((mark->schedule != FG_SCHEDULE_AUTO && mark->schedule != series->schedule) ||
		 mark->in_layouts != !!series->as_linked_metric);
	int status = FG_OK;

	if (!mark->series) {
		status = fg_store_put_series(store, store->progress.id, run, position,
					     &mark->series, err);
	} else if (mark->repetitions.count != series->repetition_count ||
		   mark->state != series->state || mark->metrics != series->metric_count ||
		   mark->schedule != series->schedule) {
		status = fg_store_update_series(store, series, mark->series, err);
	}
	if (status != FG_OK)
		goto out;
	if (given_up)
		status = forget_chunks(store, mark, err);
	if (status != FG_OK)
		goto out;
	if (mark->facts != facts)
		status = fg_store_put_series_conditions(store, store->progress.id, series, position,
							err);
out:
	mark->metrics = series->metric_count;
	mark->facts = facts;
	mark->state = series->state;
	mark->schedule = series->schedule;
	mark->in_layouts = series->as_linked_metric != NULL;
	return status;
}

static int progress_series(struct fg_store *store, const struct fg_run *run, size_t position,
			   const struct fg_profile_set *set, struct fg_error *err)
{
	struct fg_progress_mark *mark = &store->progress.marks[position];
	int status = progress_row(store, run, position, err);
	const struct fg_chunk_place place = {
		.store = store, .series = mark->series, .passing = true};

	if (status != FG_OK)
		return status;
	FG_TRY(fg_store_put_repetitions(&place, &run->series[position], &mark->repetitions, err));
	if (set && set->row_count + set->region_row_count > 0)
		return fg_store_put_profile(&place, set, mark, err);
	return FG_OK;
}

/* Makes room for one mark per series; marks of new series are empty. */
static void make_room(struct fg_store *store, size_t count)
{
	const size_t had = store->progress.mark_count;

	if (had >= count)
		return;
	store->progress.marks =
		fg_xreallocarray(store->progress.marks, count, sizeof(*store->progress.marks));
	memset(store->progress.marks + had, 0, (count - had) * sizeof(*store->progress.marks));
	store->progress.mark_count = count;
}

int fg_store_progress(struct fg_store *store, const struct fg_run *run,
		      struct fg_profile_set *const *profiles, struct fg_error *err)
{
	int status = FG_OK;

	FG_TRY(fg_store_check_run(run, err));
	FG_TRY(fg_store_begin(store, err));
	if (strcmp(store->progress.run, run->id) != 0)
		FG_TRY_OUT(start_progress(store, run, err));
	make_room(store, run->series_count);
	for (size_t i = 0; i < run->series_count && status == FG_OK; i++)
		status = progress_series(store, run, i, profiles ? profiles[i] : NULL, err);
	if (status != FG_OK)
		goto out;
	status = FG_QUERY_DO(store->db, err, FG_SQL_RUN_TOUCH, FG_BIND(store->progress.id),
			     FG_BIND(run->ended_ns));
out:
	return fg_store_end(store, status, err);
}
