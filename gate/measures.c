// SPDX-License-Identifier: Apache-2.0
/*
 * Counts of events (allocations, calls, instructions) are complete, so the counts of two
 * repetitions of one build are usually identical. If the repetitions of each side agree, the exact
 * rule decides: any difference beyond the tolerance counts. If the repetitions differ, pairs are
 * judged by the rule for times.
 */
#include "gate/measures.h"

#include "base/number.h"
#include "base/text.h"
#include "gate/gate.h"
#include "gate/nodes.h"
#include "model/profile_set.h"

#include <math.h>

#define ROUNDING  1e-12 /* relative error of a sum whose terms were added in another order */
#define EXPLAINED 0.5   /* minimum share of a program's growth that the heap must explain */

/* Joins the profiles of two runs, each of which measured one side. */
static void join_stored(const struct fg_gate_input *input, size_t index, struct fg_sides *sides)
{
	const struct fg_series *baseline = fg_run_find(input->baseline, sides->series.name);
	const struct fg_profile_set *sets[2] = {NULL, input->profiles[index]};

	if (!baseline)
		return;
	sets[0] = input->baseline_profiles
			  ? input->baseline_profiles[baseline - input->baseline->series]
			  : NULL;
	if (!sets[0] || !sets[1])
		return;
	fg_profile_join(&sides->joined, sets, FG_ARM_CANDIDATE);
	sides->series.build[FG_ARM_BASELINE] = baseline->build[FG_ARM_CANDIDATE];
	sides->is_timed |= baseline->repetition_count > 0;
	sides->set = &sides->joined;
}

void fg_sides_init(const struct fg_gate_input *input, size_t index, struct fg_sides *sides)
{
	*sides = (struct fg_sides){.series = input->run->series[index]};
	sides->is_timed = sides->series.repetition_count > 0;
	if (input->profiles && input->baseline)
		join_stored(input, index, sides);
	else if (input->profiles && input->run->has_baseline)
		sides->set = input->profiles[index];
}

void fg_sides_release(struct fg_sides *sides)
{
	if (sides->set == &sides->joined)
		fg_profile_set_release(&sides->joined);
}

static bool counts(const struct fg_profile_row *row, uint16_t id)
{
	return row->measure == id && row->aside == 0 && row->arm < FG_ARM_COUNT;
}

static bool is_measured(const struct fg_profile_set *set, uint16_t id)
{
	for (size_t i = 0; i < set->row_count; i++) {
		if (counts(&set->rows[i], id))
			return true;
	}
	return false;
}

/* Do the repetitions of each side agree? */
static bool is_steady(const struct fg_profile_set *set, uint16_t id)
{
	const struct fg_profile_row *first[FG_ARM_COUNT] = {NULL, NULL};

	for (size_t i = 0; i < set->row_count; i++) {
		const struct fg_profile_row *row = &set->rows[i];

		if (!counts(row, id))
			continue;
		if (!first[row->arm])
			first[row->arm] = row;
		if (fabs(row->total - first[row->arm]->total) > ROUNDING * fabs(row->total))
			return false;
	}
	return true;
}

/* Makes a series whose only metric is the measure; returns the metric's index. */
static size_t make_series(const struct fg_profile_set *set, uint16_t id, bool exact,
			  struct fg_series *series)
{
	const struct fg_measure *measure = fg_measure_at(&set->measures, id);
	const struct fg_metric metric = {
		.name = measure->name,
		.label = measure->label,
		.unit = measure->unit,
		.better = measure->better,
		.exact = exact,
	};
	uint32_t next[FG_ARM_COUNT] = {0, 0};
	size_t index;

	fg_series_init(series, measure->name);
	series->schedule = FG_SCHEDULE_ABBA;
	series->state = FG_MEASURED;
	index = fg_series_add_metric(series, &metric);
	for (size_t i = 0; i < set->row_count; i++) {
		const struct fg_profile_row *row = &set->rows[i];
		struct fg_repetition *repetition = NULL;

		if (!counts(row, id))
			continue;
		repetition = fg_series_add_repetition(series);
		repetition->arm = row->arm;
		repetition->pair = next[row->arm]++;
		repetition->values[index] = row->total;
	}
	return index;
}

static void judge(const struct fg_metric_context *context, const struct fg_profile_set *set,
		  uint16_t id, struct fg_metric_verdict *metric)
{
	const char *name = fg_measure_at(&set->measures, id)->name;
	struct fg_metric_policy how = fg_policy_measure(context->policy, name);
	struct fg_policy policy = *context->policy;
	struct fg_metric_context own = *context;
	struct fg_series series;
	const bool exact = is_steady(set, id);
	const size_t index = make_series(set, id, exact, &series);

	policy.metrics = &how;
	policy.metric_count = 1;
	own.series = &series;
	own.policy = &policy;
	fg_metric_decide(&own, index, metric, NULL);
	if (!exact)
		fg_notes_add(&metric->notes, context->arena,
			     "%s differs between repetitions of one side, so it is judged by pairs",
			     metric->label);
	fg_series_release(&series);
}

/* Adds a gated measure that was not recorded: it must never pass silently. */
static void add_unmeasured(const struct fg_metric_policy *how, struct fg_arena *arena,
			   struct fg_metric_verdict *metric)
{
	const struct fg_measure measure = fg_measure_describe(how->name, NULL);
	const struct fg_metric what = {.name = measure.name,
				       .label = measure.label,
				       .unit = measure.unit,
				       .better = measure.better};

	*metric = fg_metric_begin(&what, how, (double)NAN, arena);
	metric->outcome = FG_OUTCOME_INCONCLUSIVE;
	metric->decided = true;
	fg_notes_add(&metric->notes, arena, "%s was not measured: no repetition reports it",
		     metric->label);
}

static void judge_all(const struct fg_metric_context *context, const struct fg_profile_set *set,
		      struct fg_benchmark_verdict *verdict)
{
	const struct fg_policy *policy = context->policy;
	const size_t measures = set ? fg_measure_count(&set->measures) : 0;
	const size_t most = verdict->metric_count + measures + policy->metric_count;
	struct fg_metric_verdict *all = fg_arena_array(context->arena, most + 1, sizeof(all[0]));

	memcpy(all, verdict->metrics, verdict->metric_count * sizeof(all[0]));
	verdict->metrics = all;
	for (size_t id = 0; id < measures; id++) {
		const struct fg_measure *measure = fg_measure_at(&set->measures, (uint16_t)id);

		if (!fg_measure_is_time((uint16_t)id) && !measure->is_simulated &&
		    is_measured(set, (uint16_t)id) && !fg_verdict_metric(verdict, measure->name))
			judge(context, set, (uint16_t)id, &all[verdict->metric_count++]);
	}
	for (size_t i = 0; i < policy->metric_count; i++) {
		const struct fg_metric_policy *how = &policy->metrics[i];

		if (how->gated && fg_measure_is_known(how->name) &&
		    !fg_metric_find_builtin(how->name) && !fg_verdict_metric(verdict, how->name))
			add_unmeasured(how, context->arena, &all[verdict->metric_count++]);
	}
}

static bool has_grown(const struct fg_benchmark_verdict *verdict)
{
	const struct fg_metric_verdict *metric = fg_verdict_metric(verdict, "max_rss");

	return metric && metric->outcome == FG_OUTCOME_REGRESSION;
}

/* Notes that the heap does not explain why the program grew. */
static void note_other_memory(const struct fg_metric_context *context,
			      struct fg_benchmark_verdict *verdict)
{
	const struct fg_metric_verdict *rss = fg_verdict_metric(verdict, "max_rss");
	const struct fg_metric_verdict *heap = fg_verdict_metric(verdict, "heap.peak");
	char grown[FG_NUMBER_TEXT_SIZE];
	char held[FG_NUMBER_TEXT_SIZE];

	if (!has_grown(verdict) || !heap ||
	    heap->candidate - heap->baseline >= EXPLAINED * (rss->candidate - rss->baseline))
		return;
	fg_notes_add(&verdict->notes, context->arena,
		     "max rss grew by %s, but the peak of the heap grew by %s: the rest is mapped "
		     "memory, stacks, free memory that the allocator keeps, or the program itself",
		     fg_format_size(rss->candidate - rss->baseline, grown),
		     fg_format_size(fmax(0, heap->candidate - heap->baseline), held));
}

/* Is blame for this measure worth reporting? */
static bool is_of_interest(const struct fg_benchmark_verdict *verdict,
			   const struct fg_metric_verdict *metric)
{
	if (metric->gated)
		return true;
	/* Among the heap's measures, only the peak explains a larger program. */
	if (fg_text_starts_with(metric->name, "heap.") && has_grown(verdict))
		return strcmp(metric->name, "heap.peak") == 0;
	return metric->outcome != FG_OUTCOME_PASS;
}

static void blame_all(const struct fg_metric_context *context, const struct fg_sides *sides,
		      struct fg_benchmark_verdict *verdict)
{
	verdict->measures = fg_arena_array(context->arena, verdict->metric_count + 1,
					   sizeof(verdict->measures[0]));
	for (size_t i = 0; i < verdict->metric_count; i++) {
		const struct fg_metric_verdict *metric = &verdict->metrics[i];
		struct fg_blame *blame = &verdict->measures[verdict->measure_count];
		struct fg_node_context c = {
			.set = sides->set,
			.policy = context->policy,
			.arena = context->arena,
			.notes = &verdict->notes,
			.exact = metric->exact,
			.seed = context->seed,
		};

		if (!is_of_interest(verdict, metric) ||
		    !fg_measure_find(&sides->set->measures, metric->name, &c.id) ||
		    fg_measure_is_time(c.id))
			continue;
		fg_nodes_blame(&c, &sides->series, verdict, blame);
		verdict->measure_count += blame->function_count > 0 || blame->moved_count > 0;
	}
}

void fg_measures_decide(const struct fg_sides *sides, const struct fg_metric_context *context,
			struct fg_benchmark_verdict *verdict)
{
	judge_all(context, sides->set, verdict);
	if (sides->set && !verdict->identical && context->policy->functions != FG_FUNCTIONS_OFF)
		blame_all(context, sides, verdict);
	note_other_memory(context, verdict);
}

int fg_policy_only_measure(struct fg_policy *policy, const char *measure, const struct fg_run *run,
			   struct fg_arena *arena, struct fg_error *err)
{
	size_t most = 1;
	size_t count = 1;
	struct fg_metric_policy *rows = NULL;

	if (!fg_measure_is_known(measure) || fg_metric_find_builtin(measure))
		return fg_error_set(err, FG_EINVAL,
				    "'%.100s' is not a measure that can be gated by call path",
				    measure);
	for (size_t i = 0; i < run->series_count; i++)
		most += run->series[i].metric_count;
	rows = fg_arena_array(arena, most, sizeof(rows[0]));
	rows[0] = fg_policy_measure(policy, measure);
	rows[0].gated = true;
	for (size_t i = 0; i < run->series_count; i++) {
		for (size_t m = 0; m < run->series[i].metric_count; m++) {
			struct fg_metric_policy *row = &rows[count++];

			*row = fg_policy_metric(policy, run->series[i].metrics[m].name);
			row->gated = false;
		}
	}
	policy->metrics = rows;
	policy->metric_count = count;
	return FG_OK;
}
