// SPDX-License-Identifier: Apache-2.0
/*
 * Writing runs.  A whole run is one transaction; a run in progress is one transaction per call,
 * each writing a chunk per benchmark that has something new: a chunk for each pair, which grows
 * with the pair.  Saving the whole run afterwards replaces the small chunks by large ones, which
 * pack far better.
 */
#include "store/save.h"

#include "base/arena.h"
#include "base/json.h"
#include "model/measure.h"
#include "model/profile_set.h"
#include "model/run.h"
#include "store/bytes.h"
#include "store/chunks.h"
#include "store/db.h"
#include "store/levels.h"
#include "store/measures.h"
#include "store/run_rows.h"
#include "store/series_values.h"
#include "store/session.h"
#include "store/store.h"
#include "store/transaction.h"

#include <math.h>

static int put_report(struct fg_store *store, int64_t run, const struct fg_bytes *block,
		      struct fg_error *err)
{
	static const char *const format = "json";
	const struct fg_blob blob = {block->data, block->size};
	const struct fg_rows rows = {
		.columns = {{.numbers = &run}, {.texts = &format}, {.blobs = &blob}},
		.column_count = 3,
		.count = 1};

	return fg_store_add_rows(store, FG_SQL_REPORT_ADD, &rows, err);
}

/* Rows of `chunk`, column by column. */
struct chunk_rows {
	struct fg_arena arena;
	int64_t *series;
	int64_t *kinds;
	int64_t *firsts;
	struct fg_blob *blocks;
	size_t count;
};

static void add_block(struct chunk_rows *rows, int64_t series, int64_t kind,
		      const struct fg_bytes *block)
{
	if (block->size == 0)
		return;
	rows->series[rows->count] = series;
	rows->kinds[rows->count] = kind;
	rows->blocks[rows->count++] = (struct fg_blob){block->data, block->size};
}

static int add_measures(struct fg_store *store, struct chunk_rows *rows, int64_t series,
			const struct fg_series_parts *parts, struct fg_error *err)
{
	for (size_t i = 0; i < parts->measure_count; i++) {
		const struct fg_measure_part *part = &parts->measures[i];
		struct fg_measure_kinds kinds;
		const int status = fg_store_measure_kinds(store, &part->measure, &kinds, err);

		if (status != FG_OK)
			return status;
		add_block(rows, series, kinds.rows, &part->rows);
		add_block(rows, series, kinds.totals, &part->totals);
	}
	return FG_OK;
}

static int put_made(struct fg_store *store, int64_t series, const struct fg_series_parts *parts,
		    struct fg_error *err)
{
	const size_t most = FG_CHUNK_KINDS + 2 * parts->measure_count;
	struct chunk_rows rows = {0};
	int status = FG_OK;

	rows.series = fg_arena_array(&rows.arena, most, sizeof(*rows.series));
	rows.kinds = fg_arena_array(&rows.arena, most, sizeof(*rows.kinds));
	rows.firsts = fg_arena_array(&rows.arena, most, sizeof(*rows.firsts));
	rows.blocks = fg_arena_array(&rows.arena, most, sizeof(*rows.blocks));
	for (int kind = 1; kind < FG_CHUNK_KINDS; kind++)
		add_block(&rows, series, kind, &parts->blocks[kind]);
	status = add_measures(store, &rows, series, parts, err);
	if (status == FG_OK)
		status = fg_store_add_rows(store, FG_SQL_CHUNK_ADD,
					   &(struct fg_rows){.columns = {{.numbers = rows.series},
									 {.numbers = rows.kinds},
									 {.numbers = rows.firsts},
									 {.blobs = rows.blocks}},
							     .column_count = 4,
							     .count = rows.count},
					   err);
	fg_arena_release(&rows.arena);
	return status;
}

static int put_totals(const struct fg_chunk_place *place, fg_totals_maker *make,
		      const struct fg_profile_set *set, const struct fg_progress_mark *mark,
		      struct fg_error *err)
{
	for (size_t m = 0; m < fg_measure_count(&set->measures); m++) {
		struct fg_measure_kinds kinds;
		struct fg_bytes content = {0};
		int status = FG_OK;

		if (!fg_profile_set_has(set, (uint16_t)m, 0))
			continue;
		status = fg_store_measure_kinds(
			place->store, fg_measure_at(&set->measures, (uint16_t)m), &kinds, err);
		if (status != FG_OK)
			return status;
		status = make(set, (uint16_t)m, mark->functions, &content, err);
		if (status == FG_OK)
			status = fg_chunk_put(place, kinds.totals, 0, &content, err);
		fg_bytes_release(&content);
		if (status != FG_OK)
			return status;
	}
	return FG_OK;
}

static int put_values(struct fg_store *store, int64_t id, const struct fg_save *save,
		      size_t position, struct fg_error *err)
{
	const struct fg_chunk_place place = {.store = store, .series = id};
	const struct fg_profile_set *set = save->profiles ? save->profiles[position] : NULL;
	struct fg_progress_mark mark = {0};
	int status = fg_store_put_repetitions(&place, &save->run->series[position],
					      &mark.repetitions, err);

	if (status != FG_OK)
		goto out;
	if (set)
		status = fg_store_put_profile(&place, set, &mark, err);
	if (status != FG_OK)
		goto out;
	if (set && save->make_totals)
		status = put_totals(&place, save->make_totals, set, &mark, err);
out:
	free(mark.functions);
	free(mark.nodes);
	return status;
}

static int save_series(struct fg_store *store, int64_t run_id, const struct fg_save *save,
		       size_t position, struct fg_error *err)
{
	const struct fg_series *series = &save->run->series[position];
	int64_t id = 0;
	int status = fg_store_put_series(store, run_id, save->run, position, &id, err);

	if (status != FG_OK)
		return status;
	status = fg_store_put_series_conditions(store, run_id, series, position, err);
	if (status != FG_OK)
		return status;
	if (save->parts) {
		const struct fg_series_parts *parts = &save->parts[position];

		status = put_made(store, id, parts, err);
		if (status == FG_OK)
			status = fg_store_put_levels(store, save->run, id, series, parts->levels,
						     err);
	} else {
		struct fg_level *levels = fg_levels_make(series, save->report);

		status = put_values(store, id, save, position, err);
		if (status == FG_OK)
			status = fg_store_put_levels(store, save->run, id, series, levels, err);
		free(levels);
	}
	return status;
}

int64_t fg_parts_bytes(const struct fg_series_parts *parts, size_t count,
		       const struct fg_bytes *report_block)
{
	size_t bytes = report_block->size;

	for (size_t i = 0; i < count; i++) {
		for (size_t kind = 1; kind < FG_CHUNK_KINDS; kind++)
			bytes += parts[i].blocks[kind].size;
		for (size_t m = 0; m < parts[i].measure_count; m++)
			bytes += parts[i].measures[m].rows.size + parts[i].measures[m].totals.size;
	}
	return (int64_t)bytes;
}

/* Without parts, the database knows how much it was. */
static int weigh(struct fg_store *store, int64_t id, struct fg_error *err)
{
	struct fg_query q;

	fg_query_begin(&q, store->db, FG_SQL_RUN_WEIGH);
	fg_query_int(&q, id);
	return fg_query_run(&q, err);
}

int fg_store_write_run(struct fg_store *store, const struct fg_save *save, struct fg_error *err)
{
	const struct fg_run_head words = {
		.complete = save->run->complete,
		.is_new = save->is_new,
		.outcome = save->report ? fg_json_text_or(save->report, "verdict", NULL) : NULL,
		.digest = save->digest,
		.bytes = save->parts ? fg_parts_bytes(save->parts, save->run->series_count,
						      save->report_block)
				     : 0,
	};
	int64_t id = 0;
	int status = fg_store_begin(store, err);

	if (status != FG_OK)
		return status;
	store->batch.later.collects = save->is_kept && store->batch.is_open;
	status = fg_store_put_run(store, save->run, &words, &id, err);
	if (status != FG_OK)
		goto out;
	if (!save->is_new) /* an earlier version of the run may wait in this batch */
		status = fg_store_write_later(store, err);
	if (!save->is_new && status == FG_OK)
		status = fg_store_clear_run(store, id, err);
	if (status != FG_OK)
		goto out;
	status = fg_store_put_run_conditions(store, id, save->run, err);
	if (status != FG_OK)
		goto out;
	for (size_t i = 0; i < save->run->series_count && status == FG_OK; i++)
		status = save_series(store, id, save, i, err);
	if (status != FG_OK)
		goto out;
	if (save->report_block->size)
		status = put_report(store, id, save->report_block, err);
	if (!save->parts && status == FG_OK)
		status = weigh(store, id, err);
out:
	store->batch.later.collects = false;
	return fg_store_end(store, status, err);
}

int fg_report_make(const struct fg_run *run, const char *report, cJSON **json,
		   struct fg_bytes *block, struct fg_error *err)
{
	enum {
		REPORT_MAX_BYTES = 256 << 20
	};
	int status = fg_store_check_run(run, err);

	if (status != FG_OK || !report)
		return status;
	status = fg_json_parse(report, strlen(report), REPORT_MAX_BYTES, json, err);
	if (status != FG_OK) {
		fg_error_prefix(err, "the report of run %s", run->id);
		return status;
	}
	return fg_pack(report, strlen(report), FG_PACK_LEVEL, block, err);
}

int fg_store_save_made(struct fg_store *store, struct fg_save *save, const char *report,
		       struct fg_error *err)
{
	struct fg_bytes block = {0};
	cJSON *json = NULL;
	int status = fg_report_make(save->run, report, &json, &block, err);

	save->report = json;
	save->report_block = &block;
	if (status == FG_OK)
		status = fg_store_write_run(store, save, err);
	fg_bytes_release(&block);
	cJSON_Delete(json);
	save->report = NULL;
	save->report_block = NULL;
	return status;
}

int fg_store_save(struct fg_store *store, const struct fg_run *run,
		  struct fg_profile_set *const *profiles, const char *report, struct fg_error *err)
{
	struct fg_save save = {.run = run, .profiles = profiles};

	return fg_store_save_made(store, &save, report, err);
}
