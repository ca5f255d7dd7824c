// SPDX-License-Identifier: Apache-2.0
#include "cli/prove/prove.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/number.h"
#include "base/random.h"
#include "cli/session/plan.h"
#include "gate/gate.h"

#include <math.h>

enum {
	PROBE_PAIRS = 2,
	SEARCH_PAIRS = 4,
	FIRST_ITERATIONS = 16,
	FIRST_MILLIONTHS = 300000,
	STEP = 16,
	SEARCHES_MAX = 16,
	ITERATIONS_MAX = 1 << 28,
	MILLIONTHS_MAX = 1000000, /* maximum delay: with a longer delay a program might not end */
	/* minimum number of iterations for the smallest plant: fewer would round it coarsely */
	MIN_ITERATIONS = 4,
	ENOUGH_ITERATIONS = 20, /* iterations that make the jumps to the loop negligible */
	CALIBRATION_S = 10,     /* time for the last pairs of a calibration */
	CALIBRATION_PAIRS_MAX = 40,
	SIZES = 4,
	ARMS_A_ROUND = SIZES + 3,
};

/* Relative slowdowns to plant. */
static const double sizes[SIZES] = {0.01, 0.02, 0.05, 0.10};

/*
 * Chosen if no single function can be slowed down. All functions then slow down alike, so the run
 * does not prove that the gate names the right function.
 */
static const struct fg_prove_function whole_program = {.name = "the whole program"};

/*
 * A calibration aims at a slowdown of `calibrated_at` and accepts `calibrated_from` to
 * `calibrated_to`, a range well above the noise and still proportional to the iterations.
 */
static const double calibrated_from = 0.15;
static const double calibrated_at = 0.3;
static const double calibrated_to = 0.8;

static double seconds_of(const struct fg_prove *prove)
{
	return (double)(fg_clock_monotonic_ns() - prove->started_ns) / FG_NS_PER_S;
}

/* ---- size of the plant ---- */

static bool can_be_measured(const struct fg_prove_pairs *pairs)
{
	return pairs->slower >= calibrated_from && pairs->slower <= calibrated_to;
}

/*
 * Sets pairs->iterations so that the slowdown can be measured, and measures it: first with few
 * pairs and then, since noise can pass for a slowdown, with many. FG_EUNSUPPORTED: the function is
 * called too often or too rarely, or every search was misled by noise.
 */
static int find_iterations(struct fg_prove *prove, const struct fg_prove_subject *subject,
			   struct fg_prove_pairs *pairs, struct fg_error *err)
{
	const bool is_function = pairs->function->symbol;
	const uint32_t max = is_function ? ITERATIONS_MAX : MILLIONTHS_MAX;
	uint32_t iterations = is_function ? FIRST_ITERATIONS : FIRST_MILLIONTHS;

	for (unsigned i = 0; i < SEARCHES_MAX && iterations > 0 && iterations <= max; i++) {
		double wanted = STEP;

		pairs->iterations = iterations;
		pairs->count = SEARCH_PAIRS;
		FG_TRY(fg_prove_measure(prove, subject, pairs, err));
		if (can_be_measured(pairs)) {
			pairs->count =
				(unsigned)fmin(CALIBRATION_PAIRS_MAX,
					       fmax(SEARCH_PAIRS, CALIBRATION_S / pairs->seconds));
			FG_TRY(fg_prove_measure(prove, subject, pairs, err));
			if (can_be_measured(pairs))
				return FG_OK;
		}
		if (pairs->slower > calibrated_from / STEP)
			wanted = calibrated_at / pairs->slower;
		/* The largest delay has an effect, which noise must have hidden: search again. */
		iterations = (uint32_t)fmin((double)iterations * wanted,
					    is_function ? 2.0 * ITERATIONS_MAX : max);
	}
	if (iterations > 0 && iterations <= max)
		return fg_error_set(err, FG_EUNSUPPORTED, "slowing down '%s' had no stable effect",
				    pairs->function->name);
	return fg_error_set(err, FG_EUNSUPPORTED, "'%s' is called %s", pairs->function->name,
			    iterations == 0 ? "too often" : "too rarely");
}

/* Measures the relative slowdown per iteration. */
static int calibrate(struct fg_prove *prove, const struct fg_prove_subject *subject,
		     const struct fg_prove_function *function, double *per_iteration,
		     struct fg_error *err)
{
	struct fg_prove_pairs pairs = {.function = function};

	FG_TRY(find_iterations(prove, subject, &pairs, err));
	*per_iteration = pairs.slower / pairs.iterations;
	if (sizes[0] / *per_iteration < MIN_ITERATIONS)
		return fg_error_set(err, FG_EUNSUPPORTED, "'%s' is called too often",
				    function->name);
	return FG_OK;
}

static void take_function(struct fg_prove_subject *subject,
			  const struct fg_prove_function *function, double per_iteration)
{
	if (subject->chosen && per_iteration >= subject->per_iteration)
		return;
	subject->chosen = function;
	subject->per_iteration = per_iteration;
}

static bool is_enough(const struct fg_prove_subject *subject)
{
	return subject->chosen && sizes[0] / subject->per_iteration >= ENOUGH_ITERATIONS;
}

/*
 * Chooses the first function, by time, whose slowdown can be set in fine steps, or else the
 * function with the finest steps.
 */
static int choose(struct fg_prove *prove, struct fg_prove_subject *subject, struct fg_error *err)
{
	struct fg_error why = {0};
	int status = FG_OK;

	for (size_t i = 0; i <= subject->function_count && !is_enough(subject); i++) {
		const bool is_last = i == subject->function_count;
		const struct fg_prove_function *function =
			is_last ? &whole_program : &subject->functions[i];
		double per_iteration = 0;

		if (is_last && (subject->chosen || !subject->benchmark->measure.sampler.enabled))
			break;
		status = calibrate(prove, subject, function, &per_iteration, &why);
		if (status == FG_EINTERRUPTED)
			return fg_error_set(err, status, "%s", why.message);
		if (status == FG_OK)
			take_function(subject, function, per_iteration);
		else
			fg_cli_detail(prove->cli, "%s: %s", subject->benchmark->name, why.message);
	}
	if (subject->chosen)
		fg_cli_say(prove->cli, "%s: slowdowns are planted in %s", subject->benchmark->name,
			   subject->chosen->name);
	else if (!subject->not_planted)
		subject->not_planted = fg_arena_strdup(&prove->plan->arena, why.message);
	return FG_OK;
}

/* ---- the runs ---- */

struct requested_arm {
	enum fg_proof_arm kind;
	double size;
};

/* Puts the arms in random order. */
static void shuffle(struct fg_random *random, struct requested_arm arms[ARMS_A_ROUND])
{
	arms[0] = (struct requested_arm){FG_PROOF_SAME, 0};
	arms[1] = (struct requested_arm){FG_PROOF_NEUTRAL, 0};
	arms[2] = (struct requested_arm){FG_PROOF_STORED, 0};
	for (size_t i = 0; i < SIZES; i++)
		arms[3 + i] = (struct requested_arm){FG_PROOF_PLANTED, sizes[i]};
	for (size_t i = ARMS_A_ROUND - 1; i > 0; i--) {
		const size_t other = (size_t)fg_random_below(random, i + 1);
		const struct requested_arm kept = arms[i];

		arms[i] = arms[other];
		arms[other] = kept;
	}
}

static bool has_room(const struct fg_prove *prove)
{
	const double spent = seconds_of(prove);
	const double budget = (double)prove->request.budget_ns / FG_NS_PER_S;
	double each = 0;

	for (size_t i = 0; i < prove->proof_count; i++)
		each += prove->proofs[i].seconds;
	if (prove->proof_count > 0)
		each /= (double)prove->proof_count;
	return spent + each <= budget;
}

static bool can_run(const struct fg_prove *prove, const struct fg_prove_subject *subject,
		    enum fg_proof_arm kind)
{
	if (kind == FG_PROOF_STORED)
		return prove->uses_stored;
	if (kind == FG_PROOF_PLANTED)
		return subject->chosen != NULL;
	return kind == FG_PROOF_SAME || !subject->not_relinked;
}

static const char *answer_of(const struct fg_proof *proof)
{
	if (fg_proof_counts(proof))
		return fg_outcome_name(proof->outcome);
	return proof->arm == FG_PROOF_STORED ? "not enough earlier runs yet"
					     : "identical, not measured";
}

static int run_arm(struct fg_prove *prove, struct fg_prove_subject *subject,
		   const struct requested_arm *request, struct fg_error *err)
{
	char size[FG_NUMBER_TEXT_SIZE];
	const struct fg_proof *done = NULL;

	FG_TRY(fg_prove_arm(prove, subject, request->kind, request->size, err));
	done = &prove->proofs[prove->proof_count - 1];
	fg_cli_say(prove->cli, "%s, %s%s%s: %s%s", done->benchmark, fg_proof_arm_name(done->arm),
		   done->size > 0 ? " " : "",
		   done->size > 0 ? fg_format_change(done->size, size) : "", answer_of(done),
		   fg_proof_counts(done) && !fg_proof_is_right(done)
			   ? done->arm == FG_PROOF_PLANTED ? ", not found" : ", a false alarm"
			   : "");
	return fg_prove_keep(prove, err);
}

/* Runs each possible arm of every benchmark once, as far as the budget allows. */
static int run_round(struct fg_prove *prove, struct fg_random *random, struct fg_error *err)
{
	int status = FG_OK;

	for (size_t i = 0; i < prove->subject_count && status == FG_OK; i++) {
		struct fg_prove_subject *subject = &prove->subjects[i];
		struct requested_arm arms[ARMS_A_ROUND];

		shuffle(random, arms);
		for (size_t k = 0; k < ARMS_A_ROUND && status == FG_OK && has_room(prove); k++) {
			if (can_run(prove, subject, arms[k].kind))
				status = run_arm(prove, subject, &arms[k], err);
		}
	}
	return status;
}

/* Makes a run with a profile, and chooses the function to slow down. */
static int begin_subject(struct fg_prove *prove, struct fg_prove_subject *subject,
			 struct fg_error *err)
{
	const struct requested_arm same = {FG_PROOF_SAME, 0};
	const struct requested_arm stored = {FG_PROOF_STORED, 0};
	int status = FG_OK;

	FG_TRY(run_arm(prove, subject, &same, err));
	if (prove->uses_stored)
		FG_TRY(run_arm(prove, subject, &stored, err));
	/* A wrapper script cannot be relinked, but the program that the script starts may be. */
	status = choose(prove, subject, err);
	if (subject->chosen && subject->chosen->symbol)
		subject->not_relinked = NULL;
	if (subject->chosen)
		subject->not_planted = NULL;
	else if (subject->not_relinked && subject->not_planted)
		subject->not_planted =
			fg_arena_printf(&prove->plan->arena, "%s; instead of a function: %s",
					subject->not_relinked, subject->not_planted);
	if (subject->not_planted)
		fg_cli_warn(prove->cli, "%s: no slowdown can be planted: %s",
			    subject->benchmark->name, subject->not_planted);
	return status;
}

/* Fails if the budget is too small for the fewest pairs that can decide. */
static int check_budget(struct fg_prove *prove, const struct fg_prove_subject *subject,
			struct fg_error *err)
{
	struct fg_prove_pairs pairs = {.count = PROBE_PAIRS};
	char least[FG_NUMBER_TEXT_SIZE];
	char budget[FG_NUMBER_TEXT_SIZE];
	int status = fg_prove_measure(prove, subject, &pairs, err);
	double seconds = 0;

	if (status != FG_OK)
		return status;
	seconds = pairs.seconds * fg_gate_min_pairs(&subject->benchmark->policy);
	if (seconds * FG_NS_PER_S <= (double)prove->request.budget_ns)
		return FG_OK;
	return fg_error_set(err, FG_EINVAL,
			    "a run of benchmark '%s' takes at least %s: --budget %s is too small",
			    subject->benchmark->name,
			    fg_format_duration(seconds * FG_NS_PER_S, least),
			    fg_format_duration((double)prove->request.budget_ns, budget));
}

static int begin_subjects(struct fg_prove *prove, struct fg_error *err)
{
	int status = check_budget(prove, &prove->subjects[0], err);

	for (size_t i = 0; i < prove->subject_count && status == FG_OK; i++) {
		if (i == 0 || has_room(prove))
			status = begin_subject(prove, &prove->subjects[i], err);
	}
	return status;
}

static size_t count_measured(const struct fg_prove *prove)
{
	size_t count = 0;

	for (size_t i = 0; i < prove->proof_count; i++)
		count += fg_proof_counts(&prove->proofs[i]) ||
			 prove->proofs[i].arm == FG_PROOF_STORED;
	return count;
}

/* Runs rounds until the budget ends or a round measures nothing. */
static int prove_all(struct fg_prove *prove, struct fg_error *err)
{
	struct fg_random random;
	size_t before = 0;
	int status = FG_OK;

	FG_TRY(begin_subjects(prove, err));
	fg_random_seed(&random, prove->seed);
	do {
		before = count_measured(prove);
		status = run_round(prove, &random, err);
	} while (status == FG_OK && count_measured(prove) > before);
	return status;
}

/* ---- the command ---- */

static int select_subjects(struct fg_prove *prove, struct fg_error *err)
{
	const struct fg_plan *plan = prove->plan;
	const struct fg_benchmark *wanted = NULL;

	if (plan->benchmark_count == 0)
		return fg_error_set(err, FG_EINVAL,
				    "%s has no benchmarks: there is nothing to measure",
				    plan->config_path);
	if (prove->request.benchmark) {
		wanted = fg_plan_find(plan, prove->request.benchmark);
		if (!wanted)
			return fg_error_set(err, FG_EINVAL, "no benchmark '%s' in %s",
					    prove->request.benchmark, plan->config_path);
	}
	prove->subjects = fg_xcalloc(plan->benchmark_count, sizeof(prove->subjects[0]));
	for (size_t i = 0; i < plan->benchmark_count; i++) {
		if (!wanted || wanted == &plan->benchmarks[i])
			prove->subjects[prove->subject_count++].benchmark = &plan->benchmarks[i];
	}
	return FG_OK;
}

int fg_prove_run(struct fg_prove *prove, struct fg_cli *cli, struct fg_plan *plan,
		 const struct fg_prove_request *request, struct fg_error *err)
{
	int status = FG_OK;

	*prove = (struct fg_prove){.cli = cli, .plan = plan, .request = *request};
	prove->started_ns = fg_clock_monotonic_ns();
	prove->uses_stored = plan->baseline.kind > FG_BASELINE_GIT;
	prove->state_folder = fg_fs_join(plan->root, FG_STATE_FOLDER);
	FG_TRY(fg_random_bytes(&prove->seed, sizeof(prove->seed), err));
	FG_TRY(select_subjects(prove, err));
	prove->seed &= (UINT64_C(1) << 53) - 1;
	fg_state_folder_make(prove->state_folder);
	FG_TRY(fg_prove_open(prove, err));
	status = prove_all(prove, err);
	fg_prove_card(plan, prove->proofs, prove->proof_count, &prove->card);
	return status;
}

void fg_prove_release(struct fg_prove *prove)
{
	free(prove->state_folder);
	free(prove->subjects);
	free(prove->proofs);
	fg_store_close(prove->store);
	*prove = (struct fg_prove){0};
}
