// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/session/stored.h"
#include "gate/history.h"
#include "reporters/reporter.h"

#include <math.h>

struct options {
	const char *store;
	const char *project;
	const char *branch;
	const char *metric;
	unsigned limit;
};

enum {
	BAR_COLUMNS = 30,
	MIN_ID_DIGITS = 8,
};

/*
 * A full bar stands for at least this share of the smallest value, so that noise does not look like
 * a cliff.
 */
static const double min_span = 0.05;

/* The stored runs to show, oldest first, without their profiles. */
struct line {
	struct fg_stored_run *stored;
	const struct fg_run **runs;
	size_t count;
	/* collects functions over all benchmarks; NULL if a single benchmark is shown */
	struct fg_creep_pool *pool;
};

static int list_runs(struct fg_store *store, const struct options *given, const char *benchmark,
		     struct fg_run_list *list, struct fg_error *err)
{
	const struct fg_run_filter filter = {
		.project = given->project,
		.branch = given->branch,
		.benchmark = benchmark,
		.complete_only = true,
		.limit = given->limit,
	};
	const int status = fg_store_list(store, &filter, list, err);

	if (status != FG_OK || list->count > 0)
		return status;
	return fg_error_set(err, FG_ENOENT, "no complete run%s%s%s%s is stored",
			    benchmark ? " of benchmark '" : "", benchmark ? benchmark : "",
			    benchmark ? "'" : "", given->branch ? " on this branch" : "");
}

static int load_line(struct fg_store *store, const struct options *given, bool with_reports,
		     const char *benchmark, struct line *line, struct fg_error *err)
{
	struct fg_run_list list = {0};
	int status = list_runs(store, given, benchmark, &list, err);

	line->stored = fg_xcalloc(list.count, sizeof(line->stored[0]));
	line->runs = fg_xcalloc(list.count, sizeof(line->runs[0]));
	for (size_t i = list.count; status == FG_OK && i > 0; i--) {
		struct fg_stored_run *stored = &line->stored[line->count];

		status = fg_store_load_benchmark(store, list.items[i - 1].id, benchmark,
						 with_reports, stored, err);
		if (status == FG_OK)
			line->runs[line->count++] = &stored->run;
	}
	fg_run_list_release(&list);
	return status;
}

static void release_line(struct line *line)
{
	for (size_t i = 0; i < line->count; i++)
		fg_stored_run_release(&line->stored[i]);
	free(line->stored);
	free(line->runs);
}

static const struct fg_trend_change *change_at(const struct fg_trend *trend, size_t point)
{
	for (size_t i = 0; i < trend->change_count; i++) {
		if (trend->changes[i].point == point)
			return &trend->changes[i];
	}
	return NULL;
}

static const char *commit_of(const struct fg_run *run)
{
	const char *commit = run->sides[FG_ARM_CANDIDATE].commit;

	return commit ? commit : "";
}

/* Returns the commit's index in the chain; 0 if it is the first or missing. */
static size_t place_in(const struct fg_chain *chain, const char *commit)
{
	for (size_t i = chain->count; *commit && i-- > 1;) {
		if (strcmp(chain->points[i].commit, commit) == 0)
			return i;
	}
	return 0;
}

static void print_chain(const struct fg_chained *chained, struct fg_json_writer *w)
{
	const struct fg_chain *chain = &chained->chain;

	fg_json_begin_array(w, "chain");
	for (size_t i = 0; i < chain->count; i++) {
		const struct fg_chain_point *point = &chain->points[i];
		const struct fg_chain_sum level = fg_chain_sum(chain, 0, i, FG_CHAIN_ALL);

		fg_json_begin_object(w, NULL);
		fg_json_text(w, "commit", point->commit);
		if (point->tag)
			fg_json_text(w, "tag", point->tag);
		fg_json_double(w, "level", expm1(level.change));
		fg_json_double(w, "standard_error", level.error);
		fg_json_end(w);
	}
	fg_json_end(w);
	if (chained->creep)
		fg_json_text(w, "creep", chained->creep->sentence);
}

static void print_json(const struct line *line, const struct fg_trend *trend,
		       const struct fg_chained *chained, const struct fg_chained_metric *metric,
		       struct fg_strbuf *text)
{
	struct fg_json_writer w;

	fg_json_writer_init(&w, text, 2);
	fg_json_begin_object(&w, NULL);
	fg_json_text(&w, "schema", "fastgate-history/1");
	fg_json_text(&w, "benchmark", metric->benchmark);
	fg_json_text(&w, "metric", metric->name);
	fg_json_begin_array(&w, "points");
	for (size_t i = 0; i < trend->point_count; i++) {
		const struct fg_trend_point *point = &trend->points[i];
		const struct fg_run *run = line->runs[point->run];
		const struct fg_trend_change *change = change_at(trend, i);

		fg_json_begin_object(&w, NULL);
		fg_json_text(&w, "run", run->id);
		fg_json_time(&w, "started_at", run->started_ns);
		fg_json_text(&w, "commit", run->sides[FG_ARM_CANDIDATE].commit);
		fg_json_double(&w, "value", point->value);
		fg_json_double(&w, "low", point->low);
		fg_json_double(&w, "high", point->high);
		fg_json_int(&w, "environment", (int64_t)point->environment);
		if (change) {
			fg_json_begin_object(&w, "change");
			fg_json_double(&w, "ratio", change->ratio);
			fg_json_bool(&w, "worse", change->worse);
			fg_json_double(&w, "p", change->p);
			fg_json_end(&w);
		}
		fg_json_end(&w);
	}
	fg_json_end(&w);
	print_chain(chained, &w);
	fg_json_end(&w);
	fg_strbuf_add_char(text, '\n');
}

/* Unit, scale and widths that all rows of the list share. */
struct columns {
	const char *unit;
	const struct fg_chained *chained;
	size_t id; /* number of digits that distinguish the runs */
	double smallest;
	double span; /* range of a full bar */
};

/*
 * Returns how many digits distinguish the runs: ids begin with the time, so neighbours share their
 * first digits.
 */
static size_t digits_of_ids(const struct line *line)
{
	size_t digits = MIN_ID_DIGITS;

	for (size_t i = 1; i < line->count; i++) {
		const char *a = line->runs[i - 1]->id;
		const char *b = line->runs[i]->id;
		size_t same = 0;

		while (a[same] && a[same] == b[same])
			same++;
		if (same + 1 > digits)
			digits = same + 1;
	}
	return digits;
}

static struct columns lay_out(const struct line *line, const struct fg_trend *trend,
			      const struct fg_chained *chained, const char *unit)
{
	struct columns columns = {.unit = unit, .chained = chained, .id = digits_of_ids(line)};
	double largest = -(double)INFINITY;

	columns.smallest = (double)INFINITY;
	for (size_t i = 0; i < trend->point_count; i++) {
		columns.smallest = fmin(columns.smallest, trend->points[i].value);
		largest = fmax(largest, trend->points[i].value);
	}
	columns.span = fmax(largest - columns.smallest, min_span * fabs(columns.smallest));
	return columns;
}

/* Returns the run's own verdict on this benchmark; "-" without a verdict. */
static const char *verdict_of(const struct fg_stored_run *stored, const char *benchmark)
{
	const size_t size = stored->report ? strlen(stored->report) : 0;
	enum fg_outcome outcome = FG_OUTCOME_PASS;
	const cJSON *item = NULL;
	const char *word = "-";
	cJSON *report = NULL;

	if (!size || fg_json_parse(stored->report, size, size, &report, NULL) != FG_OK)
		return word;
	cJSON_ArrayForEach(item, fg_json_find(report, "benchmarks"))
	{
		if (strcmp(fg_json_text_or(item, "name", ""), benchmark) == 0 &&
		    fg_outcome_parse(fg_json_text_or(item, "verdict", ""), &outcome))
			word = fg_outcome_name(outcome);
	}
	cJSON_Delete(report);
	return word;
}

/* Replaces control characters, because units and commits come from a checkout. */
static void end_line(struct fg_strbuf *line, struct fg_strbuf *text)
{
	fg_text_add_clean(text, fg_strbuf_text(line), line->length, SIZE_MAX);
	fg_strbuf_add_char(text, '\n');
	fg_strbuf_release(line);
}

/*
 * Adds "+1.2 %", the level relative to the chain's first commit; blanks for that commit and for
 * commits outside the chain.
 */
static void add_level(const struct fg_chain *chain, const char *commit, struct fg_strbuf *out)
{
	const size_t place = place_in(chain, commit);
	char change[FG_NUMBER_TEXT_SIZE] = "";

	if (chain->count == 0)
		return;
	if (place)
		(void)fg_format_change(expm1(fg_chain_sum(chain, 0, place, FG_CHAIN_ALL).change),
				       change);
	fg_strbuf_printf(out, "%*s%s  ", 9 - (int)fg_text_width(change), "", change);
}

static void print_point(const struct fg_stored_run *stored, const struct fg_trend_point *point,
			const char *benchmark, const struct columns *columns,
			struct fg_strbuf *text)
{
	const struct fg_run *run = &stored->run;
	char time[FG_TIME_TEXT_SIZE];
	char value[FG_NUMBER_TEXT_SIZE];
	const double share =
		columns->span > 0.0 ? (point->value - columns->smallest) / columns->span : 0.0;
	const size_t bar = 1 + (size_t)llround(share * (BAR_COLUMNS - 1));
	struct fg_strbuf out = {0};

	fg_time_format_utc(run->started_ns, time);
	fg_strbuf_printf(&out, "%.10s  %-10.10s  %-*.*s  %-12s  %10s  ", time, commit_of(run),
			 (int)columns->id, (int)columns->id, run->id, verdict_of(stored, benchmark),
			 fg_format_value(point->value, columns->unit, value));
	add_level(&columns->chained->chain, commit_of(run), &out);
	for (size_t i = 0; i < bar; i++)
		fg_strbuf_add_text(&out, "█");
	end_line(&out, text);
}

static void print_header(const struct line *line, const struct fg_series *series,
			 const char *metric, const struct columns *columns, struct fg_strbuf *text)
{
	const struct fg_run *newest = line->runs[line->count - 1];
	char value[FG_NUMBER_TEXT_SIZE];
	struct fg_strbuf out = {0};

	if (newest->project) {
		fg_text_add_clean(text, newest->project, strlen(newest->project), 80);
		fg_strbuf_add_text(text, "  ");
	}
	fg_text_add_clean(text, series->name, strlen(series->name), 80);
	fg_strbuf_add_text(text, "  ");
	fg_text_add_clean(text, metric, strlen(metric), 80);
	fg_strbuf_add_char(text, '\n');
	fg_strbuf_printf(&out, "%-10s  %-10s  %-*s  %-12s  %10s  %sbars begin at %s", "date",
			 "commit", (int)columns->id, "run", "verdict", "value",
			 columns->chained->chain.count ? "    level  " : "",
			 fg_format_value(columns->smallest, columns->unit, value));
	end_line(&out, text);
}

/* Prints the command that finds the commit of the newest change for the worse. */
static void print_bisect(const struct line *line, const struct fg_trend *trend,
			 const struct fg_series *series, struct fg_strbuf *text)
{
	for (size_t i = trend->change_count; i > 0; i--) {
		const size_t point = trend->changes[i - 1].point;
		const char *good =
			point > 0 ? commit_of(line->runs[trend->points[point - 1].run]) : "";
		const char *bad = commit_of(line->runs[trend->points[point].run]);
		char *words[] = {series->name, NULL};
		struct fg_strbuf out = {0};

		if (!trend->changes[i - 1].worse || !*good || !*bad || strcmp(good, bad) == 0)
			continue;
		fg_strbuf_printf(&out, "to find the commit: fastgate bisect %.12s %.12s --bench ",
				 good, bad);
		fg_text_quote_words(&out, words);
		end_line(&out, text);
		return;
	}
}

/* Prints the level from paired runs alone, because changes of the host do not affect pairs. */
static void print_level(const struct fg_chained *chained, struct fg_strbuf *text)
{
	const struct fg_chain *chain = &chained->chain;
	struct fg_strbuf out = {0};
	struct fg_chain_sum level;
	char change[FG_NUMBER_TEXT_SIZE];

	if (chain->count == 0)
		return;
	level = fg_chain_sum(chain, 0, chain->count - 1, FG_CHAIN_ALL);
	fg_strbuf_printf(&out, "level: %s ± %.2g %%, from the pairs of %zu commit%s since %.10s",
			 fg_format_change(expm1(level.change), change), 100 * level.error,
			 chain->count - 1, chain->count == 2 ? "" : "s", chain->points[0].commit);
	end_line(&out, text);
	if (!chained->creep)
		return;
	fg_strbuf_printf(&out, "%s: %s", chained->creep->is_creep ? "CREEP" : "no creep",
			 chained->creep->sentence);
	end_line(&out, text);
}

static void print_text(const struct line *line, const struct fg_trend *trend,
		       const struct fg_chained *chained, const struct fg_series *series,
		       size_t metric, struct fg_strbuf *text)
{
	const struct columns columns = lay_out(line, trend, chained, series->metrics[metric].unit);

	print_header(line, series, series->metrics[metric].name, &columns, text);
	for (size_t i = 0; i < trend->point_count; i++) {
		const struct fg_trend_change *change = change_at(trend, i);
		char words[FG_NUMBER_TEXT_SIZE];

		if (change)
			fg_strbuf_printf(text, "---------- %s from here on: %s\n",
					 change->worse ? "WORSE" : "better",
					 fg_format_change(change->ratio - 1.0, words));
		print_point(&line->stored[trend->points[i].run], &trend->points[i], series->name,
			    &columns, text);
	}
	print_bisect(line, trend, series, text);
	if (trend->change_count == 0)
		fg_strbuf_printf(text, "no lasting change found in %zu run%s\n", trend->point_count,
				 trend->point_count == 1 ? "" : "s");
	if (trend->environment_count > 1)
		fg_strbuf_printf(
			text,
			"\nthe runs are from %zu different environments; each is searched for "
			"changes separately\n",
			trend->environment_count);
	print_level(chained, text);
}

static int print_trend(struct fg_cli *cli, struct fg_store *store, const struct options *given,
		       const char *benchmark, const struct line *line, struct fg_error *err)
{
	const struct fg_trend_options how = {
		.benchmark = benchmark, .metric = given->metric, .seed = 1};
	const struct fg_series *series = NULL;
	struct fg_trend trend = {0};
	struct fg_strbuf text = {0};
	struct fg_chained_metric chosen = {.benchmark = benchmark, .name = given->metric};
	struct fg_chained chained = {.pool = line->pool};
	size_t metric = SIZE_MAX;
	int status = FG_OK;

	FG_TRY(fg_trend_build(line->runs, line->count, &how, &trend, err));
	/* The newest run may lack the metric, so take the run of the newest point. */
	series = fg_run_find(line->runs[trend.points[trend.point_count - 1].run], benchmark);
	metric = series ? fg_series_find_metric(series, given->metric) : SIZE_MAX;
	chosen.label = metric == SIZE_MAX ? given->metric : series->metrics[metric].label;
	chosen.better = metric == SIZE_MAX ? FG_BETTER_LOWER : series->metrics[metric].better;
	chosen.project = line->runs[line->count - 1]->project;
	FG_TRY_OUT(fg_chained_load(store, &chosen, NULL, NULL, &chained, err));
	if (cli->json)
		print_json(line, &trend, &chained, &chosen, &text);
	else if (metric != SIZE_MAX)
		print_text(line, &trend, &chained, series, metric, &text);
	fg_cli_page(cli, &text);
out:
	fg_chained_release(&chained);
	fg_strbuf_release(&text);
	fg_trend_release(&trend);
	return status;
}

static int show(struct fg_cli *cli, struct fg_store *store, const struct options *given,
		const char *benchmark, struct fg_creep_pool *pool, struct fg_error *err)
{
	struct line line = {.pool = pool};
	int status = load_line(store, given, !cli->json, benchmark, &line, err);

	if (status == FG_OK)
		status = print_trend(cli, store, given, benchmark, &line, err);
	release_line(&line);
	return status;
}

/*
 * Prints functions that rose over several benchmarks, even if no single benchmark shows the rise.
 */
static void print_pool(struct fg_cli *cli, struct fg_store *store, struct fg_creep_pool *pool)
{
	struct fg_policy policy;
	struct fg_arena arena = {0};
	struct fg_strbuf text = {0};
	struct fg_creep_function *named = NULL;
	size_t count = 0;

	fg_policy_defaults(&policy);
	count = fg_creep_pool_risen(pool, 2, policy.function_floor);
	count = fg_creep_name(store, pool->rises, count, &arena, &named);
	if (count > 0)
		fg_strbuf_add_text(&text, "\nfunctions that crept up across several benchmarks:\n");
	for (size_t i = 0; i < count; i++) {
		char change[FG_NUMBER_TEXT_SIZE];

		fg_strbuf_printf(&text, "  %s of the time of %u benchmarks: %s (%s)\n",
				 fg_format_change(named[i].change, change), named[i].benchmarks,
				 named[i].name, named[i].library);
	}
	fg_cli_page(cli, &text);
	fg_strbuf_release(&text);
	fg_arena_release(&arena);
}

/* Shows every benchmark of the newest run. */
static int show_all(struct fg_cli *cli, struct fg_store *store, const struct options *given,
		    struct fg_error *err)
{
	struct fg_stored_run newest = {0};
	struct fg_run_list list = {0};
	struct fg_creep_pool pool = {0};
	int status = FG_OK;

	FG_TRY_OUT(list_runs(store, given, NULL, &list, err));
	FG_TRY_OUT(fg_store_load_run(store, list.items[0].id, &newest, err));
	if (cli->json && newest.run.series_count > 1)
		status = fg_error_set(err, FG_EINVAL,
				      "the newest run has %zu benchmarks: name the one to print "
				      "('fastgate show' lists them)",
				      newest.run.series_count);
	for (size_t i = 0; status == FG_OK && i < newest.run.series_count; i++)
		status = show(cli, store, given, newest.run.series[i].name, &pool, err);
	if (status == FG_OK && !cli->json)
		print_pool(cli, store, &pool);
out:
	fg_creep_pool_release(&pool);
	fg_stored_run_release(&newest);
	fg_run_list_release(&list);
	return status;
}

static int run(struct fg_cli *cli, const void *values)
{
	const struct options *given = values;
	struct fg_store *store = NULL;
	struct fg_error err = {0};
	int status = fg_cli_open_store(given->store, FG_STORE_READ_ONLY, &store, &err);

	if (status == FG_OK && cli->argument_count > 0)
		status = show(cli, store, given, cli->arguments[0], NULL, &err);
	else if (status == FG_OK)
		status = show_all(cli, store, given, &err);
	fg_store_close(store);
	return status < 0 ? fg_cli_fail(cli, &err) : FG_EXIT_PASS;
}

static const struct fg_option options[] = {
	FG_CLI_STORED_OPTIONS(struct options),
	FG_ROW_TEXT(struct options, branch, "branch", 0, "NAME", "only runs of this git branch"),
	FG_ROW_WORD(struct options, metric, "metric", 'm', "NAME", "cpu_time",
		    "the metric to show"),
	FG_ROW_COUNT(struct options, limit, "limit", 'n', 1000, "200",
		     "show this many of the newest runs"),
	{.name = NULL},
};

static const struct fg_cli_argument arguments[] = {
	{.name = "BENCH",
	 .help = "the benchmark (default: all of the newest run)",
	 .max = 1,
	 .complete = FG_COMPLETE_BENCHMARK},
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate history parse --branch main", "the history of one benchmark's CPU time"},
	{"fastgate history parse --metric max_rss --json",
	 "another metric, as JSON for a program to read"},
	{NULL, NULL},
};

const struct fg_cli_command fg_cmd_history = {
	.name = "history",
	.group = FG_CLI_GROUP_RUNS,
	.summary = "show the trend of a benchmark, and where its level changed",
	.description =
		"Shows one metric over the stored runs, oldest first, for each benchmark or only "
		"for BENCH, with the points at which its level changed for good. A change must "
		"last five runs and stand out from the scatter and drift of the series. Runs of "
		"different environments are never compared with each other.\n"
		"\n"
		"The level is the sum of the steps between commits, each from a run that "
		"measured both sides, so that a change of the host does not move the level. Many "
		"small steps are reported as creep if they add up to more than gate.creep allows "
		"in the newest run.",
	FG_CLI_TABLES,
	.has_json = true,
	.run = run,
};
