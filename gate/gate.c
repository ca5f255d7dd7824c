// SPDX-License-Identifier: Apache-2.0
#include "gate/gate.h"

#include "gate/accept.h"
#include "gate/benchmark.h"
#include "gate/metric_verdict.h"

#include <math.h>

/* Prefers an undecided metric to decided metrics, and among decided metrics the worst. */
static bool is_more_informative(const struct fg_metric_verdict *metric, bool open,
				const struct fg_gate_progress *progress, bool shown_open)
{
	if (!progress->metric || open != shown_open)
		return !progress->metric || open;
	return !open && metric->outcome > progress->outcome;
}

void fg_gate_look(const struct fg_series *series, const struct fg_policy *policy,
		  const struct fg_measuring *measure, struct fg_gate_progress *progress)
{
	struct fg_metric_context context = {.series = series, .policy = policy, .measure = measure};
	bool shown_open = false;

	*progress = (struct fg_gate_progress){.decided = true,
					      .outcome = FG_OUTCOME_PASS,
					      .ratio = (double)NAN,
					      .low = (double)NAN,
					      .high = (double)NAN};
	for (size_t i = 0; i < series->metric_count; i++) {
		struct fg_metric_verdict metric;
		struct fg_rule_finding finding;
		bool open;

		if (!fg_policy_metric(policy, series->metrics[i].name).gated ||
		    !fg_metric_is_judged(series, i))
			continue;
		fg_metric_decide(&context, i, &metric, &finding);
		open = !metric.decided;
		progress->decided = progress->decided && !open;
		if (open && finding.next_look > progress->next_look)
			progress->next_look = (unsigned)finding.next_look;
		if (is_more_informative(&metric, open, progress, shown_open)) {
			shown_open = open;
			progress->metric = series->metrics[i].name;
			progress->outcome = metric.outcome;
			progress->pairs = metric.pairs;
			progress->ratio = metric.ratio;
			progress->low = metric.low;
			progress->high = metric.high;
		}
	}
}

bool fg_gate_is_worse(const struct fg_series *series, const struct fg_policy *policy,
		      const struct fg_measuring *measure, const char *metric)
{
	struct fg_metric_context context = {.series = series, .policy = policy, .measure = measure};
	struct fg_metric_verdict verdict;
	const size_t index = fg_series_find_metric(series, metric);

	if (index >= series->metric_count || !fg_policy_metric(policy, metric).gated ||
	    !fg_metric_is_judged(series, index))
		return false;
	fg_metric_decide(&context, index, &verdict, NULL);
	return verdict.outcome == FG_OUTCOME_REGRESSION;
}

unsigned fg_gate_min_pairs(const struct fg_policy *policy)
{
	return (unsigned)fg_gate_min_pairs_only_look(policy->alpha);
}

static void add_missing(const struct fg_gate_input *input, struct fg_verdict *verdict)
{
	for (size_t i = 0; input->baseline && i < input->baseline->series_count; i++) {
		const struct fg_series *series = &input->baseline->series[i];

		if (!fg_run_find(input->run, series->name))
			fg_benchmark_missing(series, &verdict->arena,
					     &verdict->benchmarks[verdict->benchmark_count++]);
	}
	for (size_t i = 0; i < input->gone_count; i++)
		fg_benchmark_gone(input->gone[i], &verdict->arena,
				  &verdict->benchmarks[verdict->benchmark_count++]);
}

static void copy_differences(const struct fg_environment *baseline,
			     const struct fg_environment *candidate, struct fg_verdict *verdict)
{
	struct fg_fact_difference *found;
	size_t count = fg_environment_diff(baseline, candidate, &found);
	size_t before = verdict->environment_difference_count;
	struct fg_fact_difference *all =
		fg_arena_array(&verdict->arena, before + count + 1, sizeof(all[0]));

	if (before > 0)
		memcpy(all, verdict->environment_difference, before * sizeof(all[0]));
	for (size_t i = 0; i < count; i++) {
		if (fg_fact_is_label(found[i].key))
			continue;
		all[before++] = (struct fg_fact_difference){
			.key = fg_arena_strdup(&verdict->arena, found[i].key),
			.baseline = fg_arena_strdup(&verdict->arena, found[i].baseline),
			.candidate = fg_arena_strdup(&verdict->arena, found[i].candidate),
			.identity = found[i].identity,
		};
	}
	free(found);
	verdict->environment_difference = all;
	verdict->environment_difference_count = before;
}

static void note_environment(const struct fg_gate_input *input, struct fg_verdict *verdict)
{
	const struct fg_run *run = input->run;

	if (input->baseline) {
		copy_differences(&input->baseline->host, &run->host, verdict);
		copy_differences(&input->baseline->sides[FG_ARM_CANDIDATE].build,
				 &run->sides[FG_ARM_CANDIDATE].build, verdict);
	} else if (run->has_baseline) {
		copy_differences(&run->sides[FG_ARM_BASELINE].build,
				 &run->sides[FG_ARM_CANDIDATE].build, verdict);
		if (fg_environment_get(&run->sides[FG_ARM_CANDIDATE].build, "build.place"))
			fg_notes_add(&verdict->notes, &verdict->arena,
				     "the work tree was measured in place: the length of its path, "
				     "its age and leftovers of earlier builds are not ruled out as "
				     "causes of a difference");
	}
}

static void note_accepts(const struct fg_gate_input *input, struct fg_verdict *verdict)
{
	fg_accept_note_leftovers(input->policy, input->now_ns, verdict);
	/*
	 * A benchmark's policy shares the plan's accepted regressions unless the benchmark has its
	 * own list.
	 */
	for (size_t i = 0; i < verdict->benchmark_count; i++) {
		const struct fg_policy *policy =
			fg_benchmark_policy(input, verdict->benchmarks[i].name);

		if (policy->accepts != input->policy->accepts)
			fg_accept_note_leftovers(policy, input->now_ns, verdict);
	}
}

static enum fg_exit exit_code_of(const struct fg_policy *policy, enum fg_outcome outcome)
{
	switch (outcome) {
	case FG_OUTCOME_ERROR:
		return FG_EXIT_NOT_MEASURED;
	case FG_OUTCOME_REGRESSION:
		return FG_EXIT_REGRESSION;
	case FG_OUTCOME_CREEP:
		return policy->fail_on_creep ? FG_EXIT_REGRESSION : FG_EXIT_PASS;
	case FG_OUTCOME_PLACEMENT:
		return policy->fail_on_placement ? FG_EXIT_REGRESSION : FG_EXIT_PASS;
	case FG_OUTCOME_INCONCLUSIVE:
		return policy->fail_on_inconclusive ? FG_EXIT_INCONCLUSIVE : FG_EXIT_PASS;
	default:
		return FG_EXIT_PASS;
	}
}

static enum fg_exit worse_code(enum fg_exit a, enum fg_exit b)
{
	static const int severity[] = {[FG_EXIT_PASS] = 0,
				       [FG_EXIT_INCONCLUSIVE] = 1,
				       [FG_EXIT_REGRESSION] = 2,
				       [FG_EXIT_NOT_MEASURED] = 3};

	return severity[a] >= severity[b] ? a : b;
}

void fg_gate_set_exit_codes(const struct fg_gate_input *input, struct fg_verdict *verdict)
{
	/* an error without a benchmark: nothing was measured */
	verdict->exit_code =
		verdict->outcome == FG_OUTCOME_ERROR ? FG_EXIT_NOT_MEASURED : FG_EXIT_PASS;
	/*
	 * The worst outcome may pass while a milder outcome of another benchmark is configured to
	 * fail.
	 */
	for (size_t i = 0; i < verdict->benchmark_count; i++) {
		struct fg_benchmark_verdict *benchmark = &verdict->benchmarks[i];

		benchmark->exit_code = exit_code_of(fg_benchmark_policy(input, benchmark->name),
						    benchmark->outcome);
		if (benchmark->outcome == FG_OUTCOME_NEW && input->baseline_required)
			benchmark->exit_code = FG_EXIT_INCONCLUSIVE;
		verdict->exit_code = worse_code(verdict->exit_code, benchmark->exit_code);
	}
}

/* Returns the arguments of a benchmark in a run; NULL if none were recorded. */
static const struct fg_argument_sums *sums_of(const struct fg_run *run,
					      const struct fg_profile_set *const *profiles,
					      const char *benchmark)
{
	const struct fg_series *series = fg_run_find(run, benchmark);
	const struct fg_profile_set *set =
		series && profiles ? profiles[series - run->series] : NULL;

	return set && set->arguments.function_count > 0 ? &set->arguments : NULL;
}

/* Joins the arguments of two runs, each from its candidate, into the two sides of one table. */
static const struct fg_argument_table *join(const struct fg_argument_sums *before,
					    const struct fg_argument_sums *after,
					    struct fg_argument_room room, struct fg_arena *arena)
{
	const struct fg_argument_sums *const sides[] = {before, after};
	struct fg_argument_sums sums = {0};
	struct fg_arena scratch = {0};
	const struct fg_argument_table *table = NULL;

	for (unsigned side = 0; side < FG_ARM_COUNT; side++) {
		const struct fg_argument_table *one =
			fg_argument_table_make(sides[side], fg_argument_room_of_run, &scratch);

		if (one)
			fg_argument_sums_add_table(&sums, one, FG_ARM_CANDIDATE, side);
	}
	table = fg_argument_table_make(&sums, room, arena);
	fg_argument_sums_release(&sums);
	fg_arena_release(&scratch);
	return table;
}

static size_t count_tables(const struct fg_gate_input *input, const struct fg_verdict *verdict)
{
	size_t count = 0;

	for (size_t i = 0; i < verdict->benchmark_count; i++)
		count += sums_of(input->run, input->profiles, verdict->benchmarks[i].name) != NULL;
	return count;
}

/* The benchmarks of a run share its limits on arguments. */
static void add_arguments(const struct fg_gate_input *input, struct fg_verdict *verdict)
{
	const size_t count = count_tables(input, verdict);
	struct fg_argument_room room = fg_argument_room_of_run;

	if (count == 0)
		return;
	room.functions /= count;
	room.paths /= count;
	room.bytes /= count;
	for (size_t i = 0; i < verdict->benchmark_count; i++) {
		struct fg_benchmark_verdict *benchmark = &verdict->benchmarks[i];
		const struct fg_argument_sums *after =
			sums_of(input->run, input->profiles, benchmark->name);
		const struct fg_argument_sums *before =
			input->baseline ? sums_of(input->baseline, input->baseline_profiles,
						  benchmark->name)
					: NULL;

		if (after && before)
			benchmark->arguments = join(before, after, room, &verdict->arena);
		else if (after)
			benchmark->arguments = fg_argument_table_make(after, room, &verdict->arena);
	}
}

int fg_gate_decide(const struct fg_gate_input *input, struct fg_verdict *verdict,
		   struct fg_error *err)
{
	struct fg_verdict made = {.outcome = FG_OUTCOME_PASS};
	size_t most;

	if (!input->run || !input->policy || !input->measure)
		return fg_error_set(err, FG_EINVAL,
				    "a run, a policy and measurement keys are needed");
	most = input->run->series_count + (input->baseline ? input->baseline->series_count : 0) +
	       input->gone_count;
	made.benchmarks = fg_arena_array(&made.arena, most + 1, sizeof(made.benchmarks[0]));
	for (size_t i = 0; i < input->run->series_count; i++)
		fg_benchmark_decide(input, i, &made.arena,
				    &made.benchmarks[made.benchmark_count++]);
	add_missing(input, &made);
	add_arguments(input, &made);
	for (size_t i = 0; i < made.benchmark_count; i++)
		made.outcome = fg_outcome_worse(made.outcome, made.benchmarks[i].outcome);
	if (input->run->series_count == 0) {
		made.outcome = FG_OUTCOME_ERROR;
		fg_notes_add(&made.notes, &made.arena, "no benchmark was measured");
	}
	note_environment(input, &made);
	note_accepts(input, &made);
	fg_gate_set_exit_codes(input, &made);
	*verdict = made;
	return FG_OK;
}

void fg_gate_note_sessions(const struct fg_run *baseline, const struct fg_run *candidate,
			   struct fg_verdict *verdict)
{
	const char *before = baseline->sides[FG_ARM_CANDIDATE].commit;
	const char *after = candidate->sides[FG_ARM_CANDIDATE].commit;
	bool is_timed = false;

	for (size_t i = 0; i < candidate->series_count; i++)
		is_timed |= candidate->series[i].repetition_count > 0;
	if (!is_timed)
		return;
	if (before && after && strcmp(before, after) != 0)
		fg_notes_add(
			&verdict->notes, &verdict->arena,
			"measured in two sessions, between which the host may have drifted; to "
			"be sure: fastgate run --candidate %.12s --against %.12s",
			after, before);
	else
		fg_notes_add(
			&verdict->notes, &verdict->arena,
			"measured in two sessions, between which the host may have drifted; to "
			"be sure, measure both sides in one session: `fastgate run`");
}
