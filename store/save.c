// SPDX-License-Identifier: Apache-2.0
/*
 * Writing runs.  A whole run is one transaction; a run in progress is one transaction per call,
 * each writing a chunk per benchmark that has something new: a chunk for each pair, which grows
 * with the pair.  Saving the whole run afterwards replaces the small chunks by large ones, which
 * pack far better.
 */
#include "store/save.h"

#include "base/json.h"
#include "model/profile_set.h"
#include "model/run.h"
#include "store/bytes.h"
#include "store/chunks.h"
#include "store/db.h"
#include "store/levels.h"
#include "store/run_rows.h"
#include "store/series_values.h"
#include "store/session.h"
#include "store/store.h"
#include "store/transaction.h"

#include <math.h>

static int put_report(struct fg_store *store, int64_t run, const struct fg_bytes *block,
		      struct fg_error *err)
{
	struct fg_query q;

	fg_query_begin(&q, store->db, FG_SQL_REPORT_ADD);
	fg_query_int(&q, run);
	fg_query_text(&q, "json");
	fg_query_bytes(&q, block->data, block->size);
	return fg_query_run(&q, err);
}

static int put_made(struct fg_store *store, int64_t series, const struct fg_series_parts *parts,
		    struct fg_error *err)
{
	int64_t all_series[FG_CHUNK_KINDS];
	int64_t kinds[FG_CHUNK_KINDS];
	int64_t firsts[FG_CHUNK_KINDS] = {0};
	struct fg_blob blocks[FG_CHUNK_KINDS];
	struct fg_rows rows = {.columns = {{.numbers = all_series},
					   {.numbers = kinds},
					   {.numbers = firsts},
					   {.blobs = blocks}},
			       .column_count = 4};

	for (int kind = 1; kind < FG_CHUNK_KINDS; kind++) {
		if (parts->blocks[kind].size == 0)
			continue;
		all_series[rows.count] = series;
		kinds[rows.count] = kind;
		blocks[rows.count++] =
			(struct fg_blob){parts->blocks[kind].data, parts->blocks[kind].size};
	}
	return fg_query_rows(store->db, FG_SQL_CHUNK_ADD, &rows, NULL, err);
}

static int put_derived(const struct fg_chunk_place *place, const struct fg_derived_block *derived,
		       const struct fg_profile_set *set, const struct fg_progress_mark *mark,
		       struct fg_error *err)
{
	struct fg_bytes content = {0};
	const int status = derived->make(set, mark->functions, &content, err);

	if (status == FG_OK)
		return fg_chunk_put(place, derived->kind, 0, &content, err);
	fg_bytes_release(&content);
	return status;
}

static int put_values(struct fg_store *store, int64_t id, const struct fg_save *save,
		      size_t position, struct fg_error *err)
{
	const struct fg_chunk_place place = {.store = store, .series = id};
	const struct fg_profile_set *set = save->profiles ? save->profiles[position] : NULL;
	struct fg_progress_mark mark = {0};
	int status = fg_store_put_repetitions(&place, &save->run->series[position],
					      &mark.repetitions, err);

	if (status == FG_OK && set)
		status = fg_store_put_profile(&place, set, &mark, err);
	if (status == FG_OK && set && set->row_count && save->derived)
		status = put_derived(&place, save->derived, set, &mark, err);
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

int fg_store_write_run(struct fg_store *store, const struct fg_save *save, struct fg_error *err)
{
	const struct fg_run_head words = {
		save->run->complete,
		save->report ? fg_json_text_or(save->report, "verdict", NULL) : NULL, save->digest};
	int64_t id = 0;
	int status = fg_store_begin(store, err);

	if (status != FG_OK)
		return status;
	status = fg_store_put_run(store, save->run, &words, &id, err);
	if (status == FG_OK && !save->is_new)
		status = fg_store_clear_run(store, id, err);
	if (status == FG_OK)
		status = fg_store_put_run_conditions(store, id, save->run, err);
	for (size_t i = 0; i < save->run->series_count && status == FG_OK; i++)
		status = save_series(store, id, save, i, err);
	if (status == FG_OK && save->report_block->size)
		status = put_report(store, id, save->report_block, err);
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
	return fg_seal(report, strlen(report), FG_SEAL_LEVEL, block, err);
}

int fg_store_save_derived(struct fg_store *store, struct fg_save *save, const char *report,
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
	return status;
}

int fg_store_save(struct fg_store *store, const struct fg_run *run,
		  struct fg_profile_set *const *profiles, const char *report, struct fg_error *err)
{
	return fg_store_save_derived(store, &(struct fg_save){.run = run, .profiles = profiles},
				     report, err);
}
