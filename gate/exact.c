// SPDX-License-Identifier: Apache-2.0
#include "gate/exact.h"

#include "base/number.h"
#include "gate/blame.h"
#include "gate/mechanism.h"
#include "gate/metric_verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Smaller relative differences count as equal. */
static const double tolerance_min = 0.0001;
static const double felt_min = 0.001;

/*
 * A difference counts if it exceeds this many times the sum of both sides' spreads between
 * repetitions.
 */
static const double spread_errors = 10;

/* One function's counts over the repetitions of one arm. */
struct range {
	double sum;
	double least;
	double most;
};

/* The counts of one arm; instructions in unchanged libraries are charged to the callers. */
struct counts {
	struct range *instructions;
	double *calls; /* by function, like `instructions` */
	double total;
	double total_calls;
	double linker; /* instructions of the dynamic linker, which all other fields exclude */
	unsigned repetitions;
};

bool fg_exact_has(const struct fg_profile_set *set, uint8_t arm)
{
	for (size_t i = 0; set && i < set->row_count; i++) {
		const struct fg_profile_row *row = &set->rows[i];

		if (row->measure == FG_MEASURE_INSTRUCTIONS && row->arm == arm &&
		    row->pair >= FG_EXACT_FIRST_PAIR)
			return true;
	}
	return false;
}

static bool is_exact_row(const struct fg_profile_row *row, uint8_t arm)
{
	return row->arm == arm && row->pair >= FG_EXACT_FIRST_PAIR &&
	       (row->measure == FG_MEASURE_INSTRUCTIONS || row->measure == FG_MEASURE_CALLS);
}

/* Adds the instructions of one repetition; `sums` is scratch space, zero for each function. */
static void add_instructions(const struct fg_profile_set *set, const uint32_t *blamed,
			     const struct fg_profile_row *row, double *sums, struct counts *counts)
{
	for (uint32_t i = 0; i < row->count; i++) {
		const uint32_t node = row->nodes[i];

		if (fg_blame_is_linker(&set->functions[set->nodes[node].function]))
			counts->linker += row->values[i];
		else
			sums[set->nodes[blamed[node]].function] += row->values[i];
	}
	for (size_t f = 0; f < set->function_count; f++) {
		struct range *range = &counts->instructions[f];

		range->least = counts->repetitions ? fmin(range->least, sums[f]) : sums[f];
		range->most = fmax(range->most, sums[f]);
		range->sum += sums[f];
		counts->total += sums[f];
	}
	counts->repetitions++;
}

static void add_calls(const struct fg_profile_set *set, const struct fg_profile_row *row,
		      struct counts *counts)
{
	for (uint32_t i = 0; i < row->count; i++) {
		const uint32_t f = set->nodes[row->nodes[i]].function;

		if (fg_blame_is_linker(&set->functions[f]))
			continue;
		counts->calls[f] += row->values[i];
		counts->total_calls += row->values[i];
	}
}

static void divide(const struct fg_profile_set *set, struct counts *counts)
{
	const double n = fmax(1, counts->repetitions);

	for (size_t f = 0; f < set->function_count; f++) {
		counts->instructions[f].sum /= n;
		counts->calls[f] /= n;
	}
	counts->total /= n;
	counts->total_calls /= n;
	counts->linker /= n;
}

static void count(const struct fg_profile_set *set, const uint32_t *blamed, uint8_t arm,
		  struct counts *counts)
{
	*counts = (struct counts){
		.instructions = fg_xcalloc(set->function_count, sizeof(counts->instructions[0])),
		.calls = fg_xcalloc(set->function_count, sizeof(double)),
	};
	for (size_t i = 0; i < set->row_count; i++) {
		const struct fg_profile_row *row = &set->rows[i];
		double *sums = NULL;

		if (!is_exact_row(row, arm))
			continue;
		if (row->measure == FG_MEASURE_CALLS) {
			add_calls(set, row, counts);
			continue;
		}
		sums = fg_xcalloc(set->function_count, sizeof(sums[0]));
		add_instructions(set, blamed, row, sums, counts);
		free(sums);
	}
	divide(set, counts);
}

static void release(struct counts *counts)
{
	free(counts->instructions);
	free(counts->calls);
}

static bool differs(double a, double b)
{
	return a < b || a > b;
}

static double spread_of(const struct counts *counts, size_t function)
{
	return counts->instructions[function].most - counts->instructions[function].least;
}

bool fg_exact_is_equal(const struct fg_profile_set *set)
{
	/* per function: instructions and calls of the first repetition of both arms */
	double(*sums)[2][2] = fg_xcalloc(set->function_count, sizeof(sums[0]));
	bool equal = true;

	for (size_t i = 0; i < set->row_count; i++) {
		const struct fg_profile_row *row = &set->rows[i];
		const size_t what = row->measure == FG_MEASURE_CALLS;

		if (row->arm >= FG_ARM_COUNT || row->pair != FG_EXACT_FIRST_PAIR ||
		    !is_exact_row(row, row->arm))
			continue;
		for (uint32_t k = 0; k < row->count; k++)
			sums[set->nodes[row->nodes[k]].function][what][row->arm] += row->values[k];
	}
	for (size_t f = 0; f < set->function_count && equal; f++)
		equal = fg_blame_is_linker(&set->functions[f]) ||
			(!differs(sums[f][0][0], sums[f][0][1]) &&
			 !differs(sums[f][1][0], sums[f][1][1]));
	free(sums);
	return equal;
}

/* ---- metrics ---- */

static struct fg_metric_verdict metric_of(const char *name, const double values[2],
					  const struct fg_policy *policy)
{
	const struct fg_metric_policy own = fg_policy_measure(policy, name);
	const double tolerance =
		own.gated ? fg_metric_tolerance(&own) : fmax(own.tolerance, tolerance_min);
	const double ratio = values[1] / values[0];

	return (struct fg_metric_verdict){
		.name = name,
		.label = name,
		.unit = "1",
		.better = FG_BETTER_LOWER,
		.decided = true,
		.exact = true,
		.baseline = values[0],
		.candidate = values[1],
		.ratio = ratio,
		.low = ratio,
		.high = ratio,
		.step = log(ratio),
		.alpha = policy->alpha,
		.gated = own.gated,
		.margin = tolerance,
		.smallest_detectable = tolerance,
		.p_value = (double)NAN,
	};
}

/*
 * Returns the instructions of the functions that vary between repetitions of one side, on the side
 * where the sum is larger.
 */
static double varying_of(const struct fg_profile_set *set, const struct counts arms[2])
{
	double varying[2] = {0, 0};

	for (size_t f = 0; f < set->function_count; f++) {
		if (!(spread_of(&arms[0], f) > 0) && !(spread_of(&arms[1], f) > 0))
			continue;
		for (size_t arm = 0; arm < 2; arm++)
			varying[arm] += arms[arm].instructions[f].sum;
	}
	return fmax(varying[0], varying[1]);
}

/*
 * Judges the sum of all instructions. Functions whose counts differ between repetitions of one
 * binary widen the interval by a multiple of their spread: two repetitions do not show how far the
 * counts can differ.
 */
static void judge(const struct fg_profile_set *set, const struct counts arms[2],
		  struct fg_arena *arena, struct fg_metric_verdict *metric)
{
	const double tolerance = metric->margin;
	char text[FG_NUMBER_TEXT_SIZE];
	double spread = 0;

	for (size_t f = 0; f < set->function_count; f++)
		spread += spread_errors * (spread_of(&arms[0], f) + spread_of(&arms[1], f));
	metric->low = metric->ratio - spread / arms[0].total;
	metric->high = metric->ratio + spread / arms[0].total;
	metric->pairs = arms[0].repetitions < arms[1].repetitions ? arms[0].repetitions
								  : arms[1].repetitions;
	metric->exact = spread <= tolerance * arms[0].total;
	if (spread > 0)
		fg_notes_add(&metric->notes, arena,
			     "functions with %s of the instructions vary between runs of one "
			     "binary: counts are uncertain by %.2g %%",
			     fg_format_count(varying_of(set, arms), text),
			     100 * spread / arms[0].total);
	if (metric->low > 1 + tolerance)
		metric->outcome = FG_OUTCOME_REGRESSION;
	else if (metric->high < 1 - tolerance)
		metric->outcome = FG_OUTCOME_IMPROVEMENT;
	else if (!metric->exact && metric->high > 1 + tolerance)
		metric->outcome = FG_OUTCOME_INCONCLUSIVE;
}

/* Judges calls, which are only shown unless the configuration gates them. */
static void judge_calls(const struct counts arms[2], struct fg_metric_verdict *metric)
{
	metric->pairs = arms[0].repetitions < arms[1].repetitions ? arms[0].repetitions
								  : arms[1].repetitions;
	if (!metric->gated)
		return;
	if (metric->ratio > 1 + metric->margin)
		metric->outcome = FG_OUTCOME_REGRESSION;
	else if (metric->ratio < 1 - metric->margin)
		metric->outcome = FG_OUTCOME_IMPROVEMENT;
}

/* ---- meaning for the time ---- */

/*
 * Returns the largest significant change of a time metric, as a ratio minus 1; 0 if no time changed
 * significantly.
 */
static double time_change(const struct fg_benchmark_verdict *verdict, size_t metric_count)
{
	double change = 0;

	for (size_t i = 0; i < metric_count; i++) {
		const struct fg_metric_verdict *metric = &verdict->metrics[i];
		const bool changed = metric->outcome == FG_OUTCOME_REGRESSION ||
				     metric->outcome == FG_OUTCOME_PLACEMENT ||
				     metric->outcome == FG_OUTCOME_IMPROVEMENT;

		if (changed && strcmp(metric->unit, "ns") == 0 &&
		    fabs(metric->ratio - 1) > fabs(change))
			change = metric->ratio - 1;
	}
	return change;
}

static enum fg_work meaning_of(double work, double time, bool is_timed)
{
	if (!is_timed && fabs(work) >= tolerance_min)
		return work > 0 ? FG_WORK_MORE : FG_WORK_LESS;
	if (time > 0)
		return work >= fmax(felt_min, FG_EXPLAINS_MIN * time) ? FG_WORK_MORE
								      : FG_WORK_SAME_SLOWER;
	if (time < 0)
		return work <= fmin(-felt_min, FG_EXPLAINS_MIN * time) ? FG_WORK_LESS
								       : FG_WORK_SAME_FASTER;
	if (fabs(work) < tolerance_min)
		return FG_WORK_SAME;
	return work > 0 ? FG_WORK_MORE_NOT_FELT : FG_WORK_LESS_NOT_FELT;
}

/* Returns the function whose instructions changed most in the direction of the total. */
static size_t largest_change(const struct fg_profile_set *set, const struct counts arms[2])
{
	const double sign = arms[1].total >= arms[0].total ? 1 : -1;
	double largest = 0;
	size_t found = SIZE_MAX;

	for (size_t f = 1; f < set->function_count; f++) {
		const double change =
			sign * (arms[1].instructions[f].sum - arms[0].instructions[f].sum);

		if (!(change > largest))
			continue;
		largest = change;
		found = f;
	}
	return found;
}

/* Returns the library function that executes most of the change of `function`, or 0. */
static size_t leaf_of(const struct fg_profile_set *set, const uint32_t *blamed, size_t function)
{
	double *change = fg_xcalloc(set->function_count, sizeof(change[0]));
	double whole = 0;
	size_t found = 0;

	for (size_t i = 0; i < set->row_count; i++) {
		const struct fg_profile_row *row = &set->rows[i];
		const double sign = row->arm ? 1 : -1;

		if (row->arm >= FG_ARM_COUNT || row->measure != FG_MEASURE_INSTRUCTIONS ||
		    row->pair != FG_EXACT_FIRST_PAIR)
			continue;
		for (uint32_t k = 0; k < row->count; k++) {
			const uint32_t node = row->nodes[k];

			if (set->nodes[blamed[node]].function != function)
				continue;
			change[set->nodes[node].function] += sign * row->values[k];
			whole += sign * row->values[k];
		}
	}
	for (size_t f = 1; f < set->function_count; f++) {
		if (f != function && change[f] / whole > 0.5)
			found = f;
	}
	free(change);
	return found;
}

static void describe_function(const struct counts arms[2], size_t index,
			      struct fg_work_verdict *work)
{
	for (size_t arm = 0; arm < 2; arm++) {
		work->function_instructions[arm] = arms[arm].instructions[index].sum;
		work->function_calls[arm] = arms[arm].calls[index];
	}
}

static void add_cause(const struct fg_work_verdict *work, struct fg_strbuf *text)
{
	if (!work->function)
		return;
	fg_strbuf_printf(text, "; most of it in %s%s%s", work->function, work->leaf ? " → " : "",
			 work->leaf ? work->leaf : "");
	if (work->mechanism.kind != FG_MECHANISM_UNKNOWN)
		fg_strbuf_printf(text, ", %s", work->mechanism.words);
}

/* Adds the result as a note, one line in every report. */
static void note(const struct fg_work_verdict *work, struct fg_arena *arena,
		 struct fg_benchmark_verdict *verdict)
{
	static const char *const words[] = {
		[FG_WORK_SAME] = "the same work",
		[FG_WORK_MORE] = "more work",
		[FG_WORK_SAME_SLOWER] =
			"the same work, slower (placement, caches, branches, memory)",
		[FG_WORK_MORE_NOT_FELT] = "more work, no measured slowdown",
		[FG_WORK_LESS] = "less work",
		[FG_WORK_SAME_FASTER] =
			"the same work, faster (placement, caches, branches, memory)",
		[FG_WORK_LESS_NOT_FELT] = "less work, no measured speed-up",
	};
	struct fg_strbuf text = {0};
	char before[FG_NUMBER_TEXT_SIZE];
	char after[FG_NUMBER_TEXT_SIZE];
	char percent[FG_NUMBER_TEXT_SIZE];
	const double change = work->instructions[1] / work->instructions[0] - 1;

	fg_strbuf_printf(&text, "%s: %s → %s instructions", words[work->kind],
			 fg_format_count(work->instructions[0], before),
			 fg_format_count(work->instructions[1], after));
	if (differs(change, 0))
		fg_strbuf_printf(&text, " (%s %%)", fg_format_signed(100 * change, 3, percent));
	if (work->kind != FG_WORK_SAME && work->kind != FG_WORK_SAME_SLOWER &&
	    work->kind != FG_WORK_SAME_FASTER)
		add_cause(work, &text);
	if (differs(work->linker[0], work->linker[1]))
		fg_strbuf_printf(&text, "; also %s → %s in the dynamic linker",
				 fg_format_count(work->linker[0], before),
				 fg_format_count(work->linker[1], after));
	fg_notes_add(&verdict->notes, arena, "%s", fg_strbuf_text(&text));
	fg_strbuf_release(&text);
}

static void explain(const struct fg_profile_set *set, const uint32_t *blamed,
		    const struct counts arms[2], struct fg_arena *arena,
		    struct fg_work_verdict *work)
{
	const size_t index = largest_change(set, arms);
	size_t leaf = 0;

	for (size_t arm = 0; arm < 2; arm++) {
		work->instructions[arm] = arms[arm].total;
		work->calls[arm] = arms[arm].total_calls;
		work->linker[arm] = arms[arm].linker;
	}
	if (index == SIZE_MAX)
		return;
	work->function = fg_arena_strdup(arena, set->functions[index].name);
	leaf = leaf_of(set, blamed, index);
	work->leaf = leaf ? fg_arena_strdup(arena, set->functions[leaf].name) : NULL;
	describe_function(arms, index, work);
	work->mechanism = fg_mechanism_of_counts(set, blamed, index, arena);
}

void fg_exact_decide(const struct fg_profile_set *set, const struct fg_series *series,
		     const struct fg_policy *policy, bool is_alone, struct fg_arena *arena,
		     struct fg_benchmark_verdict *verdict)
{
	const size_t metric_count = verdict->metric_count;
	const double time = time_change(verdict, metric_count);
	uint32_t *blamed = fg_blame_nodes(set, series);
	struct fg_work_verdict *work = NULL;
	struct fg_metric_verdict *metric = NULL;
	struct counts arms[2];

	for (uint8_t arm = 0; arm < 2; arm++)
		count(set, blamed, arm, &arms[arm]);
	if (!(arms[0].total > 0) || !(arms[1].total > 0))
		goto out;
	metric = &verdict->metrics[verdict->metric_count++];
	*metric = metric_of("instructions", (double[]){arms[0].total, arms[1].total}, policy);
	metric->gated |= is_alone || policy->fail_on_exact;
	judge(set, arms, arena, metric);
	if (arms[0].total_calls > 0 && arms[1].total_calls > 0) {
		metric = &verdict->metrics[verdict->metric_count++];
		*metric = metric_of("calls", (double[]){arms[0].total_calls, arms[1].total_calls},
				    policy);
		judge_calls(arms, metric);
	}
	work = fg_arena_alloc(arena, sizeof(*work));
	*work = (struct fg_work_verdict){
		.kind = meaning_of(arms[1].total / arms[0].total - 1, time, metric_count > 0)};
	explain(set, blamed, arms, arena, work);
	verdict->work = work;
	note(work, arena, verdict);
out:
	release(&arms[0]);
	release(&arms[1]);
	free(blamed);
}
