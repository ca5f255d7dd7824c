// SPDX-License-Identifier: Apache-2.0
#include "gate/placement.h"

#include <math.h>

bool fg_placement_is_same_files(const struct fg_build_facts *baseline,
				const struct fg_build_facts *candidate)
{
	struct fg_library_pair pair = {.builds = {baseline, candidate}};
	bool is_same = fg_fact_is_equal(baseline->id, candidate->id);

	while (is_same && fg_library_pair_next(&pair))
		is_same = fg_library_pair_is_same(&pair);
	return is_same;
}

static bool has_same_inputs(const struct fg_build_facts *baseline,
			    const struct fg_build_facts *candidate)
{
	return fg_fact_is_equal(baseline->inputs, candidate->inputs) &&
	       fg_fact_is_equal(baseline->mapped, candidate->mapped);
}

/* Do both sides have the library, as the same file or with functions that were compared? */
static bool is_compared(const struct fg_library_pair *pair)
{
	const struct fg_build_library *a = pair->sides[0];
	const struct fg_build_library *b = pair->sides[1];

	return fg_library_pair_is_same(pair) ||
	       (a && b && a->code && b->code && fg_fact_is_equal(a->place, b->place));
}

bool fg_placement_is_comparable(const struct fg_build_facts *baseline,
				const struct fg_build_facts *candidate)
{
	struct fg_library_pair pair = {.builds = {baseline, candidate}};

	if (!baseline->code || !candidate->code || !has_same_inputs(baseline, candidate))
		return false;
	while (fg_library_pair_next(&pair)) {
		if (!is_compared(&pair))
			return false;
	}
	return true;
}

bool fg_placement_is_same_code(const struct fg_build_facts *baseline,
			       const struct fg_build_facts *candidate)
{
	struct fg_library_pair pair = {.builds = {baseline, candidate}};

	/*
	 * If all files are the same, placement cannot be the cause: a difference comes from
	 * something that is loaded or started at run time.
	 */
	if (fg_placement_is_same_files(baseline, candidate) ||
	    !fg_fact_is_equal(baseline->code, candidate->code) ||
	    !has_same_inputs(baseline, candidate))
		return false;
	while (fg_library_pair_next(&pair)) {
		if (!pair.sides[0] || !pair.sides[1] ||
		    (!fg_library_pair_is_same(&pair) &&
		     !fg_fact_is_equal(pair.sides[0]->code, pair.sides[1]->code)))
			return false;
	}
	return true;
}

bool fg_placement_is_other_code(const struct fg_build_facts *baseline,
				const struct fg_build_facts *candidate)
{
	struct fg_library_pair pair = {.builds = {baseline, candidate}};
	bool is_other = !fg_fact_is_equal(baseline->code, candidate->code);

	if (!baseline->code || !candidate->code)
		return false;
	while (!is_other && fg_library_pair_next(&pair)) {
		const char *before = pair.sides[0] ? pair.sides[0]->code : NULL;
		const char *after = pair.sides[1] ? pair.sides[1]->code : NULL;

		is_other = (before || after) && !fg_fact_is_equal(before, after);
	}
	return is_other;
}

static void place(enum fg_outcome *outcome)
{
	if (*outcome == FG_OUTCOME_REGRESSION || *outcome == FG_OUTCOME_IMPROVEMENT)
		*outcome = FG_OUTCOME_PLACEMENT;
}

/* Student's t, 95 % on one side, with FG_LINE_PLACES - 1 degrees of freedom. */
static const double layouts_quantile = 2.353;

/*
 * Turns the outcomes of nodes into placement: unchanged code is not to blame, and the report only
 * shows where time changed.
 */
static void place_nodes(struct fg_node_verdict *nodes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (fg_standing_is_sure(nodes[i].standing))
			nodes[i].standing = FG_STANDING_SAME_CODE;
		place(&nodes[i].outcome);
		for (size_t k = 0; k < nodes[i].path_count; k++)
			place(&nodes[i].paths[k].outcome);
	}
}

static void place_time(struct fg_benchmark_verdict *verdict)
{
	place_nodes(verdict->time.functions, verdict->time.function_count);
	place_nodes(verdict->time.libraries, verdict->time.library_count);
	place_nodes(verdict->time.regions, verdict->time.region_count);
}

void fg_placement_settle(struct fg_arena *arena, struct fg_benchmark_verdict *verdict)
{
	bool any = false;

	for (size_t i = 0; i < verdict->metric_count; i++) {
		struct fg_metric_verdict *metric = &verdict->metrics[i];

		if (metric->exact || (metric->outcome != FG_OUTCOME_REGRESSION &&
				      metric->outcome != FG_OUTCOME_IMPROVEMENT))
			continue;
		metric->outcome = FG_OUTCOME_PLACEMENT;
		any = true;
	}
	place_time(verdict);
	if (any)
		fg_notes_add(&verdict->notes, arena,
			     "placement: the code is unchanged: both builds have the same machine "
			     "code, data and inputs, only at other addresses");
}

void fg_placement_settle_layouts(struct fg_arena *arena, bool has_changed_caller,
				 struct fg_benchmark_verdict *verdict)
{
	bool any = false;

	for (size_t i = 0; i < verdict->metric_count; i++) {
		struct fg_metric_verdict *metric = &verdict->metrics[i];
		const double width = layouts_quantile * metric->layout_error;

		/* With a single layout the width is 0, and no ratio lies within it. */
		if (metric->outcome != FG_OUTCOME_REGRESSION || fabs(log(metric->ratio)) >= width)
			continue;
		metric->low = fmin(metric->low, metric->ratio * exp(-width));
		metric->high = fmax(metric->high, metric->ratio * exp(width));
		metric->outcome =
			has_changed_caller ? FG_OUTCOME_INCONCLUSIVE : FG_OUTCOME_PLACEMENT;
		any = true;
	}
	if (!any)
		return;
	place_time(verdict);
	if (has_changed_caller)
		fg_notes_add(
			&verdict->notes, arena,
			"the layouts differ by more than the two sides do, and only callers of "
			"the hot code have changed; `fastgate run --exact` shows whether they "
			"call it more often");
	else
		fg_notes_add(&verdict->notes, arena,
			     "placement: the layouts differ by more than the two sides do, and no "
			     "hot function has changed");
}
