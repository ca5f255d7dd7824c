// SPDX-License-Identifier: Apache-2.0
#include "cli/session/bisect.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/session/arms.h"
#include "cli/session/plan.h"
#include "model/measure.h"
#include "reporters/reporter.h"
#include "runner/facts/code_facts.h"

#include <math.h>

enum {
	KEPT_BUILDS = 24,
	FUNCTIONS_MAX = 3, /* functions blamed by the ends' comparison, which guide the search */
	ATTEMPTS = 2,      /* attempts to build, if the answer depends on the commit */
	RETRY_PAIRS = 8,
};

/* How much likelier a commit that touches blamed code is to be the culprit. */
static const double weight_of_function = 64;
static const double weight_of_file = 16;
static const double weight_of_prose = 0.125;

/* ---- opening ---- */

static struct fg_git git_of(const struct fg_bisect_search *search)
{
	return (struct fg_git){.folder = search->plan->root,
			       .interrupted = search->cli->interrupted};
}

/* Does the commit change nothing but documents and pictures? */
static bool is_prose(const char *files)
{
	static const char *const ends[] = {".md",  ".rst", ".txt", ".adoc",
					   ".png", ".svg", ".po",  "LICENSE"};

	for (const char *at = files; *at;) {
		const char *end = at + strcspn(at, "\n");
		bool is = false;

		for (size_t i = 0; i < FG_ARRAY_SIZE(ends); i++) {
			const size_t size = strlen(ends[i]);

			is = is ||
			     ((size_t)(end - at) >= size && memcmp(end - size, ends[i], size) == 0);
		}
		if (!is)
			return false;
		at = end + strspn(end, "\n");
	}
	return *files != '\0';
}

/* One execution per side counts it: "heap.allocations" with the class "heap". */
static void count_measure(const char *name, struct fg_arena *arena, struct fg_measuring *measure)
{
	const size_t length = strcspn(name, ".");
	const bool is_class = name[length] || strcmp(name, "throws") == 0;
	const char **also = fg_arena_array(arena, 1, sizeof(also[0]));

	also[0] = fg_arena_strndup(arena, name, length);
	measure->exact_only = true;
	measure->warmup = 0;
	measure->schedule = FG_SCHEDULE_ABBA;
	measure->also = also;
	measure->also_count = is_class ? 1 : 0;
	if (is_class)
		measure->exact = FG_EXACT_OFF;
	else if (measure->exact == FG_EXACT_OFF)
		measure->exact = FG_EXACT_AUTO;
}

static int list_commits(struct fg_bisect_search *search, struct fg_error *err)
{
	const struct fg_git git = git_of(search);
	struct fg_commit_range *range = &search->range;
	const int status = fg_range_list(&git, search->asked.good, search->asked.bad,
					 &search->plan->arena, range, err);

	if (status != FG_OK)
		return status;
	if (range->count > FG_BISECT_COMMITS_MAX)
		return fg_error_set(err, FG_EINVAL,
				    "%zu commits lie between the ends, and at most %d can be "
				    "searched: choose a newer good end",
				    range->count, FG_BISECT_COMMITS_MAX);
	search->commits = fg_xcalloc(range->count, sizeof(search->commits[0]));
	search->model.count = range->count;
	search->model.commits = fg_xcalloc(range->count, sizeof(search->model.commits[0]));
	for (size_t i = 0; i < range->count; i++)
		search->model.commits[i].weight =
			is_prose(range->commits[i].files) ? weight_of_prose : 1;
	return FG_OK;
}

static int open_search(struct fg_bisect_search *search, struct fg_error *err)
{
	struct fg_plan *plan = search->plan;
	int status = FG_OK;

	search->state_folder = fg_fs_join(plan->root, FG_STATE_FOLDER);
	search->started_ns = fg_clock_monotonic_ns();
	if (search->asked.resume)
		status = fg_search_load_request(search, err);
	if (status != FG_OK)
		return status;
	status = list_commits(search, err);
	if (status != FG_OK)
		return status;
	fg_state_folder_make(search->state_folder);
	search->model.is_exact = search->asked.measure != NULL;
	for (size_t i = 0; search->asked.measure && i < plan->benchmark_count; i++)
		count_measure(search->asked.measure, &plan->arena, &plan->benchmarks[i].measure);
	return FG_OK;
}

void fg_search_release(struct fg_bisect_search *search)
{
	free(search->commits);
	free(search->state_folder);
	fg_bisect_look_release(&search->look);
	fg_bisect_release(&search->model);
	*search = (struct fg_bisect_search){0};
}

/* ---- one comparison ---- */

struct comparison {
	struct fg_session session;
	struct fg_arms arms;
	struct fg_benchmark benchmark; /* the plan's benchmarks as this comparison measures them */
	const struct fg_benchmark **benchmarks;
	double build_seconds;
};

static void close_comparison(struct comparison *comparison)
{
	fg_arms_close(&comparison->arms);
	fg_session_release(&comparison->session);
	free(comparison->benchmarks);
	*comparison = (struct comparison){0};
}

static double seconds_since(int64_t began_ns)
{
	return (double)(fg_clock_monotonic_ns() - began_ns) / FG_NS_PER_S;
}

/* Builds both commits. FG_ECHILD: one of them does not build. */
static int open_comparison(struct fg_bisect_search *search, const char *baseline,
			   const char *candidate, struct comparison *comparison,
			   struct fg_error *err)
{
	const int64_t began_ns = fg_clock_monotonic_ns();
	const char *name = search->asked.benchmark;
	struct fg_plan *plan = search->plan;
	struct fg_session *session = &comparison->session;
	int status = FG_OK;

	*comparison = (struct comparison){0};
	plan->baseline.kind = FG_BASELINE_GIT;
	plan->baseline.value = baseline;
	status = fg_session_init(session, search->cli, plan, err);
	if (status != FG_OK)
		return status;
	comparison->benchmarks =
		fg_xcalloc(plan->benchmark_count, sizeof(comparison->benchmarks[0]));
	session->asked.candidate = candidate;
	session->asked.state_folder = search->state_folder;
	session->asked.keep_builds = KEPT_BUILDS;
	session->asked.benchmarks = comparison->benchmarks;
	for (size_t i = 0; i < plan->benchmark_count; i++) {
		if (!name || fg_plan_find(plan, name) == &plan->benchmarks[i])
			comparison->benchmarks[session->asked.benchmark_count++] =
				&plan->benchmarks[i];
	}
	status = fg_arms_open(&comparison->arms, session, plan, err);
	comparison->build_seconds = seconds_since(began_ns);
	return status;
}

/* Gates both commits by the full rule. The report goes to the terminal, the run to the store. */
static int gate(struct comparison *comparison, struct fg_error *err)
{
	struct fg_session *session = &comparison->session;
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
	if (status == FG_OK)
		status = fg_session_save(session, err);
	return status == FG_OK && !session->cli->json ? fg_session_report(session, err) : status;
}

/* Measures exactly so many pairs of the benchmark in question, and only what the search needs. */
static int measure_pairs(struct fg_bisect_search *search, struct comparison *comparison,
			 unsigned pairs, struct fg_error *err)
{
	struct fg_measuring *measure = &comparison->benchmark.measure;

	comparison->benchmark = *comparison->benchmarks[0];
	comparison->benchmarks[0] = &comparison->benchmark;
	fg_cli_choose_cases(search->plan, &comparison->benchmark,
			    (const char *const[]){search->asked.benchmark}, 1);
	comparison->session.asked.fixed_pairs = pairs;
	if (search->asked.measure)
		return fg_session_measure(&comparison->session, err);
	measure->schedule = search->schedule;
	measure->min_pairs = 2;
	measure->max_pairs = 100000;
	measure->budget_ns = 3600 * FG_NS_PER_S;
	measure->until_sure = false;
	measure->exact = FG_EXACT_OFF;
	measure->also_count = 0;
	measure->call_count = 0;
	measure->domain_count = 0;
	measure->layouts = search->layouts > 0 ? measure->layouts : FG_LAYOUTS_NEVER;
	measure->affected = FG_AFFECTED_NEVER;
	if (!search->asked.function)
		measure->sampler.enabled = false;
	return fg_session_measure(&comparison->session, err);
}

/* ---- what a run says about the commits ---- */

static const char *code_of(const struct fg_build_facts *build, struct fg_arena *arena)
{
	const char *code = NULL;

	if (!build->code)
		return NULL;
	code = fg_arena_printf(arena, "%s %s", build->code, build->inputs ? build->inputs : "");
	for (size_t i = 0; i < build->library_count; i++) {
		const struct fg_build_library *library = &build->libraries[i];

		if (library->code)
			code = fg_arena_printf(arena, "%s %s %s", code, library->name,
					       library->code);
	}
	return code;
}

/* Adds new differences of a benchmark to the pairs of a commit; returns how many. */
static size_t take_differences(struct fg_bisect_search *search, const struct fg_session *session,
			       const struct fg_series *series, struct fg_bisect_commit *commit)
{
	const size_t index = (size_t)(series - session->got.run.series);
	const size_t before = commit->pair_count;

	if (search->asked.measure || search->asked.function) {
		const struct fg_bisect_cost cost = {
			.profile = index < session->got.profile_count ? session->got.profiles[index]
								      : NULL,
			.measure = search->asked.measure,
			.function = search->asked.function};

		fg_bisect_take_costs(commit, &cost);
	} else {
		fg_bisect_take_metric(commit, series, search->asked.metric);
	}
	search->pairs += (double)(commit->pair_count - before);
	return commit->pair_count - before;
}

static bool same_text(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

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

/* A benchmark that got worse says more than one that failed or exists on one side only. */
static int rank_of(enum fg_outcome outcome)
{
	if (outcome == FG_OUTCOME_NEW || outcome == FG_OUTCOME_MISSING)
		return -1;
	return outcome == FG_OUTCOME_ERROR ? FG_OUTCOME_CREEP : (int)outcome;
}

/* The worst benchmark of the requested name or of its cases. */
static const struct fg_benchmark_verdict *choose_verdict(const struct fg_bisect_search *search,
							 const struct fg_verdict *verdict)
{
	const char *name = search->asked.benchmark ? search->asked.benchmark : "";
	const size_t length = strlen(name);
	const struct fg_benchmark_verdict *worst = NULL;

	for (size_t i = 0; i < verdict->benchmark_count; i++) {
		const struct fg_benchmark_verdict *benchmark = &verdict->benchmarks[i];
		const char *rest = benchmark->name + length;

		if (length > 0 && (strncmp(benchmark->name, name, length) != 0 ||
				   (*rest != '\0' && *rest != '/')))
			continue;
		if (!worst || rank_of(benchmark->outcome) > rank_of(worst->outcome))
			worst = benchmark;
	}
	return worst;
}

/* The function that surely costs more, or else the one that surely does more. */
static const char *blamed(const struct fg_benchmark_verdict *benchmark)
{
	const struct fg_node_verdict *first = benchmark->time.functions;

	if (benchmark->time.function_count > 0 && first->standing == FG_STANDING_GUILTY)
		return first->name;
	return benchmark->work && benchmark->work->kind != FG_WORK_SAME ? benchmark->work->function
									: NULL;
}

static void take_verdict(const struct fg_session *session,
			 const struct fg_benchmark_verdict *benchmark,
			 const struct fg_metric_verdict *metric, struct fg_arena *arena,
			 struct fg_search_verdict *verdict)
{
	*verdict = (struct fg_search_verdict){
		.run = fg_arena_strdup(arena, session->got.run.id),
		.outcome = metric ? metric->outcome : benchmark->outcome,
		.pairs = benchmark->pairs,
		.ratio = metric ? metric->ratio : (double)NAN,
		.low = metric ? metric->low : (double)NAN,
		.high = metric ? metric->high : (double)NAN,
		.smallest = metric ? metric->smallest_detectable : (double)NAN,
		.function = fg_arena_strdup(arena, blamed(benchmark)),
	};
}

/* ---- the ends ---- */

/* Commits that touch what the ends' comparison blames are likelier. */
static void weigh_commits(struct fg_bisect_search *search,
			  const struct fg_benchmark_verdict *benchmark)
{
	const struct fg_git git = git_of(search);
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

static int take_ends(struct fg_bisect_search *search, const struct comparison *comparison,
		     const struct fg_benchmark_verdict *benchmark, struct fg_error *err)
{
	const struct fg_session *session = &comparison->session;
	const struct fg_series *series = fg_run_find(&session->got.run, benchmark->name);
	const struct fg_metric_verdict *metric = find_metric(benchmark, fg_search_subject(search));
	const size_t last = search->model.count - 1;
	struct fg_arena *arena = &search->plan->arena;
	size_t pairs = 0;

	if (search->asked.metric && !metric)
		return fg_error_set(err, FG_EINVAL, "benchmark '%s' has no metric '%s'",
				    benchmark->name, search->asked.metric);
	if (!metric && benchmark->metric_count > 0 && !search->asked.measure)
		metric = &benchmark->metrics[0];
	if (metric)
		search->asked.metric = fg_arena_strdup(arena, metric->name);
	take_verdict(session, benchmark, metric, arena, &search->ends);
	search->schedule = series->schedule;
	search->layouts = series->layouts;
	search->good_code = code_of(&series->build[FG_ARM_BASELINE], arena);
	search->commits[last].code = code_of(&series->build[FG_ARM_CANDIDATE], arena);
	search->model.commits[last].is_built = true;
	pairs = take_differences(search, session, series, &search->model.commits[last]);
	search->model.build_seconds = fmax(comparison->build_seconds / 2, 0.1);
	search->model.pair_seconds = pairs ? fmax(series->seconds / (double)pairs, 0.001) : 1;
	search->model.visit_seconds = 2 * search->model.pair_seconds;
	weigh_commits(search, benchmark);
	return FG_OK;
}

/* The cost of one function, and some measures, have no verdict of their own. */
static bool is_worse(const struct fg_bisect_search *search)
{
	const bool has_pairs = search->asked.function || search->asked.measure;

	return (search->ends.outcome == FG_OUTCOME_REGRESSION && !search->asked.function) ||
	       (has_pairs && fg_bisect_is_worse(&search->model.commits[search->model.count - 1]));
}

static int check_measured(const struct fg_bisect_search *search,
			  const struct fg_benchmark_verdict *benchmark, struct fg_error *err)
{
	if (!benchmark)
		return fg_error_set(err, FG_EINVAL, "nothing was measured at the ends");
	if (benchmark->outcome == FG_OUTCOME_MISSING)
		return fg_error_set(err, FG_EINVAL, "benchmark '%s' does not exist at %.12s",
				    benchmark->name, search->range.bad);
	if (benchmark->outcome == FG_OUTCOME_ERROR)
		return fg_error_set(err, FG_ECHILD, "the ends cannot be compared: %s",
				    benchmark->error ? benchmark->error : "not measured");
	return FG_OK;
}

/* `is_new`: the good end does not have the benchmark. */
static int gate_ends(struct fg_bisect_search *search, bool *is_new, struct fg_error *err)
{
	const struct fg_benchmark_verdict *benchmark = NULL;
	struct comparison comparison;
	int status =
		open_comparison(search, search->range.good, search->range.bad, &comparison, err);

	if (status != FG_OK)
		goto out;
	fg_cli_say(search->cli, "%zu commits between %.12s and %.12s; first the ends",
		   search->range.count, search->range.good, search->range.bad);
	status = gate(&comparison, err);
	if (status != FG_OK)
		goto out;
	benchmark = choose_verdict(search, &comparison.session.got.verdict);
	status = check_measured(search, benchmark, err);
	if (status != FG_OK)
		goto out;
	search->asked.benchmark = fg_arena_strdup(&search->plan->arena, benchmark->name);
	*is_new = benchmark->outcome == FG_OUTCOME_NEW;
	if (!*is_new)
		status = take_ends(search, &comparison, benchmark, err);
	search->state = is_worse(search) ? FG_SEARCH_OPEN : FG_SEARCH_NOTHING;
out:
	close_comparison(&comparison);
	return status;
}

/* Does the commit build, and run the benchmark? */
static int has_benchmark(struct fg_bisect_search *search, size_t index, bool *has,
			 struct fg_error *err)
{
	const char *commit = search->range.commits[index].hash;
	const struct fg_series *series = NULL;
	struct comparison comparison;
	struct fg_error why = {0};
	int status = open_comparison(search, commit, search->range.bad, &comparison, &why);

	*has = status == FG_OK;
	search->builds++;
	if (*has) {
		status = measure_pairs(search, &comparison, 1, &why);
		series = fg_run_find(&comparison.session.got.run, search->asked.benchmark);
		*has = series && series->state == FG_MEASURED && !series->only_in[FG_ARM_CANDIDATE];
	}
	close_comparison(&comparison);
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

/* The good end becomes the first commit that has the benchmark. */
static int start_later(struct fg_bisect_search *search, struct fg_error *err)
{
	size_t first = 0;
	size_t last = search->range.count - 1; /* first commit that has the benchmark */
	int status = FG_OK;

	fg_cli_say(search->cli, "%.12s does not have '%s': looking for the first commit that does",
		   search->range.good, search->asked.benchmark);
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
				    search->asked.benchmark, search->range.bad);
	drop_commits(search, last + 1);
	return FG_OK;
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

static int compare_ends(struct fg_bisect_search *search, struct fg_error *err)
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

/* ---- one commit ---- */

struct visit {
	struct fg_bisect_search *search;
	size_t index;
	bool is_known;
};

/* Commits from `first` to `last` run the same code as the commit before them. */
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
		commit->code =
			code_of(&series->build[FG_ARM_CANDIDATE], &visit->search->plan->arena);
		visit->is_known = is_code_known(visit->search, visit->index);
	}
	return visit->is_known;
}

static void give_up(struct fg_bisect_search *search, size_t index, const char *why)
{
	struct fg_search_commit *commit = &search->commits[index];

	commit->attempts++;
	commit->error = fg_arena_strdup(&search->plan->arena, why);
	search->model.commits[index].is_unmeasured = true;
	fg_cli_say(search->cli, "%.12s cannot be measured: %s", search->range.commits[index].hash,
		   why);
}

static int measure_commit(struct fg_bisect_search *search, size_t index, unsigned pairs,
			  struct comparison *comparison, struct fg_error *err)
{
	struct fg_session *session = &comparison->session;
	struct fg_bisect *model = &search->model;
	struct visit visit = {.search = search, .index = index};
	const int64_t began_ns = fg_clock_monotonic_ns();
	const struct fg_series *series = NULL;
	size_t taken = 0;
	int status = FG_OK;

	session->asked.is_known = is_known;
	session->asked.context = &visit;
	status = measure_pairs(search, comparison, pairs, err);
	if (status != FG_OK || visit.is_known)
		return status;
	series = fg_run_find(&session->got.run, search->asked.benchmark);
	if (series)
		taken = take_differences(search, session, series, &model->commits[index]);
	if (taken == 0)
		give_up(search, index,
			series && series->failure ? series->failure : "no pair counted");
	else
		model->visit_seconds =
			(model->visit_seconds +
			 fmax(seconds_since(began_ns) - (double)taken * model->pair_seconds,
			      2 * model->pair_seconds)) /
			2;
	return FG_OK;
}

static int visit(struct fg_bisect_search *search, size_t index, unsigned pairs,
		 struct fg_error *err)
{
	struct comparison comparison;
	struct fg_error why = {0};
	int status = open_comparison(search, search->range.good, search->range.commits[index].hash,
				     &comparison, &why);

	search->builds += comparison.arms.worktrees[FG_ARM_CANDIDATE].cached ? 0 : 1;
	if (*search->cli->interrupted) {
		status = fg_error_set(err, FG_EINTERRUPTED, "interrupted");
	} else if (status == FG_ECHILD || status == FG_ENOENT) {
		give_up(search, index, why.message);
		status = FG_OK;
	} else if (status != FG_OK) {
		status = fg_error_set(err, status, "%s", why.message);
	} else {
		if (!comparison.arms.worktrees[FG_ARM_CANDIDATE].cached)
			search->model.build_seconds =
				(search->model.build_seconds + comparison.build_seconds) / 2;
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

/* `next` is the number of commits if no measurement is needed, or none would help. */
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
		*pairs = search->model.is_exact ? 1 : RETRY_PAIRS;
		if (*next < search->model.count)
			search->model.commits[*next].is_unmeasured = false;
	} else if (search->look.state == FG_BISECT_OPEN) {
		search->state = FG_SEARCH_OPEN;
		*next = search->model.count;
	}
	return FG_OK;
}

static int measure_commits(struct fg_bisect_search *search, struct fg_error *err)
{
	const double budget_s = (double)search->asked.budget_ns / FG_NS_PER_S;
	size_t next = 0;
	unsigned pairs = 0;
	int status = look(search, &next, &pairs, err);

	while (status == FG_OK && next < search->model.count) {
		if (budget_s > 0 && fg_search_seconds(search) > budget_s) {
			search->state = FG_SEARCH_STOPPED;
			break;
		}
		say_next(search, next, pairs);
		status = visit(search, next, pairs, err);
		if (status != FG_OK)
			return status;
		status = fg_search_save(search, err);
		if (status != FG_OK)
			return status;
		status = look(search, &next, &pairs, err);
	}
	return status;
}

/* ---- the answer ---- */

/* The terminal's report: card, functions, lines. */
static const char *card_of(const struct fg_session *session, struct fg_arena *arena)
{
	const struct fg_report report = {
		.run = &session->got.run,
		.verdict = &session->got.verdict,
		.profiles = (const struct fg_profile_set *const *)session->got.profiles};
	struct fg_strbuf text = {0};
	const char *card = NULL;

	if (fg_reporter_find("terminal", NULL)
		    ->write(&report, &(struct fg_report_options){0}, &text, NULL) == FG_OK)
		card = fg_arena_strdup(arena, fg_strbuf_text(&text));
	fg_strbuf_release(&text);
	return card;
}

/* Measures the step's commit against its parent, by the full rule. */
static int confirm(struct fg_bisect_search *search, const struct fg_bisect_step *step,
		   struct fg_search_verdict *verdict, struct fg_error *err)
{
	const char *parent =
		step->first > 0 ? search->range.commits[step->first - 1].hash : search->range.good;
	const char *commit = search->range.commits[step->last].hash;
	const struct fg_benchmark_verdict *benchmark = NULL;
	struct comparison comparison;
	int status = FG_OK;

	fg_cli_say(search->cli, "%.12s against its parent", commit);
	status = open_comparison(search, parent, commit, &comparison, err);
	if (status != FG_OK)
		goto out;
	status = gate(&comparison, err);
	if (status != FG_OK)
		goto out;
	benchmark = choose_verdict(search, &comparison.session.got.verdict);
	if (benchmark)
		take_verdict(&comparison.session, benchmark,
			     find_metric(benchmark, fg_search_subject(search)),
			     &search->plan->arena, verdict);
	verdict->card = card_of(&comparison.session, &search->plan->arena);
out:
	close_comparison(&comparison);
	return status;
}

/* Does the full rule say that the step's commits are as fast as their parent? */
static bool is_refuted(const struct fg_bisect_search *search, size_t step)
{
	const enum fg_outcome outcome = search->steps[step].outcome;

	return isfinite(search->steps[step].ratio) && !search->asked.function &&
	       (outcome == FG_OUTCOME_PASS || outcome == FG_OUTCOME_IMPROVEMENT);
}

/* `again`: a step was refuted, so its commits now count as one with their parent. */
static int confirm_all(struct fg_bisect_search *search, bool *again, struct fg_error *err)
{
	*again = false;
	search->confirmed = 0;
	for (size_t s = 0; s < search->look.step_count; s++) {
		const struct fg_bisect_step *step = &search->look.steps[s];
		struct fg_error why = {0};
		const int status = confirm(search, step, &search->steps[s], &why);

		if (status != FG_OK && status != FG_ECHILD)
			return fg_error_set(err, status, "%s", why.message);
		if (status == FG_ECHILD) {
			/* the parent does not build either */
			fg_cli_warn(search->cli, "%s", why.message);
			search->steps[s] = (struct fg_search_verdict){.outcome = FG_OUTCOME_ERROR,
								      .ratio = (double)NAN};
		}
		search->confirmed = s + 1;
		if (!is_refuted(search, s))
			continue;
		mark_same(search, step->first, step->last);
		*again = true;
	}
	return fg_search_save(search, err);
}

static int search_range(struct fg_bisect_search *search, struct fg_cli *cli, struct fg_plan *plan,
			const struct fg_search_request *asked, struct fg_error *err)
{
	bool again = true;
	int status = FG_OK;

	*search = (struct fg_bisect_search){.cli = cli, .plan = plan, .asked = *asked};
	status = open_search(search, err);
	if (status == FG_OK)
		status = asked->resume ? fg_search_load(search, err) : compare_ends(search, err);
	if (status != FG_OK || search->state == FG_SEARCH_NOTHING)
		return status;
	while (status == FG_OK && again) {
		status = measure_commits(search, err);
		if (status == FG_OK)
			status = confirm_all(search, &again, err);
		again = again && search->state == FG_SEARCH_FOUND;
	}
	return status;
}

/* Searches the side branch of the merge that was found. */
static bool find_inside(const struct fg_bisect_search *search, struct fg_search_request *asked)
{
	const struct fg_git git = git_of(search);
	const struct fg_bisect_step *step = search->look.steps;
	const struct fg_range_commit *merge = NULL;
	const char *start = NULL;

	if (search->state != FG_SEARCH_FOUND || search->look.step_count != 1 ||
	    step->first < step->last)
		return false;
	merge = &search->range.commits[step->last];
	start = fg_range_side_start(&git, merge, &search->plan->arena);
	*asked = search->asked;
	asked->good = start;
	asked->bad = merge->side;
	asked->resume = false;
	return start && strcmp(start, merge->side) != 0;
}

int fg_search(struct fg_bisect_search *search, struct fg_cli *cli, struct fg_plan *plan,
	      const struct fg_search_request *asked, struct fg_error *err)
{
	struct fg_search_request inside;
	int status = search_range(search, cli, plan, asked, err);

	while (status == FG_OK && find_inside(search, &inside)) {
		struct fg_bisect_search inner;

		fg_cli_say(cli, "the commit found is a merge: searching its side branch");
		status = search_range(&inner, cli, plan, &inside, err);
		if (status != FG_OK || inner.state == FG_SEARCH_NOTHING) {
			/* nothing in it got slower: the merge itself is the result */
			fg_search_release(&inner);
			break;
		}
		fg_search_release(search);
		*search = inner;
	}
	return status;
}
