// SPDX-License-Identifier: Apache-2.0
#include "store/run_rows.h"

#include "base/json_write.h"
#include "base/strbuf.h"
#include "model/environment.h"
#include "model/run.h"
#include "store/conditions.h"
#include "store/db.h"
#include "store/names.h"
#include "store/removal.h"
#include "store/session.h"
#include "store/values.h"

static const char *side_fact(const struct fg_run *run, const char *key)
{
	const char *value = fg_environment_get(&run->sides[FG_ARM_CANDIDATE].build, key);

	return value ? value : fg_environment_get(&run->host, key);
}

int fg_store_put_run(struct fg_store *store, const struct fg_run *run,
		     const struct fg_run_head *head, int64_t *id, struct fg_error *err)
{
	const struct fg_side *candidate = &run->sides[FG_ARM_CANDIDATE];
	const struct fg_side *baseline = &run->sides[FG_ARM_BASELINE];
	char fingerprint[17];
	char seed[24];
	struct fg_query q;
	int64_t project = 0;
	int status = fg_store_project(store, run->project ? run->project : "", &project, err);

	if (status != FG_OK)
		return status;
	fg_environment_fingerprint(&run->host, fingerprint);
	(void)snprintf(seed, sizeof(seed), "%016llx", (unsigned long long)run->seed);
	fg_query_begin(&q, store->db, FG_SQL_RUN_PUT);
	fg_query_text(&q, run->id);
	fg_query_int(&q, project);
	fg_query_int(&q, run->started_ns);
	fg_query_int(&q, run->ended_ns);
	fg_query_int(&q, head->complete);
	fg_query_int(&q, run->has_baseline);
	fg_query_text(&q, seed);
	fg_query_text(&q, run->tool_version);
	fg_query_text(&q, head->outcome);
	fg_query_text(&q, fingerprint);
	fg_query_text(&q, candidate->commit);
	fg_query_text(&q, candidate->branch);
	fg_query_text(&q, candidate->describe);
	fg_query_int(&q, candidate->dirty);
	fg_query_text(&q, baseline->commit);
	fg_query_text(&q, baseline->branch);
	fg_query_text(&q, baseline->describe);
	fg_query_int(&q, baseline->dirty);
	fg_query_text(&q, side_fact(run, "git.tag"));
	fg_query_text(&q, head->digest);
	fg_query_int(&q, head->is_new);
	fg_query_int(&q, head->bytes);
	status = fg_query_value(&q, id, err);
	if (status == FG_ENOENT)
		return fg_error_set(err, FG_EBUSY, "%s: run %s has just been stored: try again",
				    store->db->name, run->id);
	return status;
}

/* Run a statement with one number as its parameter. */
static int clear(struct fg_store *store, enum fg_sql sql, int64_t id, struct fg_error *err)
{
	struct fg_query q;

	fg_query_begin(&q, store->db, sql);
	fg_query_int(&q, id);
	return fg_query_run(&q, err);
}

/* Remove everything that belongs to an earlier version of the run. */
int fg_store_clear_run(struct fg_store *store, int64_t id, struct fg_error *err)
{
	static const enum fg_sql sweeps[] = {FG_SQL_SERIES_CLEAR, FG_SQL_RUN_FACTS_CLEAR,
					     FG_SQL_RUN_SETS_CLEAR, FG_SQL_REPORT_CLEAR};
	int status = FG_OK;

	for (size_t i = 0; i < FG_ARRAY_SIZE(sweeps) && status == FG_OK; i++)
		status = clear(store, sweeps[i], id, err);
	if (status != FG_OK)
		return status;
	return fg_store_cut_seals(store, err);
}

int fg_store_put_run_conditions(struct fg_store *store, int64_t id, const struct fg_run *run,
				struct fg_error *err)
{
	const struct fg_scoped scoped[] = {
		{id, FG_SCOPE_HOST, &run->host},
		{id, FG_SCOPE_SIDES + FG_ARM_BASELINE, &run->sides[FG_ARM_BASELINE].build},
		{id, FG_SCOPE_SIDES + FG_ARM_CANDIDATE, &run->sides[FG_ARM_CANDIDATE].build},
	};

	return fg_store_add_conditions(store, scoped, FG_ARRAY_SIZE(scoped), err);
}

int fg_store_put_series_conditions(struct fg_store *store, int64_t run,
				   const struct fg_series *series, size_t position,
				   struct fg_error *err)
{
	const int64_t scope = FG_SCOPE_SERIES + 2 * (int64_t)position;
	const struct fg_scoped scoped[] = {
		{run, scope + FG_ARM_BASELINE, &series->build[FG_ARM_BASELINE]},
		{run, scope + FG_ARM_CANDIDATE, &series->build[FG_ARM_CANDIDATE]},
	};

	return fg_store_add_conditions(store, scoped, FG_ARRAY_SIZE(scoped), err);
}

static int metrics_text_id(struct fg_store *store, const struct fg_series *series, int64_t *id,
			   struct fg_error *err)
{
	struct fg_strbuf text = {0};
	struct fg_json_writer w;
	int status = FG_OK;

	fg_json_writer_init(&w, &text, 0);
	fg_metrics_write(series, &w, NULL);
	status = fg_store_text_id(store, fg_strbuf_text(&text), id, err);
	fg_strbuf_release(&text);
	return status;
}

static char *details_text(const struct fg_series *series)
{
	struct fg_strbuf text = {0};
	struct fg_json_writer w;

	fg_json_writer_init(&w, &text, 0);
	fg_details_write(series, &w, NULL);
	return fg_strbuf_detach(&text);
}

/* The series' row without its values and conditions. */
int fg_store_put_series(struct fg_store *store, int64_t run_id, const struct fg_run *run,
			size_t position, int64_t *id, struct fg_error *err)
{
	const struct fg_series *series = &run->series[position];
	char *details = details_text(series);
	struct fg_query q;
	int64_t benchmark = 0;
	int64_t metrics = 0;
	int64_t command = 0;
	int status = fg_store_benchmark_id(store, run->project ? run->project : "", series->name,
					   &benchmark, err);

	if (status != FG_OK)
		goto out;
	status = metrics_text_id(store, series, &metrics, err);
	if (status != FG_OK)
		goto out;
	if (series->command)
		status = fg_store_text_id(store, series->command, &command, err);
	if (status != FG_OK)
		goto out;
	fg_query_begin(&q, store->db, FG_SQL_SERIES_ADD);
	fg_query_int(&q, run_id);
	fg_query_int(&q, (int64_t)position);
	fg_query_int(&q, benchmark);
	if (series->command)
		fg_query_int(&q, command);
	else
		fg_query_text(&q, NULL);
	fg_query_int(&q, metrics);
	fg_query_text(&q, details);
	status = fg_query_value(&q, id, err);
out:
	free(details);
	return status;
}

int fg_store_update_series(struct fg_store *store, const struct fg_series *series, int64_t id,
			   struct fg_error *err)
{
	char *details = details_text(series);
	struct fg_query q;
	int64_t metrics = 0;
	int status = metrics_text_id(store, series, &metrics, err);

	if (status == FG_OK) {
		fg_query_begin(&q, store->db, FG_SQL_SERIES_UPDATE);
		fg_query_int(&q, id);
		fg_query_int(&q, metrics);
		fg_query_text(&q, details);
		status = fg_query_run(&q, err);
	}
	free(details);
	return status;
}

int fg_store_check_run(const struct fg_run *run, struct fg_error *err)
{
	if (strlen(run->id) != 36)
		return fg_error_set(
			err, FG_EINVAL,
			"a run needs an id of 36 characters before it can be stored; '%s' has %zu",
			run->id, strlen(run->id));
	if (run->series_count > FG_MAX_SERIES)
		return fg_error_set(err, FG_ELIMIT, "a run has %zu benchmarks; the store takes %d",
				    run->series_count, FG_MAX_SERIES);
	if (run->project && strlen(run->project) > FG_MAX_NAME_BYTES)
		return fg_error_set(err, FG_ELIMIT, "the project's name is longer than %d bytes",
				    FG_MAX_NAME_BYTES);
	for (size_t i = 0; i < run->series_count; i++) {
		if (strlen(run->series[i].name) > FG_MAX_NAME_BYTES)
			return fg_error_set(
				err, FG_ELIMIT,
				"the name of a benchmark is longer than %d bytes: '%.60s...'",
				FG_MAX_NAME_BYTES, run->series[i].name);
	}
	return FG_OK;
}
