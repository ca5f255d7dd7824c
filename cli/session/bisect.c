// SPDX-License-Identifier: Apache-2.0
#include "cli/session/bisect.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/session/arms.h"
#include "cli/session/plan.h"
#include "model/measure.h"
#include "runner/facts/code_facts.h"

#include <math.h>

enum {
	KEPT_BUILDS = 24,
	SHORT_HASH = 12,
	FUNCTIONS_MAX = 3, /* blamed by the ends, that guide the search */
	ATTEMPTS = 2,      /* of a build, if its commit matters in the end */
};

/* How much likelier such a commit is to have made it slower. */
static const double weight_of_function = 64;
static const double weight_of_file = 16;
static const double weight_of_prose = 0.125;

/* ---- opening ---- */

static struct fg_git git_of(const struct fg_bisect_search *search)
{
	return (struct fg_git){.folder = search->plan->root,
			       .interrupted = search->cli->interrupted};
}

static bool is_prose(const char *file, size_t length)
{
	static const char *const ends[] = {".md",  ".rst", ".txt", ".adoc",
					   ".png", ".svg", ".po",  "LICENSE"};

	for (size_t i = 0; i < FG_ARRAY_SIZE(ends); i++) {
		const size_t size = strlen(ends[i]);

		if (length >= size && strncmp(file + length - size, ends[i], size) == 0)
			return true;
	}
	return false;
}

static bool only_prose(const char *files)
{
	bool only = *files != '\0';

	for (const char *at = files; *at && only;) {
		const size_t length = strcspn(at, "\n");

		only = length == 0 || is_prose(at, length);
		at += length + (at[length] == '\n');
	}
	return only;
}

int fg_search_open(struct fg_bisect_search *search, struct fg_cli *cli, struct fg_plan *plan,
		   const struct fg_search_request *asked, struct fg_error *err)
{
	struct fg_git git;
	int status = FG_OK;

	*search = (struct fg_bisect_search){.cli = cli,
					    .plan = plan,
					    .asked = *asked,
					    .state_folder = fg_fs_join(plan->root, FG_STATE_FOLDER),
					    .started_ns = fg_clock_monotonic_ns()};
	git = git_of(search);
	status = fg_range_list(&git, asked->good, asked->bad, &search->range, err);
	if (status != FG_OK)
		return status;
	if (search->range.count > FG_BISECT_COMMITS_MAX)
		return fg_error_set(err, FG_EINVAL,
				    "%zu commits lie between the ends, and at most %d can be "
				    "searched: choose a newer good end",
				    search->range.count, FG_BISECT_COMMITS_MAX);
	fg_state_folder_make(search->state_folder);
	search->commits = fg_xcalloc(search->range.count, sizeof(search->commits[0]));
	search->model.count = search->range.count;
	search->model.commits = fg_xcalloc(search->range.count, sizeof(search->model.commits[0]));
	for (size_t i = 0; i < search->range.count; i++)
		search->model.commits[i].weight =
			only_prose(search->range.commits[i].files) ? weight_of_prose : 1;
	search->model.is_exact = asked->measure != NULL;
	return FG_OK;
}

static void release_verdict(struct fg_search_verdict *verdict)
{
	free(verdict->function);
	free(verdict->file);
}

void fg_search_release(struct fg_bisect_search *search)
{
	for (size_t i = 0; search->commits && i < search->range.count; i++) {
		free(search->commits[i].code);
		free(search->commits[i].error);
	}
	for (size_t i = 0; i < FG_BISECT_STEPS_MAX; i++)
		release_verdict(&search->steps[i]);
	release_verdict(&search->ends);
	free(search->commits);
	free(search->good_code);
	free(search->state_folder);
	fg_bisect_look_release(&search->look);
	fg_bisect_release(&search->model);
	fg_range_release(&search->range);
	*search = (struct fg_bisect_search){0};
}

/* ---- one comparison ---- */

struct comparison {
	struct fg_session session;
	struct fg_arms arms;
	struct fg_benchmark benchmark; /* the plan's, as this comparison measures it */
	const struct fg_benchmark **benchmarks;
	size_t count;
	double build_seconds;
	double measure_seconds;
};

static void close_comparison(struct comparison *comparison)
{
	fg_arms_close(&comparison->arms);
	fg_session_release(&comparison->session);
	free(comparison->benchmarks);
	*comparison = (struct comparison){0};
}

struct fg_benchmark *fg_search_benchmark(const struct fg_plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->benchmark_count; i++) {
		struct fg_benchmark *benchmark = &plan->benchmarks[i];
		const size_t length = strlen(benchmark->name);

		if (strncmp(benchmark->name, name, length) == 0 &&
		    (!name[length] ||
		     (name[length] == '/' && benchmark->harness != FG_HARNESS_NONE)))
			return benchmark;
	}
	return NULL;
}

/* "heap.allocations" is counted with the class "heap". */
static void count_measure(struct fg_bisect_search *search, struct fg_measuring *measure)
{
	const char *name = search->asked.measure;
	const size_t length = strcspn(name, ".");
	const char **also = NULL;

	measure->exact_only = true;
	measure->warmup = 0;
	measure->schedule = FG_SCHEDULE_ABBA;
	measure->also_count = 0;
	if (!name[length] && strcmp(name, "throws") != 0) {
		if (measure->exact == FG_EXACT_OFF)
			measure->exact = FG_EXACT_AUTO;
		return;
	}
	also = fg_arena_array(&search->plan->arena, 1, sizeof(also[0]));
	also[0] = fg_arena_strndup(&search->plan->arena, name, length);
	measure->also = also;
	measure->also_count = 1;
	measure->exact = FG_EXACT_OFF;
}

static void choose_benchmarks(struct fg_bisect_search *search, struct comparison *comparison)
{
	const struct fg_benchmark *only =
		search->asked.benchmark ? fg_search_benchmark(search->plan, search->asked.benchmark)
					: NULL;
	struct fg_plan *plan = search->plan;

	comparison->benchmarks =
		fg_xcalloc(plan->benchmark_count, sizeof(comparison->benchmarks[0]));
	for (size_t i = 0; i < plan->benchmark_count; i++) {
		if (search->asked.measure)
			count_measure(search, &plan->benchmarks[i].measure);
		if (!only || only == &plan->benchmarks[i])
			comparison->benchmarks[comparison->count++] = &plan->benchmarks[i];
	}
	comparison->session.asked.benchmarks = comparison->benchmarks;
	comparison->session.asked.benchmark_count = comparison->count;
}

/* Builds both commits. FG_ECHILD: one of them does not build. */
static int open_comparison(struct fg_bisect_search *search, const char *baseline,
			   const char *candidate, struct comparison *comparison,
			   struct fg_error *err)
{
	const int64_t began_ns = fg_clock_monotonic_ns();
	struct fg_session *session = &comparison->session;
	int status = FG_OK;

	*comparison = (struct comparison){0};
	search->plan->baseline.kind = FG_BASELINE_GIT;
	search->plan->baseline.value = baseline;
	status = fg_session_init(session, search->cli, search->plan, err);
	if (status != FG_OK)
		return status;
	session->asked.candidate = candidate;
	session->asked.state_folder = search->state_folder;
	session->asked.keep_builds = KEPT_BUILDS;
	choose_benchmarks(search, comparison);
	status = fg_arms_open(&comparison->arms, session, search->plan, err);
	comparison->build_seconds = (double)(fg_clock_monotonic_ns() - began_ns) / FG_NS_PER_S;
	return status;
}

/* ---- what a run says about the commits ---- */

static char *code_of(const struct fg_environment *build)
{
	struct fg_strbuf text = {0};

	if (!fg_environment_get(build, FG_FACT_CODE))
		return NULL;
	for (size_t i = 0; i < build->count; i++) {
		const char *key = build->facts[i].key;

		if (fg_text_starts_with(key, FG_FACT_CODE) || strcmp(key, FG_FACT_INPUTS) == 0)
			fg_strbuf_printf(&text, "%s %s ", key, build->facts[i].value);
	}
	return fg_strbuf_detach(&text);
}

static const struct fg_profile_set *profile_in(const struct fg_session *session,
					       const struct fg_series *series)
{
	const size_t index = (size_t)(series - session->got.run.series);

	return index < session->got.profile_count ? session->got.profiles[index] : NULL;
}

/* Takes the new differences of a benchmark to the pairs of a commit; returns how many. */
static size_t take_differences(struct fg_bisect_search *search, const struct fg_session *session,
			       const struct fg_series *series, struct fg_bisect_commit *commit)
{
	const struct fg_profile_set *profile = profile_in(session, series);
	const size_t before = commit->pair_count;

	if (search->asked.measure || search->asked.function) {
		const struct fg_bisect_cost cost = {.profile = profile,
						    .measure = search->asked.measure,
						    .function = search->asked.function};

		fg_bisect_take_costs(commit, &cost);
	} else {
		fg_bisect_take_metric(commit, series, search->asked.metric);
	}
	return commit->pair_count - before;
}

/* ---- the ends ---- */

static const struct fg_metric_verdict *find_metric(const struct fg_benchmark_verdict *benchmark,
						   const char *name)
{
	for (size_t i = 0; i < benchmark->metric_count; i++) {
		const struct fg_metric_verdict *metric = &benchmark->metrics[i];

		if (name ? strcmp(metric->name, name) == 0
			 : metric->gated && metric->outcome == FG_OUTCOME_REGRESSION)
			return metric;
	}
	return NULL;
}

/* The worst benchmark, and in it the metric that was asked for or that got worse. */
static const struct fg_benchmark_verdict *choose_verdict(const struct fg_bisect_search *search,
							 const struct fg_verdict *verdict)
{
	const struct fg_benchmark_verdict *worst = NULL;

	for (size_t i = 0; i < verdict->benchmark_count; i++) {
		const struct fg_benchmark_verdict *benchmark = &verdict->benchmarks[i];

		if (search->asked.benchmark &&
		    strcmp(benchmark->name, search->asked.benchmark) != 0)
			continue;
		if (!worst || benchmark->outcome > worst->outcome)
			worst = benchmark;
	}
	return worst;
}

static void take_blame(const struct fg_benchmark_verdict *benchmark,
		       struct fg_search_verdict *verdict)
{
	const struct fg_node_verdict *first = benchmark->time.functions;

	if (benchmark->time.function_count > 0 && first->standing == FG_STANDING_GUILTY) {
		verdict->function = fg_xstrdup(first->name);
		verdict->file = first->file ? fg_xstrdup(first->file) : NULL;
		verdict->line = first->line;
	} else if (benchmark->work && benchmark->work->function &&
		   benchmark->work->kind != FG_WORK_SAME) {
		verdict->function = fg_xstrdup(benchmark->work->function);
	}
}

static void take_verdict(const struct fg_session *session,
			 const struct fg_benchmark_verdict *benchmark,
			 const struct fg_metric_verdict *metric, struct fg_search_verdict *verdict)
{
	memcpy(verdict->run, session->got.run.id, sizeof(verdict->run));
	verdict->outcome = metric ? metric->outcome : benchmark->outcome;
	verdict->pairs = benchmark->pairs;
	verdict->ratio = metric ? metric->ratio : (double)NAN;
	verdict->low = metric ? metric->low : (double)NAN;
	verdict->high = metric ? metric->high : (double)NAN;
	verdict->smallest = metric ? metric->smallest_detectable : (double)NAN;
	take_blame(benchmark, verdict);
}

/* Commits that touch what the ends' comparison blames are likelier. */
static void weigh_commits(struct fg_bisect_search *search,
			  const struct fg_benchmark_verdict *benchmark)
{
	const struct fg_git git = git_of(search);
	const size_t most = benchmark->time.function_count < FUNCTIONS_MAX
				    ? benchmark->time.function_count
				    : FUNCTIONS_MAX;
	bool *marks = fg_xcalloc(search->range.count, sizeof(marks[0]));

	for (size_t f = 0; f < most; f++) {
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

/* Seconds, from what the ends took. */
static void estimate_costs(struct fg_bisect_search *search, const struct comparison *comparison,
			   const struct fg_series *series)
{
	const size_t pairs = search->model.commits[search->model.count - 1].pair_count;

	search->model.build_seconds = fmax(comparison->build_seconds / 2, 0.1);
	search->model.pair_seconds = pairs ? fmax(series->seconds / (double)pairs, 0.001) : 1;
	search->model.visit_seconds = 2 * search->model.pair_seconds;
}

static int take_ends(struct fg_bisect_search *search, const struct comparison *comparison,
		     const struct fg_benchmark_verdict *benchmark, struct fg_error *err)
{
	const struct fg_session *session = &comparison->session;
	const struct fg_series *series = fg_run_find(&session->got.run, benchmark->name);
	const struct fg_metric_verdict *metric = find_metric(benchmark, fg_search_subject(search));
	struct fg_bisect_commit *bad = &search->model.commits[search->model.count - 1];

	if (!search->asked.measure && search->asked.metric && !metric)
		return fg_error_set(err, FG_EINVAL, "benchmark '%s' has no metric '%s'",
				    benchmark->name, search->asked.metric);
	search->asked.benchmark = fg_arena_strdup(&search->plan->arena, benchmark->name);
	if (!metric && benchmark->metric_count > 0 && !search->asked.measure)
		metric = &benchmark->metrics[0];
	if (metric)
		search->asked.metric = fg_arena_strdup(&search->plan->arena, metric->name);
	take_verdict(session, benchmark, metric, &search->ends);
	search->schedule = series->schedule;
	search->layouts = series->layouts;
	search->good_code = code_of(&series->build[FG_ARM_BASELINE]);
	search->commits[search->model.count - 1].code = code_of(&series->build[FG_ARM_CANDIDATE]);
	bad->is_built = true;
	search->pairs += (unsigned)take_differences(search, session, series, bad);
	estimate_costs(search, comparison, series);
	weigh_commits(search, benchmark);
	return FG_OK;
}

/* One function's cost has no verdict of its own: its pairs must be clearly above zero. */
static bool is_function_slower(const struct fg_bisect_search *search)
{
	const struct fg_bisect_commit *bad = &search->model.commits[search->model.count - 1];

	return fg_bisect_is_worse(bad);
}

static bool is_worse(const struct fg_bisect_search *search)
{
	if (search->asked.function)
		return is_function_slower(search);
	if (search->asked.measure)
		return search->ends.outcome == FG_OUTCOME_REGRESSION ||
		       fg_bisect_is_worse(&search->model.commits[search->model.count - 1]);
	return search->ends.outcome == FG_OUTCOME_REGRESSION;
}

static int check_measured(const struct fg_bisect_search *search,
			  const struct fg_benchmark_verdict *benchmark, struct fg_error *err)
{
	if (!benchmark)
		return fg_error_set(err, FG_EINVAL, "nothing was measured at the ends");
	if (benchmark->outcome == FG_OUTCOME_NEW)
		return fg_error_set(
			err, FG_EINVAL,
			"benchmark '%s' does not exist at %.12s: choose a good end that "
			"has it",
			benchmark->name, search->range.good);
	if (benchmark->outcome == FG_OUTCOME_MISSING)
		return fg_error_set(err, FG_EINVAL, "benchmark '%s' does not exist at %.12s",
				    benchmark->name, search->range.bad);
	if (benchmark->outcome == FG_OUTCOME_ERROR)
		return fg_error_set(err, FG_ECHILD, "the ends cannot be compared: %s",
				    benchmark->error ? benchmark->error : "not measured");
	return FG_OK;
}

/* Gates two commits by the full rule; the report goes to the terminal, and the run to the store. */
static int gate(struct fg_bisect_search *search, struct comparison *comparison,
		struct fg_error *err)
{
	struct fg_session *session = &comparison->session;
	const bool wants_json = search->cli->json;
	struct fg_gate_input input = {0};
	int status = fg_session_open_store(session, err);

	if (status != FG_OK)
		return status;
	status = fg_session_measure(session, err);
	if (status != FG_OK)
		return status;
	fg_arms_describe(&comparison->arms, &input);
	input.gone_count = 0;
	status = fg_session_decide(session, &input, err);
	if (status != FG_OK)
		return status;
	status = fg_session_save(session, err);
	if (status != FG_OK || wants_json)
		return status;
	return fg_session_report(session, err);
}

static void say_dirty(const struct fg_bisect_search *search)
{
	const struct fg_git git = git_of(search);
	struct fg_side side = {0};

	if (fg_git_describe_side(&git, &side, NULL) == FG_OK && side.dirty)
		fg_cli_say(search->cli, "the work tree has uncommitted changes, which are not part "
					"of the range");
	fg_side_release(&side);
}

int fg_search_compare_ends(struct fg_bisect_search *search, struct fg_error *err)
{
	const struct fg_benchmark_verdict *benchmark = NULL;
	struct comparison comparison;
	int status =
		open_comparison(search, search->range.good, search->range.bad, &comparison, err);

	if (status != FG_OK)
		goto out;
	say_dirty(search);
	fg_cli_say(search->cli, "%zu commits between %.12s and %.12s; first the ends",
		   search->range.count, search->range.good, search->range.bad);
	status = gate(search, &comparison, err);
	if (status != FG_OK)
		goto out;
	benchmark = choose_verdict(search, &comparison.session.got.verdict);
	status = check_measured(search, benchmark, err);
	if (status == FG_OK)
		status = take_ends(search, &comparison, benchmark, err);
	search->state = is_worse(search) ? FG_SEARCH_OPEN : FG_SEARCH_NOTHING;
out:
	close_comparison(&comparison);
	return status == FG_OK ? fg_search_save(search, err) : status;
}

/* ---- one commit ---- */

struct visit {
	struct fg_bisect_search *search;
	size_t index;
	bool is_known;
};

static bool same_text(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

/* Commits from `first` to `last` run the code of the one before them. */
static void mark_same(struct fg_bisect_search *search, size_t first, size_t last)
{
	for (size_t i = first; i <= last; i++) {
		search->model.commits[i].is_same = true;
		search->model.commits[i].is_unmeasured = false;
	}
}

/* Compares its code with that of the nearest commits on both sides that were built. */
static bool is_code_known(struct fg_bisect_search *search, size_t index)
{
	const char *code = search->commits[index].code;
	size_t left = index;
	size_t right = index + 1;
	bool known = false;

	while (left > 0 && !search->commits[left - 1].code)
		left--;
	if (same_text(code, left ? search->commits[left - 1].code : search->good_code)) {
		mark_same(search, left, index);
		known = true;
	}
	while (right < search->model.count && !search->commits[right].code)
		right++;
	if (right < search->model.count && same_text(code, search->commits[right].code)) {
		mark_same(search, index + 1, right);
		known = true;
	}
	return known;
}

static bool is_known(void *context, const struct fg_series *series)
{
	struct visit *visit = context;
	struct fg_search_commit *commit = &visit->search->commits[visit->index];

	if (!commit->code) {
		commit->code = code_of(&series->build[FG_ARM_CANDIDATE]);
		visit->is_known = is_code_known(visit->search, visit->index);
	}
	return visit->is_known;
}

static void give_up(struct fg_bisect_search *search, size_t index, const char *why)
{
	struct fg_search_commit *commit = &search->commits[index];

	commit->attempts++;
	free(commit->error);
	commit->error = fg_xstrdup(why);
	search->model.commits[index].is_unmeasured = true;
	fg_cli_say(search->cli, "%.12s cannot be measured: %s", search->range.commits[index].hash,
		   why);
}

/* Only what the search needs: no functions, no counts, the schedule of the ends. */
static void reduce(const struct fg_bisect_search *search, struct fg_measuring *measure)
{
	if (search->asked.measure)
		return;
	measure->schedule = search->schedule;
	measure->min_pairs = 2;
	measure->max_pairs = 100000;
	measure->budget_ns = 3600 * FG_NS_PER_S;
	measure->until_sure = false;
	measure->exact = FG_EXACT_OFF;
	measure->also_count = 0;
	measure->call_count = 0;
	measure->domain_count = 0;
	measure->layouts = search->layouts ? measure->layouts : FG_LAYOUTS_NEVER;
	measure->affected = FG_AFFECTED_NEVER;
	if (!search->asked.function)
		measure->sampler.enabled = false;
}

static void update_costs(struct fg_bisect_search *search, const struct comparison *comparison,
			 bool built, size_t pairs)
{
	struct fg_bisect *model = &search->model;
	const double rest = comparison->measure_seconds - (double)pairs * model->pair_seconds;

	if (built)
		model->build_seconds = (model->build_seconds + comparison->build_seconds) / 2;
	if (pairs)
		model->visit_seconds =
			(model->visit_seconds + fmax(rest, 2 * model->pair_seconds)) / 2;
}

static int measure_commit(struct fg_bisect_search *search, size_t index, unsigned pairs,
			  struct comparison *comparison, struct fg_error *err)
{
	struct fg_session *session = &comparison->session;
	struct visit visit = {.search = search, .index = index};
	const int64_t began_ns = fg_clock_monotonic_ns();
	const struct fg_series *series = NULL;
	size_t taken = 0;
	int status = FG_OK;

	comparison->benchmark = *comparison->benchmarks[0];
	reduce(search, &comparison->benchmark.measure);
	comparison->benchmarks[0] = &comparison->benchmark;
	session->asked.fixed_pairs = pairs;
	session->asked.is_known = is_known;
	session->asked.context = &visit;
	status = fg_session_measure(session, err);
	if (status != FG_OK || visit.is_known)
		return status;
	comparison->measure_seconds = (double)(fg_clock_monotonic_ns() - began_ns) / FG_NS_PER_S;
	series = fg_run_find(&session->got.run, search->asked.benchmark);
	series = series ? series : &session->got.run.series[0];
	taken = take_differences(search, session, series, &search->model.commits[index]);
	search->pairs += (unsigned)taken;
	if (taken == 0)
		give_up(search, index, series->failure ? series->failure : "no pair counted");
	update_costs(search, comparison, !comparison->arms.worktrees[FG_ARM_CANDIDATE].cached,
		     taken);
	return FG_OK;
}

static int visit(struct fg_bisect_search *search, size_t index, unsigned pairs,
		 struct fg_error *err)
{
	struct comparison comparison;
	struct fg_error why = {0};
	int status = open_comparison(search, search->range.good, search->range.commits[index].hash,
				     &comparison, &why);

	if (status == FG_ECHILD || status == FG_ENOENT) {
		give_up(search, index, why.message);
		search->builds++;
		status = FG_OK;
	} else if (status != FG_OK) {
		status = fg_error_set(err, status, "%s", why.message);
	} else {
		search->builds += !comparison.arms.worktrees[FG_ARM_CANDIDATE].cached;
		search->model.commits[index].is_built = true;
		status = measure_commit(search, index, pairs, &comparison, err);
	}
	close_comparison(&comparison);
	return status;
}

/* ---- the search ---- */

/* A flaky build should not blur the answer: commits in a step that failed once are tried again. */
static size_t worth_another_try(const struct fg_bisect_search *search)
{
	for (size_t s = 0; s < search->look.step_count; s++) {
		const struct fg_bisect_step *step = &search->look.steps[s];

		for (size_t i = step->first; i < step->last; i++) {
			if (search->model.commits[i].is_unmeasured &&
			    search->commits[i].attempts < ATTEMPTS)
				return i;
		}
	}
	return search->model.count;
}

static bool is_budget_used(const struct fg_bisect_search *search)
{
	return search->asked.budget_ns > 0 &&
	       fg_search_seconds(search) > (double)search->asked.budget_ns / FG_NS_PER_S;
}

static void say_next(const struct fg_bisect_search *search, size_t index, unsigned pairs)
{
	char spent[FG_NUMBER_TEXT_SIZE];
	struct fg_strbuf subject = {0};

	fg_text_add_clean(&subject, search->range.commits[index].subject,
			  strlen(search->range.commits[index].subject), 50);
	fg_cli_say(search->cli, "%zu commit%s left hold%s 95 %%; next %.12s %s, %u %s (%s)",
		   search->look.left, search->look.left == 1 ? "" : "s",
		   search->look.left == 1 ? "s" : "", search->range.commits[index].hash,
		   fg_strbuf_text(&subject), pairs, search->model.is_exact ? "count" : "pairs",
		   fg_format_duration(fg_search_seconds(search) * FG_NS_PER_S, spent));
	fg_strbuf_release(&subject);
}

static int look(struct fg_bisect_search *search, size_t *next, unsigned *pairs,
		struct fg_error *err)
{
	int status = FG_OK;

	fg_bisect_look_release(&search->look);
	status = fg_bisect_look(&search->model, &search->look, err);
	if (status != FG_OK)
		return status;
	*next = search->look.next;
	*pairs = search->look.pairs;
	if (search->look.state == FG_BISECT_FOUND) {
		search->state = FG_SEARCH_FOUND;
		*next = worth_another_try(search);
		*pairs = search->model.is_exact ? 1 : 8;
		if (*next < search->model.count)
			search->model.commits[*next].is_unmeasured = false;
	} else if (search->look.state == FG_BISECT_OPEN) {
		search->state = FG_SEARCH_OPEN;
		*next = search->model.count;
	}
	return FG_OK;
}

int fg_search_run(struct fg_bisect_search *search, struct fg_error *err)
{
	size_t next = 0;
	unsigned pairs = 0;
	int status = FG_OK;

	while (status == FG_OK) {
		status = look(search, &next, &pairs, err);
		if (status != FG_OK || next == search->model.count)
			break;
		if (is_budget_used(search)) {
			search->state = FG_SEARCH_STOPPED;
			break;
		}
		say_next(search, next, pairs);
		status = visit(search, next, pairs, err);
		if (status == FG_OK)
			status = fg_search_save(search, err);
	}
	return status;
}

static int confirm(struct fg_bisect_search *search, const struct fg_bisect_step *step,
		   struct fg_search_verdict *verdict, struct fg_error *err)
{
	const char *parent =
		step->first > 0 ? search->range.commits[step->first - 1].hash : search->range.good;
	const struct fg_benchmark_verdict *benchmark = NULL;
	struct comparison comparison;
	int status = open_comparison(search, parent, search->range.commits[step->last].hash,
				     &comparison, err);

	if (status != FG_OK)
		goto out;
	status = gate(search, &comparison, err);
	if (status != FG_OK)
		goto out;
	benchmark = choose_verdict(search, &comparison.session.got.verdict);
	if (benchmark)
		take_verdict(&comparison.session, benchmark,
			     find_metric(benchmark, fg_search_subject(search)), verdict);
out:
	close_comparison(&comparison);
	return status;
}

int fg_search_confirm(struct fg_bisect_search *search, struct fg_error *err)
{
	int status = FG_OK;

	for (size_t s = search->confirmed; s < search->look.step_count && status == FG_OK; s++) {
		const struct fg_bisect_step *step = &search->look.steps[s];
		struct fg_error why = {0};

		fg_cli_say(search->cli, "%.12s against its parent",
			   search->range.commits[step->last].hash);
		status = confirm(search, step, &search->steps[s], &why);
		if (status == FG_ECHILD) {
			/* the parent is one of the commits that do not build */
			fg_cli_warn(search->cli, "%s", why.message);
			search->steps[s].outcome = FG_OUTCOME_ERROR;
			status = FG_OK;
		}
		if (status != FG_OK)
			return fg_error_set(err, status, "%s", why.message);
		search->confirmed = s + 1;
	}
	return status;
}

bool fg_search_inside(const struct fg_bisect_search *search, struct fg_search_request *asked)
{
	const struct fg_git git = git_of(search);
	const struct fg_bisect_step *step = search->look.steps;
	const struct fg_range_commit *merge = NULL;
	char *start = NULL;

	if (search->state != FG_SEARCH_FOUND || search->look.step_count != 1 ||
	    step->first < step->last)
		return false;
	merge = &search->range.commits[step->last];
	start = merge->side ? fg_range_side_start(&git, merge) : NULL;
	if (!start || strcmp(start, merge->side) == 0) {
		free(start);
		return false;
	}
	*asked = search->asked;
	asked->good = fg_arena_strdup(&search->plan->arena, start);
	asked->bad = fg_arena_strdup(&search->plan->arena, merge->side);
	asked->resume = false;
	free(start);
	return true;
}
