// SPDX-License-Identifier: Apache-2.0
#include "cli/bisect/comparison.h"

#include "base/clock.h"
#include "cli/session/plan.h"

#include <math.h>

enum {
	KEPT_BUILDS = 24,
};

struct fg_git fg_search_git(const struct fg_bisect_search *search)
{
	return (struct fg_git){.folder = search->plan->root,
			       .interrupted = search->cli->interrupted};
}

void fg_comparison_close(struct fg_comparison *comparison)
{
	fg_arms_close(&comparison->arms);
	fg_session_release(&comparison->session);
	free(comparison->benchmarks);
	*comparison = (struct fg_comparison){0};
}

double fg_comparison_seconds_since(int64_t began_ns)
{
	return (double)(fg_clock_monotonic_ns() - began_ns) / FG_NS_PER_S;
}

int fg_comparison_open(struct fg_bisect_search *search, const char *baseline, const char *candidate,
		       struct fg_comparison *comparison, struct fg_error *err)
{
	const int64_t began_ns = fg_clock_monotonic_ns();
	const char *name = search->request.benchmark;
	struct fg_plan *plan = search->plan;
	struct fg_session *session = &comparison->session;
	int status = FG_OK;

	*comparison = (struct fg_comparison){0};
	plan->baseline.kind = FG_BASELINE_GIT;
	plan->baseline.value = baseline;
	FG_TRY(fg_session_init(session, search->cli, plan, err));
	comparison->benchmarks =
		fg_xcalloc(plan->benchmark_count, sizeof(comparison->benchmarks[0]));
	session->request.candidate = candidate;
	session->request.state_folder = search->state_folder;
	session->request.keep_builds = KEPT_BUILDS;
	session->request.benchmarks = comparison->benchmarks;
	for (size_t i = 0; i < plan->benchmark_count; i++) {
		if (!name || fg_plan_find(plan, name) == &plan->benchmarks[i])
			comparison->benchmarks[session->request.benchmark_count++] =
				&plan->benchmarks[i];
	}
	status = fg_arms_open(&comparison->arms, session, plan, err);
	comparison->build_seconds = fg_comparison_seconds_since(began_ns);
	return status;
}

int fg_comparison_gate(struct fg_comparison *comparison, struct fg_error *err)
{
	struct fg_session *session = &comparison->session;
	struct fg_gate_input input = {0};
	int status = FG_OK;

	FG_TRY(fg_session_open_store(session, err));
	FG_TRY(fg_session_measure(session, err));
	fg_arms_describe(&comparison->arms, &input);
	input.gone_count = 0;
	status = fg_session_decide(session, &input, err);
	if (status == FG_OK)
		status = fg_session_save(session, err);
	return status == FG_OK && !session->cli->json ? fg_session_report(session, err) : status;
}

int fg_comparison_measure(struct fg_bisect_search *search, struct fg_comparison *comparison,
			  unsigned pairs, struct fg_error *err)
{
	struct fg_measuring *measure = &comparison->benchmark.measure;

	comparison->benchmark = *comparison->benchmarks[0];
	comparison->benchmarks[0] = &comparison->benchmark;
	fg_cli_choose_cases(search->plan, &comparison->benchmark,
			    (const char *const[]){search->request.benchmark}, 1);
	comparison->session.request.fixed_pairs = pairs;
	if (search->request.measure)
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
	if (!search->request.function)
		measure->sampler.enabled = false;
	return fg_session_measure(&comparison->session, err);
}

/* ---- results about the commits ---- */

const char *fg_comparison_code(const struct fg_build_facts *build, struct fg_arena *arena)
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

size_t fg_comparison_take_differences(struct fg_bisect_search *search,
				      const struct fg_session *session,
				      const struct fg_series *series,
				      struct fg_bisect_commit *commit)
{
	const size_t index = (size_t)(series - session->result.run.series);
	const size_t before = commit->pair_count;

	if (search->request.measure || search->request.function) {
		const struct fg_bisect_cost cost = {
			.profile = index < session->result.profile_count
					   ? session->result.profiles[index]
					   : NULL,
			.measure = search->request.measure,
			.function = search->request.function};

		fg_bisect_take_costs(commit, &cost);
	} else {
		fg_bisect_take_metric(commit, series, search->request.metric);
	}
	search->pairs += (double)(commit->pair_count - before);
	return commit->pair_count - before;
}

const struct fg_metric_verdict *fg_comparison_metric(const struct fg_benchmark_verdict *benchmark,
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

/* A benchmark that got worse ranks above a benchmark that failed or exists on one side only. */
static int rank_of(enum fg_outcome outcome)
{
	if (outcome == FG_OUTCOME_NEW || outcome == FG_OUTCOME_MISSING)
		return -1;
	return outcome == FG_OUTCOME_ERROR ? FG_OUTCOME_CREEP : (int)outcome;
}

const struct fg_benchmark_verdict *fg_comparison_verdict(const struct fg_bisect_search *search,
							 const struct fg_verdict *verdict)
{
	const char *name = search->request.benchmark ? search->request.benchmark : "";
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

/*
 * Returns the function that certainly costs more, or else the function whose counted work changed;
 * NULL if neither is known.
 */
static const char *blamed(const struct fg_benchmark_verdict *benchmark)
{
	const struct fg_node_verdict *first = benchmark->time.functions;

	if (benchmark->time.function_count > 0 && first->standing == FG_STANDING_GUILTY)
		return first->name;
	return benchmark->work && benchmark->work->kind != FG_WORK_SAME ? benchmark->work->function
									: NULL;
}

void fg_comparison_take_verdict(const struct fg_session *session,
				const struct fg_benchmark_verdict *benchmark,
				const struct fg_metric_verdict *metric, struct fg_arena *arena,
				struct fg_search_verdict *verdict)
{
	*verdict = (struct fg_search_verdict){
		.run = fg_arena_strdup(arena, session->result.run.id),
		.outcome = metric ? metric->outcome : benchmark->outcome,
		.pairs = benchmark->pairs,
		.ratio = metric ? metric->ratio : (double)NAN,
		.low = metric ? metric->low : (double)NAN,
		.high = metric ? metric->high : (double)NAN,
		.smallest = metric ? metric->smallest_detectable : (double)NAN,
		.function = fg_arena_strdup(arena, blamed(benchmark)),
	};
}
