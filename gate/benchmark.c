// SPDX-License-Identifier: Apache-2.0
#include "gate/benchmark.h"

#include "gate/accept.h"
#include "gate/exact.h"
#include "gate/measures.h"
#include "gate/mechanism.h"
#include "gate/metric_verdict.h"
#include "gate/nodes.h"
#include "gate/placement.h"
#include "gate/same_code.h"
#include "gate/stored.h"
#include "model/build_difference.h"

#include <math.h>
#include <stdlib.h>

const struct fg_policy *fg_benchmark_policy(const struct fg_gate_input *input, const char *name)
{
	const struct fg_benchmark *benchmark = input->plan ? fg_plan_find(input->plan, name) : NULL;

	return benchmark ? &benchmark->policy : input->policy;
}

static const struct fg_measuring *measure_of(const struct fg_gate_input *input, const char *name)
{
	const struct fg_benchmark *benchmark = input->plan ? fg_plan_find(input->plan, name) : NULL;

	return benchmark ? &benchmark->measure : input->measure;
}

static void begin(const struct fg_series *series, struct fg_arena *arena,
		  struct fg_benchmark_verdict *verdict)
{
	*verdict = (struct fg_benchmark_verdict){
		.name = fg_arena_strdup(arena, series->name),
		.outcome = FG_OUTCOME_PASS,
		.schedule = series->schedule,
		.set_aside = fg_count_set_aside(series).all,
		.seconds = series->seconds,
		.identical = series->identical,
		.time = {.measure = "cpu_time",
			 .label = "CPU time",
			 .unit = "ms",
			 .total_delta = (double)NAN,
			 .unattributed = (double)NAN,
			 .everything_else = (double)NAN},
		.sampler_cost = series->sampler_cost,
		.sampling = series->sampling,
	};
	verdict->metrics =
		fg_arena_array(arena, series->metric_count + 3, sizeof(*verdict->metrics));
}

/*
 * Returns the candidate's relative worsening, whatever the metric's direction: 0.02 is 2 % worse.
 */
static double worse_by(const struct fg_metric_verdict *metric)
{
	return metric->better == FG_BETTER_LOWER ? metric->ratio - 1.0 : 1.0 / metric->ratio - 1.0;
}

static void find_accepted(const struct fg_gate_input *input, const struct fg_policy *policy,
			  struct fg_arena *arena, struct fg_benchmark_verdict *verdict)
{
	for (size_t i = 0; i < verdict->metric_count; i++) {
		struct fg_metric_verdict *metric = &verdict->metrics[i];
		const struct fg_accept *accept;

		if (metric->outcome != FG_OUTCOME_REGRESSION)
			continue;
		accept = fg_accept_find(policy, verdict->name, metric->name, worse_by(metric),
					input->now_ns);
		if (!accept)
			continue;
		struct fg_accept *kept = fg_arena_memdup(arena, accept, sizeof(*accept));

		kept->benchmark = fg_arena_strdup(arena, accept->benchmark);
		kept->metric = fg_arena_strdup(arena, accept->metric);
		kept->reason = fg_arena_strdup(arena, accept->reason);
		kept->source = fg_arena_strdup(arena, accept->source);
		metric->accepted = kept;
		fg_notes_add(&metric->notes, arena, "accepted (%s): %s", kept->source,
			     kept->reason ? kept->reason : "no reason given");
	}
}

/* Did a function get worse by more than is tolerated? */
static bool is_function_worse(const struct fg_blame *blame, double tolerated)
{
	for (size_t i = 0; i < blame->function_count; i++) {
		const struct fg_node_verdict *node = &blame->functions[i];

		if (node->outcome == FG_OUTCOME_REGRESSION &&
		    node->delta > tolerated * node->self[0])
			return true;
	}
	return false;
}

static bool is_any_function_worse(const struct fg_policy *policy,
				  const struct fg_benchmark_verdict *verdict)
{
	bool worse = is_function_worse(&verdict->time, 0.0);

	for (size_t i = 0; i < verdict->measure_count && !worse; i++) {
		const struct fg_blame *blame = &verdict->measures[i];
		const struct fg_metric_policy how = fg_policy_measure(policy, blame->measure);

		worse = how.gated && is_function_worse(blame, fg_metric_tolerance(&how));
	}
	return worse;
}

/* Folds the metrics (and functions, if they gate) into the benchmark's outcome. */
static void conclude(const struct fg_policy *policy, struct fg_benchmark_verdict *verdict)
{
	enum fg_outcome outcome = FG_OUTCOME_PASS;
	bool is_gated = false;
	bool is_judged = false;

	for (size_t i = 0; i < verdict->metric_count; i++) {
		const struct fg_metric_verdict *metric = &verdict->metrics[i];

		if (!metric->gated)
			continue;
		is_gated = true;
		is_judged |= metric->decided || metric->outcome != FG_OUTCOME_PASS;
		if (!metric->accepted)
			outcome = fg_outcome_worse(outcome, metric->outcome);
	}
	if (policy->functions == FG_FUNCTIONS_GATE && is_any_function_worse(policy, verdict))
		outcome = fg_outcome_worse(outcome, FG_OUTCOME_REGRESSION);
	verdict->outcome = outcome;
	if (is_gated && !is_judged) {
		verdict->outcome = FG_OUTCOME_ERROR;
		if (!verdict->error)
			verdict->error = "none of the gated metrics was measured";
	}
}

static void keep_moves(struct fg_blame *blame)
{
	size_t kept = 0;

	for (size_t i = 0; i < blame->function_count; i++) {
		if (blame->functions[i].standing == FG_STANDING_MOVED)
			blame->functions[kept++] = blame->functions[i];
	}
	blame->function_count = kept;
	blame->is_unexplained = false;
}

/* Keeps only functions whose cost moved: a benchmark that passed blames no function. */
static void drop_blame(struct fg_benchmark_verdict *verdict)
{
	keep_moves(&verdict->time);
	for (size_t i = 0; i < verdict->measure_count; i++)
		keep_moves(&verdict->measures[i]);
}

static struct fg_metric_context context_of(const struct fg_gate_input *input, size_t index,
					   struct fg_arena *arena)
{
	const struct fg_series *series = &input->run->series[index];

	return (struct fg_metric_context){
		.series = series,
		.policy = fg_benchmark_policy(input, series->name),
		.measure = measure_of(input, series->name),
		.arena = arena,
		.seed = input->run->seed,
		.final = true,
	};
}

/* Decides each metric from its pairs, in a run that measured both arms. */
static void decide_pairs(const struct fg_gate_input *input, size_t index, struct fg_arena *arena,
			 struct fg_benchmark_verdict *verdict)
{
	struct fg_metric_context context = context_of(input, index, arena);

	for (size_t i = 0; i < context.series->metric_count; i++) {
		struct fg_metric_verdict *metric = &verdict->metrics[verdict->metric_count++];

		fg_metric_decide(&context, i, metric, NULL);
		if (metric->pairs > verdict->pairs)
			verdict->pairs = metric->pairs;
	}
}

/* Passes a benchmark whose builds are identical: its pairs only measure the noise of the host. */
static void pass_identical(const struct fg_series *series, struct fg_arena *arena,
			   struct fg_benchmark_verdict *verdict)
{
	const char *baseline = series->build[FG_ARM_BASELINE].id;
	const char *candidate = series->build[FG_ARM_CANDIDATE].id;
	const bool same_id = !baseline || !candidate || strcmp(baseline, candidate) == 0;

	for (size_t i = 0; i < verdict->metric_count; i++) {
		struct fg_metric_verdict *metric = &verdict->metrics[i];

		metric->outcome = FG_OUTCOME_PASS;
		metric->decided = true;
		metric->step = metric->step_error = 0;
		metric->notes = (struct fg_notes){0};
	}
	fg_notes_add(
		&verdict->notes, arena,
		"%s, so the benchmark passes at once; the pairs only show how noisy this host is",
		same_id ? "both sides run the same binaries"
			: "both sides run the same code at the same addresses (only debug "
			  "information differs)");
}

/* Do the builds differ in bytes but have the same code? */
static bool is_same_code(const struct fg_gate_input *input, size_t index)
{
	const struct fg_series *series = &input->run->series[index];
	const struct fg_series *baseline =
		input->baseline ? fg_run_find(input->baseline, series->name) : NULL;

	if (input->baseline)
		return baseline && fg_placement_is_same_code(&baseline->build[FG_ARM_CANDIDATE],
							     &series->build[FG_ARM_CANDIDATE]);
	return input->run->has_baseline &&
	       fg_placement_is_same_code(&series->build[FG_ARM_BASELINE],
					 &series->build[FG_ARM_CANDIDATE]);
}

/*
 * Did only cold code change? False if the program does more work, which explains a slowdown even if
 * hot code is unchanged.
 */
static bool only_cheap_code_changed(const struct fg_gate_input *input, size_t index,
				    const struct fg_benchmark_verdict *verdict)
{
	const struct fg_series *series = &input->run->series[index];
	const struct fg_profile_set *set = input->profiles ? input->profiles[index] : NULL;

	return !input->baseline && set && !(verdict->work && verdict->work->kind == FG_WORK_MORE) &&
	       fg_placement_is_comparable(&series->build[FG_ARM_BASELINE],
					  &series->build[FG_ARM_CANDIDATE]) &&
	       fg_same_code_takes_all_time(set, series);
}

static void decide_stored(const struct fg_gate_input *input, size_t index, struct fg_arena *arena,
			  struct fg_benchmark_verdict *verdict)
{
	const struct fg_series *series = &input->run->series[index];
	const struct fg_series *baseline = fg_run_find(input->baseline, series->name);
	struct fg_metric_context context = context_of(input, index, arena);
	char fingerprints[2][17];

	if (series->unaffected || (baseline && baseline->unaffected)) {
		verdict->outcome = FG_OUTCOME_NEW;
		fg_notes_add(
			&verdict->notes, arena,
			"%s run left this benchmark out, because the change did not affect the "
			"benchmark",
			series->unaffected ? "this" : "the baseline");
		return;
	}
	if (!baseline || baseline->state == FG_NOT_MEASURED) {
		verdict->outcome = FG_OUTCOME_NEW;
		fg_notes_add(&verdict->notes, arena,
			     "the baseline run has no result for this benchmark");
		return;
	}
	fg_environment_fingerprint(&input->run->host, fingerprints[0]);
	fg_environment_fingerprint(&input->baseline->host, fingerprints[1]);
	for (size_t i = 0; i < series->metric_count; i++) {
		struct fg_metric_verdict *metric = &verdict->metrics[verdict->metric_count++];
		struct fg_session_spread sessions =
			fg_session_spread_of(input->history, input->history_count, input->baseline,
					     series->name, series->metrics[i].name);

		fg_stored_decide(&context, i, baseline, &sessions,
				 strcmp(fingerprints[0], fingerprints[1]) == 0, metric);
	}
	if (strcmp(fingerprints[0], fingerprints[1]) == 0)
		fg_stored_functions_decide(input, index, baseline, arena, verdict);
	verdict->schedule = FG_SCHEDULE_STORED;
	verdict->identical = fg_placement_is_same_files(&series->build[FG_ARM_CANDIDATE],
							&baseline->build[FG_ARM_CANDIDATE]);
}

static void note_state(const struct fg_series *series, struct fg_arena *arena,
		       struct fg_benchmark_verdict *verdict)
{
	if (series->state == FG_INTERRUPTED)
		fg_notes_add(&verdict->notes, arena,
			     "interrupted: judged by the pairs measured so far");
}

/*
 * Notes that the builds differ in how they were made, that both sides share files, or that samples
 * are missing.
 */
static void note_builds(const struct fg_gate_input *input, const struct fg_series *series,
			struct fg_arena *arena, struct fg_benchmark_verdict *verdict)
{
	const struct fg_series *stored =
		input->baseline ? fg_run_find(input->baseline, series->name) : NULL;
	const struct fg_build_facts *candidate = &series->build[FG_ARM_CANDIDATE];
	const struct fg_build_facts *baseline =
		stored ? &stored->build[FG_ARM_CANDIDATE] : &series->build[FG_ARM_BASELINE];
	const char *shared = candidate->shared_libraries;
	const char *unsampled = series->remarks[FG_REMARK_UNSAMPLED];
	struct fg_build_difference difference = fg_build_difference_of(baseline, candidate);

	if (difference.text)
		fg_notes_add(&verdict->notes, arena,
			     "the two sides are built differently, which may explain a difference: "
			     "%s",
			     difference.text);
	if (shared)
		fg_notes_add(&verdict->notes, arena,
			     "both sides load the same files from the work tree, so changes to "
			     "them are not measured: %s",
			     shared);
	if (unsampled)
		fg_notes_add(&verdict->notes, arena, "%s", unsampled);
	free(difference.text);
}

/* Notes each reason for which more than half of the pairs were set aside. */
static void note_set_aside(const struct fg_series *series, struct fg_arena *arena,
			   struct fg_benchmark_verdict *verdict)
{
	const struct fg_set_aside aside = fg_count_set_aside(series);

	if (2 * aside.apart > aside.meant && series->schedule == FG_SCHEDULE_DUET)
		fg_notes_add(
			&verdict->notes, arena,
			"%u of %u pairs were set aside: the two programs ran together for less "
			"than 80 %% of their time; `schedule: abba` runs them one after the other",
			aside.apart, aside.meant);
	if (2 * aside.disturbed > aside.meant && series->schedule == FG_SCHEDULE_DUET)
		fg_notes_add(
			&verdict->notes, arena,
			"%u of %u pairs were set aside: one program left processes running while "
			"the other ran; make the program wait for them, or use `schedule: abba`, "
			"which ends them before the next program starts",
			aside.disturbed, aside.meant);
	if (2 * aside.stolen > aside.meant)
		fg_notes_add(&verdict->notes, arena,
			     "%u of %u pairs were set aside: more than half of the CPU's time was "
			     "stolen by other virtual machines",
			     aside.stolen, aside.meant);
}

static bool is_one_sided(const struct fg_series *series, struct fg_arena *arena,
			 struct fg_benchmark_verdict *verdict)
{
	const char *command = series->command ? series->command : "";
	const int length = (int)strcspn(command, " ");

	if (series->only_in[FG_ARM_CANDIDATE]) {
		verdict->outcome = FG_OUTCOME_NEW;
		fg_notes_add(
			&verdict->notes, arena,
			"new: the baseline does not have this benchmark, because '%.*s' does not "
			"exist",
			length, command);
	} else if (series->only_in[FG_ARM_BASELINE]) {
		verdict->outcome = FG_OUTCOME_MISSING;
		fg_notes_add(&verdict->notes, arena,
			     "missing: the candidate no longer has this benchmark, because '%.*s' "
			     "does not exist",
			     length, command);
	}
	return series->only_in[FG_ARM_CANDIDATE] || series->only_in[FG_ARM_BASELINE];
}

void fg_benchmark_missing(const struct fg_series *series, struct fg_arena *arena,
			  struct fg_benchmark_verdict *verdict)
{
	begin(series, arena, verdict);
	verdict->outcome = FG_OUTCOME_MISSING;
	fg_notes_add(&verdict->notes, arena,
		     "missing: the baseline run has this benchmark, but this run does not");
}

void fg_benchmark_gone(const char *name, struct fg_arena *arena,
		       struct fg_benchmark_verdict *verdict)
{
	struct fg_series nothing;

	fg_series_init(&nothing, name);
	begin(&nothing, arena, verdict);
	fg_series_release(&nothing);
	verdict->outcome = FG_OUTCOME_MISSING;
	fg_notes_add(&verdict->notes, arena,
		     "missing: only the baseline's fastgate.yml names this benchmark; if it was "
		     "renamed, set \"was: %s\"",
		     name);
}

/*
 * Reports the exact meter's remark: as the error if neither times nor counts were measured,
 * otherwise as a note.
 */
static void note_meter(const struct fg_series *series, bool is_alone, struct fg_arena *arena,
		       struct fg_benchmark_verdict *verdict)
{
	const char *meter = series->remarks[FG_REMARK_EXACT];

	if (meter && is_alone && !verdict->work)
		verdict->error = fg_arena_strdup(arena, meter);
	else if (meter)
		fg_notes_add(&verdict->notes, arena, "%s", meter);
}

/*
 * Adds the remarks and judges the exact counts; if no repetition was timed, the counts alone
 * decide.
 */
static void decide_exactly(const struct fg_gate_input *input, const struct fg_sides *sides,
			   struct fg_arena *arena, struct fg_benchmark_verdict *verdict)
{
	const struct fg_series *series = &sides->series;

	for (size_t i = FG_REMARK_OUTSIDE; i <= FG_REMARK_HINTS && !input->baseline; i++) {
		if (series->remarks[i])
			fg_notes_add(&verdict->notes, arena, "%s", series->remarks[i]);
	}
	if (sides->set && !sides->is_timed && fg_exact_has(sides->set, FG_ARM_CANDIDATE))
		verdict->metric_count = 0;
	if (sides->set)
		fg_exact_decide(sides->set, series, fg_benchmark_policy(input, series->name),
				!sides->is_timed, arena, verdict);
	if (!input->baseline)
		note_meter(series, !sides->is_timed, arena, verdict);
}

static void report_failure(const struct fg_series *series, struct fg_arena *arena,
			   struct fg_benchmark_verdict *verdict)
{
	verdict->outcome = FG_OUTCOME_ERROR;
	verdict->error = fg_arena_strdup(arena, series->failure ? series->failure
								: "the benchmark was not measured");
	verdict->error_tail = fg_arena_strdup(arena, series->failure_tail);
}

void fg_benchmark_decide(const struct fg_gate_input *input, size_t index, struct fg_arena *arena,
			 struct fg_benchmark_verdict *verdict)
{
	const struct fg_series *series = &input->run->series[index];
	const struct fg_policy *policy = fg_benchmark_policy(input, series->name);
	struct fg_metric_context context;
	struct fg_sides sides;

	begin(series, arena, verdict);
	if (series->state == FG_NOT_MEASURED) {
		report_failure(series, arena, verdict);
		return;
	}
	if (series->remarks[FG_REMARK_INPUTS] && !input->baseline)
		fg_notes_add(&verdict->notes, arena, "%s", series->remarks[FG_REMARK_INPUTS]);
	/*
	 * An unaffected benchmark was not measured: everything that it executes and reads is
	 * unchanged.
	 */
	verdict->unaffected = series->unaffected && !input->baseline;
	if (verdict->unaffected)
		return;
	note_builds(input, series, arena, verdict);
	if (series->affected && !input->baseline)
		fg_notes_add(&verdict->notes, arena, "measured: %s", series->affected);
	note_state(series, arena, verdict);
	note_set_aside(series, arena, verdict);
	if (is_one_sided(series, arena, verdict))
		return;
	if (input->baseline) {
		decide_stored(input, index, arena, verdict);
	} else if (input->run->has_baseline) {
		decide_pairs(input, index, arena, verdict);
	} else {
		verdict->outcome = FG_OUTCOME_NEW;
		fg_notes_add(&verdict->notes, arena, "there is no baseline to compare with");
	}
	if (verdict->metric_count == 0)
		return;
	context = context_of(input, index, arena);
	fg_sides_init(input, index, &sides);
	decide_exactly(input, &sides, arena, verdict);
	fg_measures_decide(&sides, &context, verdict);
	fg_sides_release(&sides);
	if (verdict->identical) {
		pass_identical(series, arena, verdict);
		return;
	}
	fg_nodes_decide(input, index, policy, arena, verdict);
	if (is_same_code(input, index))
		fg_placement_settle(arena, verdict);
	else if (only_cheap_code_changed(input, index, verdict))
		fg_placement_settle_layouts(
			arena,
			fg_same_code_has_changed_caller(input->profiles[index],
							&input->run->series[index]),
			verdict);
	find_accepted(input, policy, arena, verdict);
	conclude(policy, verdict);
	if (verdict->outcome == FG_OUTCOME_PASS)
		drop_blame(verdict);
	fg_mechanisms_settle(input->profiles ? input->profiles[index] : NULL, arena, verdict);
	fg_nodes_note_unexplained(arena, verdict);
}
