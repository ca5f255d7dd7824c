// SPDX-License-Identifier: Apache-2.0
#include "cli/bisect/search.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/bisect/comparison.h"
#include "cli/session/plan.h"
#include "reporters/reporter.h"

#include <math.h>

enum {
	ATTEMPTS = 2, /* maximum number of attempts to measure a necessary commit */
	RETRY_PAIRS = 8,
};

/* Prior weight of a commit that changes only documents. */
static const double weight_of_prose = 0.125;

/* ---- opening ---- */

/* Does the commit change nothing but documents, images and translations? */
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

/*
 * Makes sessions count this measure instead of timing pairs: "heap.allocations" belongs to the
 * class "heap".
 */
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
	const struct fg_git git = fg_search_git(search);
	struct fg_commit_range *range = &search->range;

	FG_TRY(fg_range_list(&git, search->request.good, search->request.bad, &search->plan->arena,
			     range, err));
	if (range->count > FG_BISECT_COMMITS_MAX)
		return fg_error_set(err, FG_EINVAL,
				    "the range has %zu commits, and at most %d can be "
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

	search->state_folder = fg_fs_join(plan->root, FG_STATE_FOLDER);
	search->started_ns = fg_clock_monotonic_ns();
	if (search->request.resume)
		FG_TRY(fg_search_load_request(search, err));
	FG_TRY(list_commits(search, err));
	fg_state_folder_make(search->state_folder);
	search->model.is_exact = search->request.measure != NULL;
	for (size_t i = 0; search->request.measure && i < plan->benchmark_count; i++)
		count_measure(search->request.measure, &plan->arena, &plan->benchmarks[i].measure);
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

/* ---- one commit ---- */

struct visit {
	struct fg_bisect_search *search;
	size_t index;
	bool is_known;
};

/* Makes the commits from `first` to `last` count as having the code of the commit before them. */
static void mark_same(struct fg_bisect_search *search, size_t first, size_t last)
{
	for (size_t i = first; i <= last; i++) {
		search->model.commits[i].is_same = true;
		search->model.commits[i].is_unmeasured = false;
	}
}

/*
 * Does the commit have the code of the nearest built commit on either side? If so, the commits in
 * between also count as having that code.
 */
static bool is_code_known(struct fg_bisect_search *search, size_t index)
{
	const char *code = search->commits[index].code;
	size_t left = index;
	size_t right = index + 1;
	bool known = false;

	while (left > 0 && !search->commits[left - 1].code)
		left--;
	if (fg_fact_is_equal(code, left ? search->commits[left - 1].code : search->good_code)) {
		mark_same(search, left, index);
		known = true;
	}
	while (right < search->model.count && !search->commits[right].code)
		right++;
	if (right < search->model.count && fg_fact_is_equal(code, search->commits[right].code)) {
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
		commit->code = fg_comparison_code(&series->build[FG_ARM_CANDIDATE],
						  &visit->search->plan->arena);
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
			  struct fg_comparison *comparison, struct fg_error *err)
{
	struct fg_session *session = &comparison->session;
	struct fg_bisect *model = &search->model;
	struct visit visit = {.search = search, .index = index};
	const int64_t began_ns = fg_clock_monotonic_ns();
	const struct fg_series *series = NULL;
	size_t taken = 0;
	int status = FG_OK;

	session->request.is_known = is_known;
	session->request.context = &visit;
	status = fg_comparison_measure(search, comparison, pairs, err);
	if (status != FG_OK || visit.is_known)
		return status;
	series = fg_run_find(&session->result.run, search->request.benchmark);
	if (series)
		taken = fg_comparison_take_differences(search, session, series,
						       &model->commits[index]);
	if (taken == 0)
		give_up(search, index,
			series && series->failure ? series->failure : "it has no usable pairs");
	else
		model->visit_seconds =
			(model->visit_seconds + fmax(fg_comparison_seconds_since(began_ns) -
							     (double)taken * model->pair_seconds,
						     2 * model->pair_seconds)) /
			2;
	return FG_OK;
}

static int visit(struct fg_bisect_search *search, size_t index, unsigned pairs,
		 struct fg_error *err)
{
	struct fg_comparison comparison;
	struct fg_error why = {0};
	int status = fg_comparison_open(search, search->range.good,
					search->range.commits[index].hash, &comparison, &why);

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
	fg_comparison_close(&comparison);
	return status;
}

/* ---- the search ---- */

/*
 * Finds an unmeasured commit in the steps that may be tried again, because a flaky build should not
 * blur the answer. Returns the number of commits if no commit may be tried again.
 */
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
	fg_cli_say(search->cli,
		   "95 %% of the probability is in %zu commit%s; next %.12s %s, %u %s (%s)",
		   search->look.left, search->look.left == 1 ? "" : "s",
		   search->range.commits[index].hash, fg_strbuf_text(&subject), pairs,
		   search->model.is_exact ? "count" : "pairs",
		   fg_format_duration(fg_search_seconds(search) * FG_NS_PER_S, spent));
	fg_strbuf_release(&subject);
}

/* Sets `next` to the number of commits if no measurement is needed or would help. */
static int look(struct fg_bisect_search *search, size_t *next, unsigned *pairs,
		struct fg_error *err)
{
	fg_bisect_look_release(&search->look);
	FG_TRY(fg_bisect_look(&search->model, &search->look, err));
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
	const double budget_s = (double)search->request.budget_ns / FG_NS_PER_S;
	size_t next = 0;
	unsigned pairs = 0;
	int status = look(search, &next, &pairs, err);

	while (status == FG_OK && next < search->model.count) {
		if (budget_s > 0 && fg_search_seconds(search) > budget_s) {
			search->state = FG_SEARCH_STOPPED;
			break;
		}
		say_next(search, next, pairs);
		FG_TRY(visit(search, next, pairs, err));
		FG_TRY(fg_search_save(search, err));
		status = look(search, &next, &pairs, err);
	}
	return status;
}

/* ---- the answer ---- */

/* Returns the session's report as the terminal shows it: card, functions, lines. */
static const char *card_of(const struct fg_session *session, struct fg_arena *arena)
{
	const struct fg_report report = {
		.run = &session->result.run,
		.verdict = &session->result.verdict,
		.profiles = (const struct fg_profile_set *const *)session->result.profiles};
	struct fg_strbuf text = {0};

	fg_reporter_find("terminal", NULL)->write(&report, &(struct fg_report_options){0}, &text);
	return fg_strbuf_keep(&text, arena);
}

/* Gates the step's commit against its parent, by the full rule. */
static int confirm(struct fg_bisect_search *search, const struct fg_bisect_step *step,
		   struct fg_search_verdict *verdict, struct fg_error *err)
{
	const char *parent =
		step->first > 0 ? search->range.commits[step->first - 1].hash : search->range.good;
	const char *commit = search->range.commits[step->last].hash;
	const struct fg_benchmark_verdict *benchmark = NULL;
	struct fg_comparison comparison;
	int status = FG_OK;

	fg_cli_say(search->cli, "%.12s against its parent", commit);
	FG_TRY_OUT(fg_comparison_open(search, parent, commit, &comparison, err));
	FG_TRY_OUT(fg_comparison_gate(&comparison, err));
	benchmark = fg_comparison_verdict(search, &comparison.session.result.verdict);
	if (benchmark)
		fg_comparison_take_verdict(
			&comparison.session, benchmark,
			fg_comparison_metric(benchmark, fg_search_subject(search)),
			&search->plan->arena, verdict);
	verdict->card = card_of(&comparison.session, &search->plan->arena);
out:
	fg_comparison_close(&comparison);
	return status;
}

/* Does the full rule find the step's commits no slower than their parent? */
static bool is_refuted(const struct fg_bisect_search *search, size_t step)
{
	const enum fg_outcome outcome = search->steps[step].outcome;

	return isfinite(search->steps[step].ratio) && !search->request.function &&
	       (outcome == FG_OUTCOME_PASS || outcome == FG_OUTCOME_IMPROVEMENT);
}

/* Sets `again` if a step was refuted; its commits then count as having their parent's code. */
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
			/* The step's commit or its parent does not build. */
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
			const struct fg_search_request *request, struct fg_error *err)
{
	bool again = true;
	int status = FG_OK;

	*search = (struct fg_bisect_search){.cli = cli, .plan = plan, .request = *request};
	status = open_search(search, err);
	if (status == FG_OK)
		status = request->resume ? fg_search_load(search, err)
					 : fg_ends_compare(search, err);
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

/*
 * Makes the request that searches the side branch of the merge that was found. False if no single
 * merge was found or its branch has no commit to search.
 */
static bool find_inside(const struct fg_bisect_search *search, struct fg_search_request *request)
{
	const struct fg_git git = fg_search_git(search);
	const struct fg_bisect_step *step = search->look.steps;
	const struct fg_range_commit *merge = NULL;
	const char *start = NULL;

	if (search->state != FG_SEARCH_FOUND || search->look.step_count != 1 ||
	    step->first < step->last)
		return false;
	merge = &search->range.commits[step->last];
	start = fg_range_side_start(&git, merge, &search->plan->arena);
	*request = search->request;
	request->good = start;
	request->bad = merge->side;
	request->resume = false;
	return start && strcmp(start, merge->side) != 0;
}

int fg_search(struct fg_bisect_search *search, struct fg_cli *cli, struct fg_plan *plan,
	      const struct fg_search_request *request, struct fg_error *err)
{
	struct fg_search_request inside;
	int status = search_range(search, cli, plan, request, err);

	while (status == FG_OK && find_inside(search, &inside)) {
		struct fg_bisect_search inner;

		fg_cli_say(cli, "the commit found is a merge: searching its side branch");
		status = search_range(&inner, cli, plan, &inside, err);
		if (status != FG_OK || inner.state == FG_SEARCH_NOTHING) {
			/* If no commit of the branch got slower, the merge itself is the result. */
			fg_search_release(&inner);
			break;
		}
		fg_search_release(search);
		*search = inner;
	}
	return status;
}
