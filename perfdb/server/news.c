// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/news.h"

#include "base/json.h"
#include "model/run.h"
#include "store/levels.h"
#include "store/store.h"

#include <math.h>

enum {
	REPORT_MAX_BYTES = 256 << 20
};

const char *fg_news_url(struct fg_arena *arena, const char *start, const char *run)
{
	const size_t length = start ? strlen(start) : 0;
	const bool has_slash = length && start[length - 1] == '/';

	return fg_arena_printf(arena, "%.*s/?view=run&run=%s", (int)(length - has_slash),
			       length ? start : "", run);
}

static void add_finding(struct fg_news *news, const struct fg_alert_finding *finding)
{
	if (news->told.count < FG_ALERT_FINDINGS_MAX)
		news->findings[news->told.count++] = *finding;
}

static void add_metric(struct fg_news *news, const char *benchmark, const struct fg_metric *metric,
		       const struct fg_level *level)
{
	struct fg_alert_finding finding = {
		.benchmark = benchmark,
		.metric = metric->name,
		.before = level->medians[FG_ARM_BASELINE],
		.after = level->medians[FG_ARM_CANDIDATE],
		.ratio = level->ratio,
	};

	if (level->outcome && strcmp(level->outcome, "regression") == 0)
		finding.event = FG_ALERT_REGRESSION;
	else if (level->outcome && strcmp(level->outcome, "error") == 0)
		finding.event = FG_ALERT_ERROR;
	if (finding.event)
		add_finding(news, &finding);
	finding.event = FG_ALERT_CHANGE;
	if (level->is_there && isfinite(finding.after) &&
	    news->told.search_count < FG_ALERT_FINDINGS_MAX)
		news->searches[news->told.search_count++] = finding;
}

static bool has_error(const struct fg_news *news, const char *benchmark)
{
	for (size_t i = 0; i < news->told.count; i++) {
		if (news->findings[i].event == FG_ALERT_ERROR &&
		    (!benchmark || strcmp(news->findings[i].benchmark, benchmark) == 0))
			return true;
	}
	return false;
}

static void add_error(struct fg_news *news, const char *benchmark)
{
	add_finding(news, &(struct fg_alert_finding){.event = FG_ALERT_ERROR,
						     .benchmark = benchmark,
						     .metric = "",
						     .before = (double)NAN,
						     .after = (double)NAN,
						     .ratio = (double)NAN});
}

static bool is_error(const cJSON *json)
{
	return strcmp(fg_json_text_or(json, "verdict", ""), "error") == 0;
}

/* A benchmark may fail without a value of any metric, and a run without a benchmark. */
static void add_errors(struct fg_news *news, const cJSON *report)
{
	const cJSON *benchmark = NULL;

	cJSON_ArrayForEach(benchmark, fg_json_find(report, "benchmarks"))
	{
		const char *name = fg_json_text_or(benchmark, "name", NULL);

		if (name && is_error(benchmark) && !has_error(news, name))
			add_error(news, name);
	}
	if (is_error(report) && !has_error(news, NULL))
		add_error(news, "");
}

static void add_series(struct fg_news *news, const struct fg_series *series)
{
	struct fg_level *levels = fg_levels_make(series, news->report);

	for (size_t m = 0; m < series->metric_count; m++)
		add_metric(news, series->name, &series->metrics[m], &levels[m]);
	free(levels);
}

int fg_news_make(struct fg_news *news, const struct fg_stored_run *stored, const char *start,
		 struct fg_error *err)
{
	const struct fg_run *run = &stored->run;
	int status = FG_OK;

	news->told = (struct fg_alert_news){.rules = &news->rules};
	if (news->rules.count == 0 || !run->complete)
		return FG_OK;
	if (stored->report)
		status = fg_json_parse(stored->report, strlen(stored->report), REPORT_MAX_BYTES,
				       &news->report, err);
	if (status != FG_OK)
		return status;
	news->findings =
		fg_arena_array(&news->arena, FG_ALERT_FINDINGS_MAX, sizeof(*news->findings));
	news->searches =
		fg_arena_array(&news->arena, FG_ALERT_FINDINGS_MAX, sizeof(*news->searches));
	for (size_t s = 0; s < run->series_count; s++)
		add_series(news, &run->series[s]);
	if (news->report)
		add_errors(news, news->report);
	news->told.project = run->project;
	news->told.run = run->id;
	news->told.url = fg_news_url(&news->arena, start, run->id);
	news->told.commit = run->sides[FG_ARM_CANDIDATE].commit;
	news->told.branch = run->sides[FG_ARM_CANDIDATE].branch;
	news->told.findings = news->findings;
	news->told.searches = news->searches;
	return FG_OK;
}

void fg_news_release(struct fg_news *news)
{
	cJSON_Delete(news->report);
	fg_alert_rule_list_release(&news->rules);
	fg_arena_release(&news->arena);
	*news = (struct fg_news){0};
}
