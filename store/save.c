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
#include "store/names.h"
#include "store/run_rows.h"
#include "store/series_values.h"
#include "store/session.h"
#include "store/store.h"
#include "store/totals.h"
#include "store/transaction.h"

#include <math.h>

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

static double bound_or_nan(const cJSON *interval, int place)
{
	const cJSON *item = cJSON_GetArrayItem(interval, place);

	return cJSON_IsNumber(item) ? item->valuedouble : (double)NAN;
}

/* Adds one row per metric of the series: the values that a trend needs. */
static int put_levels(struct fg_store *store, int64_t run_id, const struct fg_save *save,
		      const struct fg_series *series, struct fg_error *err)
{
	const cJSON *mine =
		fg_json_find_named(fg_json_find(save->report, "benchmarks"), series->name);
	const cJSON *metrics = fg_json_find(mine, "metrics");
	struct fg_rows rows = {0};
	int64_t benchmark = 0;
	int status = fg_store_benchmark_id(store, save->run->project ? save->run->project : "",
					   series->name, &benchmark, err);

	for (size_t m = 0; m < series->metric_count && status == FG_OK; m++) {
		const char *metric = series->metrics[m].name;
		const cJSON *verdict = fg_json_find_named(metrics, metric);
		const cJSON *interval = fg_json_find(verdict, "interval");
		const cJSON *step = fg_json_find(verdict, "step"); /* ln(ratio), for a chain */
		size_t counts[FG_ARM_COUNT] = {0};
		double medians[FG_ARM_COUNT];
		int64_t name = 0;

		for (unsigned arm = 0; arm < FG_ARM_COUNT; arm++)
			medians[arm] = fg_series_median(series, m, (enum fg_arm)arm, &counts[arm]);
		if (counts[FG_ARM_BASELINE] + counts[FG_ARM_CANDIDATE] == 0)
			continue;
		status = fg_store_text_id(store, metric, &name, err);
		FG_ROWS_ADD(&rows, FG_BIND(benchmark), FG_BIND(name),
			    FG_BIND(save->run->started_ns), FG_BIND(run_id),
			    FG_BIND((int64_t)fg_json_double_or(verdict, "pairs",
							       (double)counts[FG_ARM_CANDIDATE])),
			    FG_BIND(medians[FG_ARM_BASELINE]), FG_BIND(medians[FG_ARM_CANDIDATE]),
			    FG_BIND(fg_json_double_or(verdict, "ratio", (double)NAN)),
			    FG_BIND(bound_or_nan(interval, 0)), FG_BIND(bound_or_nan(interval, 1)),
			    FG_BIND(bound_or_nan(step, 0)), FG_BIND(bound_or_nan(step, 1)),
			    FG_BIND(fg_json_text_or(verdict, "verdict", NULL)));
	}
	if (status == FG_OK)
		status = fg_query_rows(store->db, FG_SQL_LEVEL_ADD, &rows, NULL, err);
	fg_rows_release(&rows);
	return status;
}

static int save_series(struct fg_store *store, int64_t run_id, const struct fg_save *save,
		       size_t position, struct fg_error *err)
{
	const struct fg_series *series = &save->run->series[position];
	int64_t id = 0;

	FG_TRY(fg_store_put_series(store, run_id, save->run, position, &id, err));
	FG_TRY(fg_store_put_series_conditions(store, run_id, series, position, err));
	FG_TRY(put_values(store, id, save, position, err));
	return put_levels(store, run_id, save, series, err);
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
