// SPDX-License-Identifier: Apache-2.0
/*
 * Writes whole runs, each in one transaction. The small chunks that store/progress.c wrote for each
 * pair are replaced by large chunks, which pack far better.
 */
#include "base/json.h"
#include "model/profile_set.h"
#include "model/run.h"
#include "store/bytes.h"
#include "store/db.h"
#include "store/levels.h"
#include "store/names.h"
#include "store/run_rows.h"
#include "store/series_values.h"
#include "store/session.h"
#include "store/store.h"
#include "store/totals.h"
#include "store/transaction.h"

struct fg_save {
	const struct fg_run *run;
	struct fg_profile_set *const *profiles; /* one per series, or NULL */
	const cJSON *report;
	const struct fg_bytes *report_block; /* the compressed report; empty without one */
	const char *digest;
};

static int put_totals(const struct fg_chunk_place *chunks, const struct fg_save *save,
		      size_t position, const struct fg_progress_mark *mark, struct fg_error *err)
{
	const struct fg_run *run = save->run;
	struct fg_totals_place place = {.started_ns = run->started_ns, .series = chunks->series};
	const int status = fg_store_benchmark_id(chunks->store, run->project ? run->project : "",
						 run->series[position].name, &place.benchmark, err);

	return status == FG_OK ? fg_store_put_totals(chunks->store, &place,
						     save->profiles[position], mark->functions, err)
			       : status;
}

static int put_values(struct fg_store *store, int64_t id, const struct fg_save *save,
		      size_t position, struct fg_error *err)
{
	const struct fg_chunk_place place = {.store = store, .series = id};
	const struct fg_profile_set *set = save->profiles ? save->profiles[position] : NULL;
	struct fg_progress_mark mark = {0};
	int status = FG_OK;

	FG_TRY_OUT(fg_store_put_repetitions(&place, &save->run->series[position], &mark.repetitions,
					    err));
	if (set)
		FG_TRY_OUT(fg_store_put_profile(&place, set, &mark, err));
	if (set)
		status = put_totals(&place, save, position, &mark, err);
out:
	free(mark.functions);
	return status;
}

static int save_series(struct fg_store *store, int64_t run_id, const struct fg_save *save,
		       size_t position, struct fg_error *err)
{
	const struct fg_series *series = &save->run->series[position];
	struct fg_level *levels = NULL;
	int64_t id = 0;
	int status = FG_OK;

	FG_TRY(fg_store_put_series(store, run_id, save->run, position, &id, err));
	FG_TRY(fg_store_put_series_conditions(store, run_id, series, position, err));
	levels = fg_levels_make(series, save->report);
	status = put_values(store, id, save, position, err);
	if (status == FG_OK)
		status = fg_store_put_levels(store, save->run, run_id, series, levels, err);
	free(levels);
	return status;
}

static int write_run(struct fg_store *store, const struct fg_save *save, struct fg_error *err)
{
	const struct fg_run_head words = {
		.complete = save->run->complete,
		.outcome = save->report ? fg_json_text_or(save->report, "verdict", NULL) : NULL,
		.digest = save->digest,
	};
	const int64_t before = store->db->written_bytes;
	int64_t id = 0;
	int status = FG_OK;

	FG_TRY(fg_store_begin(store, err));
	FG_TRY_OUT(fg_store_put_run(store, save->run, &words, &id, err));
	FG_TRY_OUT(fg_store_put_run_conditions(store, id, save->run, err));
	for (size_t i = 0; i < save->run->series_count && status == FG_OK; i++)
		status = save_series(store, id, save, i, err);
	if (status != FG_OK)
		goto out;
	if (save->report_block->size)
		status = FG_QUERY_DO(store->db, err, FG_SQL_REPORT_ADD, FG_BIND(id),
				     FG_BIND("json"), FG_BIND(fg_bytes_blob(save->report_block)));
	if (status == FG_OK)
		status = FG_QUERY_DO(store->db, err, FG_SQL_RUN_WEIGH, FG_BIND(id),
				     FG_BIND(store->db->written_bytes - before));
out:
	return fg_store_end(store, status, err);
}

static int make_report(const struct fg_run *run, const char *report, cJSON **json,
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

static int save_run(struct fg_store *store, const struct fg_save *what, const char *report,
		    struct fg_error *err)
{
	struct fg_bytes block = {0};
	struct fg_save save = *what;
	cJSON *json = NULL;
	int status = make_report(save.run, report, &json, &block, err);

	save.report = json;
	save.report_block = &block;
	if (status == FG_OK)
		status = write_run(store, &save, err);
	fg_bytes_release(&block);
	cJSON_Delete(json);
	return status;
}

int fg_store_save(struct fg_store *store, const struct fg_run *run,
		  struct fg_profile_set *const *profiles, const char *report, struct fg_error *err)
{
	return save_run(store, &(struct fg_save){.run = run, .profiles = profiles}, report, err);
}

int fg_store_save_upload(struct fg_store *store, const struct fg_stored_run *stored,
			 const char *digest, struct fg_error *err)
{
	struct fg_save save = {.run = &stored->run, .profiles = stored->profiles, .digest = digest};

	return save_run(store, &save, stored->report, err);
}
