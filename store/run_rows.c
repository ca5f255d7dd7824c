// SPDX-License-Identifier: Apache-2.0
#include "store/run_rows.h"

#include "base/json_write.h"
#include "base/strbuf.h"
#include "model/environment.h"
#include "model/run.h"
#include "store/conditions.h"
#include "store/db.h"
#include "store/names.h"
#include "store/session.h"
#include "store/values.h"

static const char *side_fact(const struct fg_run *run, const char *key)
{
	const char *value = fg_environment_get(&run->sides[FG_ARM_CANDIDATE].build, key);

	return value ? value : fg_environment_get(&run->host, key);
}

/* Removes everything that belongs to an earlier version of the run. */
static int clear_run(struct fg_store *store, int64_t id, struct fg_error *err)
{
	static const enum fg_sql sweeps[] = {FG_SQL_SERIES_CLEAR, FG_SQL_LEVELS_CLEAR,
					     FG_SQL_RUN_FACTS_CLEAR, FG_SQL_REPORT_CLEAR};
	int status = FG_OK;

	for (size_t i = 0; i < FG_ARRAY_SIZE(sweeps) && status == FG_OK; i++)
		status = FG_QUERY_DO(store->db, err, sweeps[i], FG_BIND(id));
	return status;
}

int fg_store_put_run(struct fg_store *store, const struct fg_run *run,
		     const struct fg_run_head *head, int64_t *id, struct fg_error *err)
{
	const struct fg_side *candidate = &run->sides[FG_ARM_CANDIDATE];
	const struct fg_side *baseline = &run->sides[FG_ARM_BASELINE];
	char fingerprint[17];
	char seed[24];
	int64_t project = 0;
	int64_t earlier = 0;
	int status = FG_OK;

	FG_TRY(fg_store_project(store, run->project ? run->project : "", &project, err));
	status = FG_QUERY_FIND(store->db, &earlier, err, FG_SQL_RUN_BY_UUID, FG_BIND(run->id));
	if (status != FG_OK && status != FG_ENOENT)
		return status;
	fg_environment_fingerprint(&run->host, fingerprint);
	(void)snprintf(seed, sizeof(seed), "%016llx", (unsigned long long)run->seed);
	status = FG_QUERY_FIND(
		store->db, id, err, FG_SQL_RUN_PUT, FG_BIND(run->id), FG_BIND(project),
		FG_BIND(run->started_ns), FG_BIND(run->ended_ns), FG_BIND(head->complete),
		FG_BIND(run->has_baseline), FG_BIND(seed), FG_BIND(run->tool_version),
		FG_BIND(head->outcome), FG_BIND(fingerprint), FG_BIND(candidate->commit),
		FG_BIND(candidate->branch), FG_BIND(candidate->describe), FG_BIND(candidate->dirty),
		FG_BIND(baseline->commit), FG_BIND(baseline->branch), FG_BIND(baseline->describe),
		FG_BIND(baseline->dirty), FG_BIND(side_fact(run, "git.tag")),
		FG_BIND(head->digest));
	return status == FG_OK && earlier ? clear_run(store, earlier, err) : status;
}

int fg_store_put_run_conditions(struct fg_store *store, int64_t id, const struct fg_run *run,
				struct fg_error *err)
{
	const struct fg_scoped scoped[] = {
		{id, FG_SCOPE_HOST, &run->host},
		{id, FG_SCOPE_SIDES + FG_ARM_BASELINE, &run->sides[FG_ARM_BASELINE].build},
		{id, FG_SCOPE_SIDES + FG_ARM_CANDIDATE, &run->sides[FG_ARM_CANDIDATE].build},
	};

	return fg_store_put_conditions(store, scoped, FG_ARRAY_SIZE(scoped), err);
}

int fg_store_put_series_conditions(struct fg_store *store, int64_t run,
				   const struct fg_series *series, size_t position,
				   struct fg_error *err)
{
	const int64_t scope = FG_SCOPE_SERIES + 2 * (int64_t)position;
	struct fg_environment facts[FG_ARM_COUNT] = {0};
	struct fg_scoped scoped[FG_ARM_COUNT];
	int status = FG_OK;

	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		fg_build_facts_list(&series->build[arm], &facts[arm]);
		scoped[arm] = (struct fg_scoped){run, scope + (int64_t)arm, &facts[arm]};
	}
	status = fg_store_put_conditions(store, scoped, FG_ARM_COUNT, err);
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++)
		fg_environment_release(&facts[arm]);
	return status;
}

/* Looks up all strings of a series and its levels at once. */
static int find_texts(struct fg_store *store, const struct fg_series *series, const char *metrics,
		      struct fg_error *err)
{
	const char **texts = fg_xcalloc(series->metric_count + 2, sizeof(*texts));
	int status = FG_OK;

	texts[0] = metrics;
	texts[1] = series->command;
	for (size_t m = 0; m < series->metric_count; m++)
		texts[2 + m] = series->metrics[m].name;
	status = fg_store_find_texts(store, texts, series->metric_count + 2, err);
	free(texts);
	return status;
}

static int metrics_text_id(struct fg_store *store, const struct fg_series *series, int64_t *id,
			   struct fg_error *err)
{
	struct fg_strbuf text = {0};
	struct fg_json_writer w;
	int status = FG_OK;

	fg_json_writer_init(&w, &text, 0);
	fg_metrics_write(series, &w, NULL);
	status = find_texts(store, series, fg_strbuf_text(&text), err);
	if (status == FG_OK)
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

/* Stores the series' row, without its values and conditions. */
int fg_store_put_series(struct fg_store *store, int64_t run_id, const struct fg_run *run,
			size_t position, int64_t *id, struct fg_error *err)
{
	const struct fg_series *series = &run->series[position];
	char *details = details_text(series);
	int64_t benchmark = 0;
	int64_t metrics = 0;
	int64_t command = 0;
	int status = FG_OK;

	FG_TRY_OUT(fg_store_benchmark_id(store, run->project ? run->project : "", series->name,
					 &benchmark, err));
	FG_TRY_OUT(metrics_text_id(store, series, &metrics, err));
	if (series->command)
		FG_TRY_OUT(fg_store_text_id(store, series->command, &command, err));
	status = FG_QUERY_FIND(store->db, id, err, FG_SQL_SERIES_ADD, FG_BIND(run_id),
			       FG_BIND((int64_t)position), FG_BIND(benchmark),
			       FG_BIND(run->started_ns),
			       FG_BIND(series->command ? command : FG_NO_NUMBER), FG_BIND(metrics),
			       FG_BIND(details));
out:
	free(details);
	return status;
}

int fg_store_update_series(struct fg_store *store, const struct fg_series *series, int64_t id,
			   struct fg_error *err)
{
	char *details = details_text(series);
	int64_t metrics = 0;
	int status = metrics_text_id(store, series, &metrics, err);

	if (status == FG_OK) {
		status = FG_QUERY_DO(store->db, err, FG_SQL_SERIES_UPDATE, FG_BIND(id),
				     FG_BIND(metrics), FG_BIND(details));
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
		return fg_error_set(err, FG_ELIMIT, "a run has %zu benchmarks; the limit is %d",
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
