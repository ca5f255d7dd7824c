// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/fs.h"
#include "cli/prove/prove.h"
#include "cli/session/arms.h"
#include "cli/session/plan.h"
#include "runner/build/plant.h"

#include <math.h>

enum {
	FIXED_PAIRS_MAX = 100000,
};

/* Store of the `stored` runs. */
#define STORED_PATH   FG_STATE_FOLDER "/prove.db"
#define STORED_BRANCH "fastgate-prove"

/* A run of HEAD against a separate build of HEAD, or against earlier runs of HEAD. */
struct arm {
	struct fg_session session;
	struct fg_arms arms;
	struct fg_benchmark benchmark; /* the plan's benchmark, as this run measures it */
	const struct fg_benchmark *benchmarks[1];
	struct fg_plant plant;
	bool is_stored; /* against earlier runs */
};

static int open_stored(struct fg_session *session, struct fg_plan *plan, struct fg_error *err)
{
	const char *path = plan->store_path;
	int status;

	plan->baseline.kind = FG_BASELINE_BRANCH;
	plan->baseline.value = STORED_BRANCH;
	plan->store_path = STORED_PATH;
	status = fg_session_open_store(session, err);
	plan->store_path = path;
	return status;
}

static int open_arm(struct fg_prove *prove, const struct fg_prove_subject *subject, struct arm *arm,
		    struct fg_error *err)
{
	struct fg_session *session = &arm->session;
	struct fg_plan *plan = prove->plan;
	struct fg_side *side = NULL;

	FG_TRY(fg_session_init(session, prove->cli, plan, err));
	arm->benchmark = *subject->benchmark;
	arm->benchmark.measure.affected = FG_AFFECTED_NEVER;
	arm->benchmarks[0] = &arm->benchmark;
	session->request.benchmarks = arm->benchmarks;
	session->request.benchmark_count = 1;
	session->request.state_folder = prove->state_folder;
	session->request.candidate = prove->ref ? prove->ref : "HEAD";
	session->request.apart = !arm->is_stored;
	plan->baseline.kind = FG_BASELINE_GIT;
	plan->baseline.value = session->request.candidate;
	if (arm->is_stored)
		FG_TRY(open_stored(session, plan, err));
	FG_TRY(fg_arms_open(&arm->arms, session, plan, err));
	side = &session->result.run.sides[FG_ARM_CANDIDATE];
	prove->commit = fg_arena_strdup(&plan->arena, side->commit);
	if (arm->is_stored)
		side->branch = fg_xstrdup(STORED_BRANCH);
	return FG_OK;
}

/* Restores the build; if that fails, the next run builds it again. */
static int close_arm(struct arm *arm, int status, struct fg_error *err)
{
	struct fg_error why = {0};

	if (fg_plant_close(&arm->plant, &why) != FG_OK && status == FG_OK)
		status = fg_error_set(err, FG_EIO, "%s", why.message);
	fg_arms_close(&arm->arms);
	fg_session_release(&arm->session);
	return status;
}

static int open_plant(struct arm *arm, const char *library, struct fg_error *err)
{
	char *folder = fg_fs_parent(arm->arms.worktrees[FG_ARM_CANDIDATE].tree);
	int status;

	arm->plant.interrupted = arm->session.cli->interrupted;
	status = fg_plant_open(&arm->plant, folder, library, err);
	free(folder);
	return status;
}

static int plant_in(struct arm *arm, const char *library, const struct fg_planted *planted,
		    struct fg_error *err)
{
	const int status = open_plant(arm, library, err);

	return status != FG_OK ? status : fg_plant_set(&arm->plant, planted, err);
}

/*
 * Relinks the candidate's build, or lets the sampler delay the program. A build that cannot be
 * linked again is measured unchanged.
 */
static int relink(struct fg_prove *prove, struct fg_prove_subject *subject, struct arm *arm,
		  const struct fg_planted *planted)
{
	const char *library = subject->chosen && subject->chosen->library
				      ? subject->chosen->library
				      : fg_fs_base_name(arm->benchmark.command.argv[0]);
	struct fg_error why = {0};
	int status = FG_OK;

	if (planted && !planted->function) {
		arm->benchmark.measure.sampler.slowdown = planted->iterations;
		return FG_OK;
	}
	if (arm->is_stored || subject->not_relinked)
		return FG_OK;
	status = plant_in(arm, library, planted, &why);
	if (status == FG_EINTERRUPTED)
		return status;
	if (status != FG_OK)
		subject->not_relinked = fg_arena_strdup(&prove->plan->arena, why.message);
	return FG_OK;
}

/* ---- a whole run ---- */

static const char *first_blamed(const struct fg_benchmark_verdict *benchmark)
{
	const struct fg_node_verdict *first = benchmark->time.functions;

	return benchmark->time.function_count > 0 && first->standing == FG_STANDING_GUILTY
		       ? first->name
		       : NULL;
}

static void take_metric(const struct fg_metric_verdict *metric, struct fg_proof *proof)
{
	if (!metric)
		return;
	proof->level_ns = metric->baseline;
	proof->estimate = log(metric->ratio);
	proof->half = log(metric->ratio) - log(metric->low);
	proof->min_effect = metric->min_effect;
}

/* Returns the number of repetitions; 0 for the first runs, whose history is too short to judge. */
static double pairs_of_stored(const struct fg_series *series,
			      const struct fg_metric_verdict *metric)
{
	return series && metric && isfinite(metric->p_value) ? (double)series->repetition_count : 0;
}

/* Returns an upper bound of the probability that a correct gate fails equal code in this run. */
static double alpha_of(const struct fg_policy *policy, const struct fg_verdict *verdict)
{
	double alpha = 0;

	for (size_t i = 0; i < verdict->benchmark_count; i++) {
		const struct fg_benchmark_verdict *benchmark = &verdict->benchmarks[i];

		if (policy->functions == FG_FUNCTIONS_GATE)
			alpha += policy->function_alpha;
		for (size_t k = 0; k < benchmark->metric_count; k++) {
			const struct fg_metric_verdict *metric = &benchmark->metrics[k];

			if (metric->gated && metric->decided && !metric->exact)
				alpha += metric->alpha;
		}
	}
	return fmin(alpha, 1);
}

/* A suite counts as one verdict, namely the verdict on its worst case. */
static void take(struct fg_prove *prove, const struct arm *arm, struct fg_proof *proof)
{
	const struct fg_verdict *verdict = &arm->session.result.verdict;
	const struct fg_benchmark_verdict *worst = &verdict->benchmarks[0];
	const struct fg_series *series = NULL;

	for (size_t i = 1; i < verdict->benchmark_count; i++) {
		if (verdict->benchmarks[i].outcome > worst->outcome)
			worst = &verdict->benchmarks[i];
	}
	series = fg_run_find(&arm->session.result.run, worst->name);
	proof->alpha = alpha_of(&arm->benchmark.policy, verdict);
	proof->outcome = worst->outcome;
	proof->schedule = worst->schedule;
	proof->pairs = worst->outcome == FG_OUTCOME_ERROR ? 0 : worst->pairs;
	proof->seconds = worst->seconds;
	if (arm->is_stored)
		proof->pairs = pairs_of_stored(series, fg_verdict_metric(worst, "cpu_time"));
	proof->blamed = fg_arena_strdup(&prove->plan->arena, first_blamed(worst));
	take_metric(fg_verdict_metric(worst, "cpu_time"), proof);
	if (series) {
		proof->layouts = series->layouts;
		fg_proof_noise(series, "cpu_time", &proof->noise);
	}
	FG_APPEND(prove->proofs, prove->proof_count, prove->proof_capacity) = *proof;
}

static int failed(const struct arm *arm, struct fg_error *err)
{
	const struct fg_verdict *verdict = &arm->session.result.verdict;

	for (size_t i = 0; i < verdict->benchmark_count; i++) {
		if (verdict->benchmarks[i].outcome == FG_OUTCOME_ERROR)
			return fg_error_set(
				err, FG_ECHILD, "benchmark '%s': %s", verdict->benchmarks[i].name,
				verdict->benchmarks[i].error ? verdict->benchmarks[i].error
							     : "not measured");
	}
	return verdict->benchmark_count > 0
		       ? FG_OK
		       : fg_error_set(err, FG_ECHILD, "benchmark '%s' was not measured",
				      arm->benchmark.name);
}

static int gate(struct arm *arm, struct fg_error *err)
{
	struct fg_gate_input input = {0};

	FG_TRY(fg_session_measure(&arm->session, err));
	fg_arms_describe(&arm->arms, &input);
	input.gone_count = 0;
	FG_TRY(fg_session_decide(&arm->session, &input, err));
	FG_TRY(failed(arm, err));
	return fg_session_save(&arm->session, err);
}

/* ---- functions ---- */

/* Returns the node's function or, for an inlined function, the function that contains it. */
static uint32_t holder_of(const struct fg_profile_set *set, uint32_t node)
{
	while (node > 0 && set->functions[set->nodes[node].function].inlined)
		node = set->nodes[node].parent;
	return set->nodes[node].function;
}

static double *self_times(const struct fg_profile_set *set)
{
	const uint16_t time = fg_profile_set_time(set);
	double *self = fg_xcalloc(set->function_count + 1, sizeof(self[0]));

	for (size_t i = 0; i < set->row_count; i++) {
		const struct fg_profile_row *row = &set->rows[i];

		for (uint32_t k = 0; row->measure == time && k < row->count; k++)
			self[holder_of(set, row->nodes[k])] += row->values[k];
	}
	return self;
}

static void insert(struct fg_prove *prove, struct fg_prove_subject *subject,
		   const struct fg_profile_function *function, double self_ns)
{
	struct fg_prove_function *list = subject->functions;
	struct fg_arena *arena = &prove->plan->arena;
	size_t at = subject->function_count;

	while (at > 0 && list[at - 1].self_ns < self_ns)
		at--;
	if (at == FG_PROVE_FUNCTIONS)
		return;
	if (subject->function_count < FG_PROVE_FUNCTIONS)
		subject->function_count++;
	memmove(&list[at + 1], &list[at], (subject->function_count - 1 - at) * sizeof(list[0]));
	list[at] = (struct fg_prove_function){
		.name = fg_arena_strdup(arena, function->name),
		.symbol = fg_arena_strdup(arena,
					  function->linkage ? function->linkage : function->name),
		.library = fg_arena_strdup(arena, function->library),
		.self_ns = self_ns,
	};
}

/* Functions with a smaller share of the time are not chosen for a slowdown. */
static const double least_share = 0.01;

/* Finds the functions that take the most time in the run. */
static void find_functions(struct fg_prove *prove, struct fg_prove_subject *subject,
			   struct arm *arm)
{
	const struct fg_profile_set *set =
		arm->session.result.profile_count ? arm->session.result.profiles[0] : NULL;
	double *self = set ? self_times(set) : NULL;
	double total = 0;

	for (size_t i = 0; set && i < set->function_count; i++)
		total += self[i];
	for (size_t i = 1; set && i < set->function_count; i++) {
		const struct fg_profile_function *function = &set->functions[i];

		if (self[i] > least_share * total && function->library && *function->library)
			insert(prove, subject, function, self[i]);
	}
	if (subject->function_count == 0 && !subject->chosen)
		subject->not_planted = "no function was sampled";
	free(self);
}

static int run_arm(struct fg_prove *prove, struct fg_prove_subject *subject, struct arm *arm,
		   const struct fg_planted *planted, struct fg_error *err)
{
	FG_TRY(open_arm(prove, subject, arm, err));
	if (relink(prove, subject, arm, planted) != FG_OK)
		return fg_error_set(err, FG_EINTERRUPTED, "interrupted");
	return gate(arm, err);
}

int fg_prove_arm(struct fg_prove *prove, struct fg_prove_subject *subject, enum fg_proof_arm kind,
		 double size, struct fg_error *err)
{
	const struct fg_planted planted = {
		.function = kind == FG_PROOF_PLANTED ? subject->chosen->symbol : "",
		.iterations = kind == FG_PROOF_PLANTED
				      ? (uint32_t)fmax(1, size / subject->per_iteration)
				      : 0,
	};
	struct fg_proof proof = {.benchmark = subject->benchmark->name,
				 .arm = kind,
				 .size = size,
				 .at_ns = fg_clock_wall_ns()};
	struct arm *arm = fg_xcalloc(1, sizeof(*arm));
	int status = FG_OK;

	if (kind == FG_PROOF_PLANTED) {
		proof.function = subject->chosen->symbol ? subject->chosen->name : NULL;
		proof.symbol = subject->chosen->symbol;
		proof.library = subject->chosen->library;
		proof.per_iteration = subject->per_iteration;
	}
	arm->is_stored = kind == FG_PROOF_STORED;
	status = run_arm(prove, subject, arm,
			 kind == FG_PROOF_NEUTRAL || kind == FG_PROOF_PLANTED ? &planted : NULL,
			 err);
	if (status == FG_OK) {
		take(prove, arm, &proof);
		if (subject->function_count == 0)
			find_functions(prove, subject, arm);
	}
	status = close_arm(arm, status, err);
	free(arm);
	return status;
}

/* ---- pairs without a verdict ---- */

static void only_pairs(struct arm *arm, unsigned count)
{
	struct fg_measuring *measure = &arm->benchmark.measure;

	arm->session.request.fixed_pairs = count;
	measure->schedule = FG_SCHEDULE_ABBA;
	measure->min_pairs = 2;
	measure->max_pairs = FIXED_PAIRS_MAX; /* `count` ends the measurement */
	measure->layouts = FG_LAYOUTS_NEVER;
	measure->exact = FG_EXACT_OFF;
	measure->also_count = measure->call_count = measure->domain_count = 0;
	measure->sampler.enabled = measure->sampler.slowdown > 0;
}

static int read_pairs(const struct arm *arm, struct fg_prove_pairs *pairs, struct fg_error *err)
{
	const struct fg_run *run = &arm->session.result.run;
	struct fg_proof_noise noise;

	if (run->series_count == 0 || run->series[0].failure)
		return fg_error_set(err, FG_ECHILD, "benchmark '%s': %s", arm->benchmark.name,
				    run->series_count ? run->series[0].failure : "not measured");
	fg_proof_noise(&run->series[0], "cpu_time", &noise);
	pairs->slower = expm1(noise.middle);
	pairs->seconds = run->series[0].seconds / pairs->count;
	return FG_OK;
}

static int measure_pairs(struct fg_prove *prove, const struct fg_prove_subject *subject,
			 struct arm *arm, struct fg_prove_pairs *pairs, struct fg_error *err)
{
	const struct fg_prove_function *function = pairs->function;

	FG_TRY(open_arm(prove, subject, arm, err));
	if (function && !function->symbol)
		arm->benchmark.measure.sampler.slowdown = pairs->iterations;
	else if (function)
		FG_TRY(plant_in(arm, function->library,
				&(struct fg_planted){.function = function->symbol,
						     .iterations = pairs->iterations},
				err));
	only_pairs(arm, pairs->count);
	FG_TRY(fg_session_measure(&arm->session, err));
	return read_pairs(arm, pairs, err);
}

int fg_prove_measure(struct fg_prove *prove, const struct fg_prove_subject *subject,
		     struct fg_prove_pairs *pairs, struct fg_error *err)
{
	struct arm *arm = fg_xcalloc(1, sizeof(*arm));
	const int status = close_arm(arm, measure_pairs(prove, subject, arm, pairs, err), err);

	free(arm);
	return status;
}
