// SPDX-License-Identifier: Apache-2.0
#include "gate/placement.h"

#include "base/text.h"
#include "model/build_difference.h"

#include <math.h>
#include <stdio.h>

enum {
	KEY_MAX = 512
};

static bool is_equal(const struct fg_environment *a, const struct fg_environment *b,
		     const char *key)
{
	const char *in_a = fg_environment_get(a, key);
	const char *in_b = fg_environment_get(b, key);

	return in_a && in_b && strcmp(in_a, in_b) == 0;
}

/* Every library of `a` is in `b`, as the same file or with the same code. */
static bool has_libraries_of(const struct fg_environment *a, const struct fg_environment *b)
{
	for (size_t i = 0; i < a->count; i++) {
		const char *key = a->facts[i].key;
		const char *name = fg_build_library_name(key);
		char code_key[KEY_MAX];

		if (!name || is_equal(a, b, key))
			continue;
		(void)snprintf(code_key, sizeof(code_key), "build.code.%s", name);
		if (!fg_environment_get(b, key) || !is_equal(a, b, code_key))
			return false;
	}
	return true;
}

/*
 * The program, or one of its libraries, is another file. If all are the same files, nothing has
 * moved, and a difference comes from something that the program loads or starts at run time.
 */
static bool has_another_file(const struct fg_environment *a, const struct fg_environment *b)
{
	if (!is_equal(a, b, "build.id"))
		return true;
	for (size_t i = 0; i < a->count; i++) {
		if (fg_build_library_name(a->facts[i].key) && !is_equal(a, b, a->facts[i].key))
			return true;
	}
	return false;
}

static bool has_same_inputs(const struct fg_environment *baseline,
			    const struct fg_environment *candidate)
{
	return is_equal(baseline, candidate, "build.inputs") &&
	       is_equal(baseline, candidate, "build.mapped");
}

/* Every library of `a` is the same file in `b`, or its functions were compared. */
static bool has_compared_libraries(const struct fg_environment *a, const struct fg_environment *b)
{
	for (size_t i = 0; i < a->count; i++) {
		const char *name = fg_build_library_name(a->facts[i].key);
		char code_key[KEY_MAX];
		char place_key[KEY_MAX];

		if (!name || is_equal(a, b, a->facts[i].key))
			continue;
		(void)snprintf(code_key, sizeof(code_key), "build.code.%s", name);
		(void)snprintf(place_key, sizeof(place_key), "build.place.%s", name);
		if (!fg_environment_get(a, code_key) || !fg_environment_get(b, code_key) ||
		    !is_equal(a, b, place_key))
			return false;
	}
	return true;
}

bool fg_placement_is_comparable(const struct fg_environment *baseline,
				const struct fg_environment *candidate)
{
	return fg_environment_get(baseline, "build.code") &&
	       fg_environment_get(candidate, "build.code") &&
	       has_same_inputs(baseline, candidate) &&
	       has_compared_libraries(baseline, candidate) &&
	       has_compared_libraries(candidate, baseline);
}

bool fg_placement_is_same_code(const struct fg_environment *baseline,
			       const struct fg_environment *candidate)
{
	return has_another_file(baseline, candidate) &&
	       is_equal(baseline, candidate, "build.code") &&
	       has_same_inputs(baseline, candidate) && has_libraries_of(baseline, candidate) &&
	       has_libraries_of(candidate, baseline);
}

/* A library of `a` whose code is known has other code in `b`, or is missing there. */
static bool has_other_library(const struct fg_environment *a, const struct fg_environment *b)
{
	static const char prefix[] = "build.code.";

	for (size_t i = 0; i < a->count; i++) {
		if (fg_text_starts_with(a->facts[i].key, prefix) &&
		    !is_equal(a, b, a->facts[i].key))
			return true;
	}
	return false;
}

bool fg_placement_is_other_code(const struct fg_environment *baseline,
				const struct fg_environment *candidate)
{
	static const char program[] = "build.code";

	return fg_environment_get(baseline, program) && fg_environment_get(candidate, program) &&
	       (!is_equal(baseline, candidate, program) || has_other_library(baseline, candidate) ||
		has_other_library(candidate, baseline));
}

static void place(enum fg_outcome *outcome)
{
	if (*outcome == FG_OUTCOME_REGRESSION || *outcome == FG_OUTCOME_IMPROVEMENT)
		*outcome = FG_OUTCOME_PLACEMENT;
}

/* Student's t, 95 % on one side, with one degree of freedom fewer than layouts. */
static const double layouts_quantile = 2.353;

/* Reports where time grew, but does not blame unchanged code. */
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
		fg_notes_add(
			&verdict->notes, arena,
			"placement: code unchanged: both builds have the same machine code, data "
			"and inputs, only at other addresses");
}

void fg_placement_settle_layouts(struct fg_arena *arena, struct fg_benchmark_verdict *verdict)
{
	bool any = false;

	for (size_t i = 0; i < verdict->metric_count; i++) {
		struct fg_metric_verdict *metric = &verdict->metrics[i];
		const double width = layouts_quantile * metric->layout_error;

		/* The error of one layout is 0, and no ratio lies below that. */
		if (metric->outcome != FG_OUTCOME_REGRESSION || fabs(log(metric->ratio)) >= width)
			continue;
		metric->low = fmin(metric->low, metric->ratio * exp(-width));
		metric->high = fmax(metric->high, metric->ratio * exp(width));
		metric->outcome = FG_OUTCOME_PLACEMENT;
		any = true;
	}
	if (!any)
		return;
	place_time(verdict);
	fg_notes_add(
		&verdict->notes, arena,
		"placement: these places differ by more than the two sides do, and no function "
		"that takes time has changed");
}
