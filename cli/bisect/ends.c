// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "cli/bisect/comparison.h"

#include <math.h>

enum {
	FUNCTIONS_MAX = 3, /* functions blamed at the ends, to guide the search */
};

/* Prior weights of a commit that touches a blamed function, or its file. */
static const double weight_of_function = 64;
static const double weight_of_file = 16;

/* Raises the weight of commits that touch a function blamed at the ends, or its file. */
static void weigh_commits(struct fg_bisect_search *search,
			  const struct fg_benchmark_verdict *benchmark)
{
	const struct fg_git git = fg_search_git(search);
	bool *marks = fg_xcalloc(search->range.count, sizeof(marks[0]));

	for (size_t f = 0; f < benchmark->time.function_count && f < FUNCTIONS_MAX; f++) {
		const struct fg_node_verdict *function = &benchmark->time.functions[f];

		if (function->standing != FG_STANDING_GUILTY || !function->file)
			continue;
		fg_range_mark_function(&git, &search->range, function->name, function->file, marks);
		for (size_t i = 0; i < search->range.count; i++) {
			double *weight = &search->model.commits[i].weight;

			if (strstr(search->range.commits[i].files, fg_fs_base_name(function->file)))
				*weight = fmax(*weight, weight_of_file);
			if (marks[i])
				*weight = weight_of_function;
		}
	}
	free(marks);
}

static int take_ends(struct fg_bisect_search *search, const struct fg_comparison *comparison,
		     const struct fg_benchmark_verdict *benchmark, struct fg_error *err)
{
	const struct fg_session *session = &comparison->session;
	const struct fg_series *series = fg_run_find(&session->result.run, benchmark->name);
	const struct fg_metric_verdict *metric =
		fg_comparison_metric(benchmark, fg_search_subject(search));
	const size_t last = search->model.count - 1;
	struct fg_arena *arena = &search->plan->arena;
	size_t pairs = 0;

	if (search->request.metric && !metric)
		return fg_error_set(err, FG_EINVAL, "benchmark '%s' has no metric '%s'",
				    benchmark->name, search->request.metric);
	if (!metric && benchmark->metric_count > 0 && !search->request.measure)
		metric = &benchmark->metrics[0];
	if (metric)
		search->request.metric = fg_arena_strdup(arena, metric->name);
	fg_comparison_take_verdict(session, benchmark, metric, arena, &search->ends);
	search->schedule = series->schedule;
	search->layouts = series->layouts;
	search->good_code = fg_comparison_code(&series->build[FG_ARM_BASELINE], arena);
	search->commits[last].code = fg_comparison_code(&series->build[FG_ARM_CANDIDATE], arena);
	search->model.commits[last].is_built = true;
	pairs = fg_comparison_take_differences(search, session, series,
					       &search->model.commits[last]);
	search->model.build_seconds = fmax(comparison->build_seconds / 2, 0.1);
	search->model.pair_seconds = pairs ? fmax(series->seconds / (double)pairs, 0.001) : 1;
	search->model.visit_seconds = 2 * search->model.pair_seconds;
	weigh_commits(search, benchmark);
	return FG_OK;
}

/* A function's cost and some measures get no verdict, so their pairs decide. */
static bool is_worse(const struct fg_bisect_search *search)
{
	const bool has_pairs = search->request.function || search->request.measure;

	return (search->ends.outcome == FG_OUTCOME_REGRESSION && !search->request.function) ||
	       (has_pairs && fg_bisect_is_worse(&search->model.commits[search->model.count - 1]));
}

static int check_measured(const struct fg_bisect_search *search,
			  const struct fg_benchmark_verdict *benchmark, struct fg_error *err)
{
	if (!benchmark)
		return fg_error_set(err, FG_EINVAL,
				    "no benchmark was measured at the ends of the range");
	if (benchmark->outcome == FG_OUTCOME_MISSING)
		return fg_error_set(err, FG_EINVAL, "benchmark '%s' does not exist at %.12s",
				    benchmark->name, search->range.bad);
	if (benchmark->outcome == FG_OUTCOME_ERROR)
		return fg_error_set(err, FG_ECHILD, "the ends of the range cannot be compared: %s",
				    benchmark->error ? benchmark->error : "not measured");
	return FG_OK;
}

/* Sets `is_new` if the good end does not have the benchmark. */
static int gate_ends(struct fg_bisect_search *search, bool *is_new, struct fg_error *err)
{
	const struct fg_benchmark_verdict *benchmark = NULL;
	struct fg_comparison comparison;
	int status =
		fg_comparison_open(search, search->range.good, search->range.bad, &comparison, err);

	if (status != FG_OK)
		goto out;
	fg_cli_say(search->cli, "%zu commit%s between %.12s and %.12s; measuring the ends first",
		   search->range.count, search->range.count == 1 ? "" : "s", search->range.good,
		   search->range.bad);
	FG_TRY_OUT(fg_comparison_gate(&comparison, err));
	benchmark = fg_comparison_verdict(search, &comparison.session.result.verdict);
	FG_TRY_OUT(check_measured(search, benchmark, err));
	search->request.benchmark = fg_arena_strdup(&search->plan->arena, benchmark->name);
	*is_new = benchmark->outcome == FG_OUTCOME_NEW;
	if (!*is_new)
		status = take_ends(search, &comparison, benchmark, err);
	search->state = is_worse(search) ? FG_SEARCH_OPEN : FG_SEARCH_NOTHING;
out:
	fg_comparison_close(&comparison);
	return status;
}

/* Can the commit be built, and does it have the benchmark? */
static int has_benchmark(struct fg_bisect_search *search, size_t index, bool *has,
			 struct fg_error *err)
{
	const char *commit = search->range.commits[index].hash;
	const struct fg_series *series = NULL;
	struct fg_comparison comparison;
	struct fg_error why = {0};
	int status = fg_comparison_open(search, commit, search->range.bad, &comparison, &why);

	*has = status == FG_OK;
	search->builds++;
	if (*has) {
		status = fg_comparison_measure(search, &comparison, 1, &why);
		series = fg_run_find(&comparison.session.result.run, search->request.benchmark);
		*has = series && series->state == FG_MEASURED && !series->only_in[FG_ARM_CANDIDATE];
	}
	fg_comparison_close(&comparison);
	if (*search->cli->interrupted)
		status = FG_EINTERRUPTED;
	return status == FG_OK || status == FG_ECHILD || status == FG_ENOENT
		       ? FG_OK
		       : fg_error_set(err, status, "%s", why.message);
}

static void drop_commits(struct fg_bisect_search *search, size_t count)
{
	const size_t kept = search->range.count - count;

	search->range.good = search->range.commits[count - 1].hash;
	search->range.commits += count;
	memmove(search->commits, search->commits + count, kept * sizeof(search->commits[0]));
	memmove(search->model.commits, search->model.commits + count,
		kept * sizeof(search->model.commits[0]));
	search->range.count = search->model.count = kept;
}

/* Moves the good end to the first commit that has the benchmark. */
static int start_later(struct fg_bisect_search *search, struct fg_error *err)
{
	size_t first = 0;
	size_t last = search->range.count - 1; /* first commit known to have the benchmark */
	int status = FG_OK;

	fg_cli_say(search->cli, "%.12s does not have '%s': looking for the first commit that does",
		   search->range.good, search->request.benchmark);
	while (first < last && status == FG_OK) {
		const size_t middle = first + (last - first) / 2;
		bool has = false;

		status = has_benchmark(search, middle, &has, err);
		if (has)
			last = middle;
		else
			first = middle + 1;
	}
	if (status != FG_OK)
		return status;
	if (last == search->range.count - 1)
		return fg_error_set(err, FG_EINVAL,
				    "benchmark '%s' exists only at %.12s: there is nothing to "
				    "compare with",
				    search->request.benchmark, search->range.bad);
	drop_commits(search, last + 1);
	return FG_OK;
}

static void say_dirty(const struct fg_bisect_search *search)
{
	const struct fg_git git = fg_search_git(search);
	struct fg_side side = {0};

	if (fg_git_describe_side(&git, &side, NULL) == FG_OK && side.dirty)
		fg_cli_say(search->cli, "the work tree has uncommitted changes, which are not part "
					"of the range");
	fg_side_release(&side);
}

int fg_ends_compare(struct fg_bisect_search *search, struct fg_error *err)
{
	bool is_new = false;
	int status = FG_OK;

	say_dirty(search);
	status = gate_ends(search, &is_new, err);
	if (status == FG_OK && is_new) {
		status = start_later(search, err);
		if (status == FG_OK)
			status = gate_ends(search, &is_new, err);
	}
	return status == FG_OK ? fg_search_save(search, err) : status;
}
