// SPDX-License-Identifier: Apache-2.0
#include "gate/exact.h"

#include "base/number.h"
#include "base/text.h"
#include "gate/metric_verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A smaller relative difference counts as equal, for the whole and for each function. */
static const double tolerance_least = 0.0001;
/* More work explains more time if it grew by at least this share of it. */
static const double explains_least = 0.25;
static const double felt_least = 0.001;

/* The counts of one arm: the mean by function, and the range of the whole over repetitions. */
struct counts {
	double *instructions;
	double *calls;
	double total, least, most; /* outside of the C library */
	double total_calls;
	double apart; /* in the C library and the dynamic linker */
	unsigned repetitions;
};

static bool is_apart(const struct fg_profile_function *function)
{
	const char *library = function->library ? function->library : "";

	return fg_text_starts_with(library, "libc.so") || fg_text_starts_with(library, "libc-") ||
	       fg_text_starts_with(library, "ld-") || fg_text_starts_with(library, "ld.so");
}

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

/* Per function; to be freed. */
static double *by_function(const struct fg_profile_set *set, const struct fg_profile_row *row)
{
	double *sums = fg_xcalloc(set->function_count, sizeof(sums[0]));

	for (uint32_t i = 0; i < row->count; i++)
		sums[set->nodes[row->nodes[i]].function] += row->values[i];
	return sums;
}

static void add_row(const struct fg_profile_set *set, const struct fg_profile_row *row,
		    struct counts *counts)
{
	double *sums = by_function(set, row);
	const bool is_calls = row->measure == FG_MEASURE_CALLS;
	double own = 0;
	double apart = 0;

	for (size_t i = 0; i < set->function_count; i++) {
		double *to = is_calls ? counts->calls : counts->instructions;

		to[i] += sums[i];
		if (is_apart(&set->functions[i]))
			apart += sums[i];
		else
			own += sums[i];
	}
	free(sums);
	if (is_calls) {
		counts->total_calls += own;
		return;
	}
	counts->least = counts->repetitions ? fmin(counts->least, own) : own;
	counts->most = fmax(counts->most, own);
	counts->total += own;
	counts->apart += apart;
	counts->repetitions++;
}

static void count(const struct fg_profile_set *set, uint8_t arm, uint32_t pair_end,
		  struct counts *counts)
{
	*counts = (struct counts){
		.instructions = fg_xcalloc(set->function_count, sizeof(double)),
		.calls = fg_xcalloc(set->function_count, sizeof(double)),
	};
	for (size_t i = 0; i < set->row_count; i++) {
		const struct fg_profile_row *row = &set->rows[i];

		if (row->arm == arm && row->pair >= FG_EXACT_FIRST_PAIR && row->pair < pair_end &&
		    (row->measure == FG_MEASURE_INSTRUCTIONS || row->measure == FG_MEASURE_CALLS))
			add_row(set, row, counts);
	}
	if (counts->repetitions < 2)
		return;
	for (size_t i = 0; i < set->function_count; i++) {
		counts->instructions[i] /= counts->repetitions;
		counts->calls[i] /= counts->repetitions;
	}
	counts->total /= counts->repetitions;
	counts->apart /= counts->repetitions;
	counts->total_calls /= counts->repetitions;
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

bool fg_exact_is_equal(const struct fg_profile_set *set)
{
	struct counts arms[2];
	bool equal = true;

	for (uint8_t arm = 0; arm < 2; arm++)
		count(set, arm, FG_EXACT_FIRST_PAIR + 1, &arms[arm]);
	for (size_t i = 0; i < set->function_count && equal; i++)
		equal = is_apart(&set->functions[i]) ||
			(!differs(arms[0].instructions[i], arms[1].instructions[i]) &&
			 !differs(arms[0].calls[i], arms[1].calls[i]));
	release(&arms[0]);
	release(&arms[1]);
	return equal;
}

/* ---- metrics ---- */

static struct fg_metric_verdict metric_of(const char *name, const double values[2],
					  const struct fg_policy *policy)
{
	const struct fg_metric_policy own = fg_policy_measure(policy, name);
	const double tolerance =
		own.gated ? fg_metric_tolerance(&own) : fmax(own.tolerance, tolerance_least);
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
		.alpha = policy->alpha,
		.gated = own.gated,
		.margin = tolerance,
		.smallest_detectable = tolerance,
		.p_value = (double)NAN,
	};
}

/*
 * A program whose repetitions differ among themselves is not judged by one or two of them: that
 * needs pairs.
 */
static void judge(const struct counts arms[2], struct fg_arena *arena,
		  struct fg_metric_verdict *metric)
{
	const double tolerance = metric->margin;
	double spread = 0;

	metric->low = arms[1].least / arms[0].most;
	metric->high = arms[1].most / arms[0].least;
	metric->pairs = arms[0].repetitions < arms[1].repetitions ? arms[0].repetitions
								  : arms[1].repetitions;
	spread = fmax(arms[0].most / arms[0].least, arms[1].most / arms[1].least) - 1;
	metric->exact = spread <= tolerance;
	if (!metric->exact) {
		metric->outcome = FG_OUTCOME_INCONCLUSIVE;
		fg_notes_add(&metric->notes, arena,
			     "not decided by counting: repetitions of one side differ by up to "
			     "%.3g %%",
			     100 * spread);
		return;
	}
	if (metric->low > 1 + tolerance)
		metric->outcome = FG_OUTCOME_REGRESSION;
	else if (metric->high < 1 - tolerance)
		metric->outcome = FG_OUTCOME_IMPROVEMENT;
}

/* Shown only, unless the configuration asks for more. */
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

/* ---- what it means ---- */

/* How much longer it takes: the gated time that grew most; 0: none surely changed. */
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
	if (!is_timed && fabs(work) >= tolerance_least)
		return work > 0 ? FG_WORK_MORE : FG_WORK_LESS;
	if (time > 0)
		return work >= fmax(felt_least, explains_least * time) ? FG_WORK_MORE
								       : FG_WORK_SAME_SLOWER;
	if (time < 0)
		return work <= fmin(-felt_least, explains_least * time) ? FG_WORK_LESS
									: FG_WORK_SAME_FASTER;
	if (fabs(work) < tolerance_least)
		return FG_WORK_SAME;
	return work > 0 ? FG_WORK_MORE_NOT_FELT : FG_WORK_LESS_NOT_FELT;
}

/* The function whose instructions changed most in the direction of the whole. */
static size_t largest_change(const struct fg_profile_set *set, const struct counts arms[2])
{
	const double sign = arms[1].total >= arms[0].total ? 1 : -1;
	double largest = 0;
	size_t found = SIZE_MAX;

	for (size_t i = 1; i < set->function_count; i++) {
		const double change = sign * (arms[1].instructions[i] - arms[0].instructions[i]);

		if (is_apart(&set->functions[i]) || !(change > largest))
			continue;
		largest = change;
		found = i;
	}
	return found;
}

static enum fg_work_cause cause_of(const double calls[2], const double instructions[2])
{
	const double more_calls = calls[1] / calls[0];
	const double more_per_call = instructions[1] / instructions[0] / more_calls;

	if (!(calls[1] > 0))
		return FG_WORK_CAUSE_UNKNOWN;
	if (!(calls[0] > 0))
		return FG_WORK_CAUSE_NEW;
	if (!(instructions[0] > 0))
		return FG_WORK_CAUSE_UNKNOWN;
	return fabs(log(more_calls)) >= fabs(log(more_per_call)) ? FG_WORK_CAUSE_CALLS
								 : FG_WORK_CAUSE_PER_CALL;
}

static void describe_function(const struct counts arms[2], size_t index,
			      struct fg_work_verdict *work)
{
	for (size_t arm = 0; arm < 2; arm++) {
		work->function_instructions[arm] = arms[arm].instructions[index];
		work->function_calls[arm] = arms[arm].calls[index];
	}
	work->cause = cause_of(work->function_calls, work->function_instructions);
}

static void add_cause(const struct fg_work_verdict *work, struct fg_strbuf *text)
{
	char before[FG_NUMBER_TEXT_SIZE];
	char after[FG_NUMBER_TEXT_SIZE];
	char change[FG_NUMBER_TEXT_SIZE];
	const double *calls = work->function_calls;
	const double *instructions = work->function_instructions;

	if (!work->function)
		return;
	fg_strbuf_printf(text, "; most of it in %s", work->function);
	if (work->cause == FG_WORK_CAUSE_CALLS)
		fg_strbuf_printf(text, ", called %.3g times as often (%s → %s calls)",
				 calls[1] / calls[0], fg_format_count(calls[0], before),
				 fg_format_count(calls[1], after));
	else if (work->cause == FG_WORK_CAUSE_PER_CALL)
		fg_strbuf_printf(text, ", %s %% instructions a call (%s → %s)",
				 fg_format_signed(100 * (instructions[1] / calls[1] /
								 (instructions[0] / calls[0]) -
							 1),
						  2, change),
				 fg_format_count(instructions[0] / calls[0], before),
				 fg_format_count(instructions[1] / calls[1], after));
	else if (work->cause == FG_WORK_CAUSE_NEW)
		fg_strbuf_add_text(text, ", which the baseline never calls");
}

/* One line of every report. */
static void note(const struct fg_work_verdict *work, struct fg_arena *arena,
		 struct fg_benchmark_verdict *verdict)
{
	static const char *const words[] = {
		[FG_WORK_SAME] = "the same work",
		[FG_WORK_MORE] = "does more work",
		[FG_WORK_SAME_SLOWER] =
			"the same work, slower (placement, caches, branches, memory)",
		[FG_WORK_MORE_NOT_FELT] = "more work, not felt",
		[FG_WORK_LESS] = "does less work",
		[FG_WORK_SAME_FASTER] =
			"the same work, faster (placement, caches, branches, memory)",
		[FG_WORK_LESS_NOT_FELT] = "less work, not felt",
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
	if (work->apart[0] > 0 || work->apart[1] > 0)
		fg_strbuf_printf(&text, "; also %s → %s in the C library",
				 fg_format_count(work->apart[0], before),
				 fg_format_count(work->apart[1], after));
	fg_notes_add(&verdict->notes, arena, "%s", fg_strbuf_text(&text));
	fg_strbuf_release(&text);
}

static void explain(const struct fg_profile_set *set, const struct counts arms[2],
		    size_t metric_count, struct fg_arena *arena,
		    struct fg_benchmark_verdict *verdict)
{
	struct fg_work_verdict *work = fg_arena_alloc(arena, sizeof(*work));
	const double time = time_change(verdict, metric_count);
	size_t index = SIZE_MAX;

	*work = (struct fg_work_verdict){0};
	for (size_t arm = 0; arm < 2; arm++) {
		work->instructions[arm] = arms[arm].total;
		work->calls[arm] = arms[arm].total_calls;
		work->apart[arm] = arms[arm].apart;
	}
	work->kind = meaning_of(arms[1].total / arms[0].total - 1, time, metric_count > 0);
	index = largest_change(set, arms);
	if (index != SIZE_MAX) {
		work->function = fg_arena_strdup(arena, set->functions[index].name);
		describe_function(arms, index, work);
	}
	verdict->work = work;
	note(work, arena, verdict);
}

void fg_exact_decide(const struct fg_profile_set *set, const struct fg_policy *policy,
		     bool is_alone, struct fg_arena *arena, struct fg_benchmark_verdict *verdict)
{
	const size_t metric_count = verdict->metric_count;
	struct counts arms[2];
	struct fg_metric_verdict *metric = NULL;

	for (uint8_t arm = 0; arm < 2; arm++)
		count(set, arm, UINT32_MAX, &arms[arm]);
	if (!(arms[0].total > 0) || !(arms[1].total > 0))
		goto out;
	metric = &verdict->metrics[verdict->metric_count++];
	*metric = metric_of("instructions", (double[]){arms[0].total, arms[1].total}, policy);
	metric->gated |= is_alone || policy->fail_on_exact;
	judge(arms, arena, metric);
	if (arms[0].total_calls > 0 && arms[1].total_calls > 0) {
		metric = &verdict->metrics[verdict->metric_count++];
		*metric = metric_of("calls", (double[]){arms[0].total_calls, arms[1].total_calls},
				    policy);
		judge_calls(arms, metric);
	}
	explain(set, arms, metric_count, arena, verdict);
out:
	release(&arms[0]);
	release(&arms[1]);
}
