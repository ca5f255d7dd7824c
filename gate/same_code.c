// SPDX-License-Identifier: Apache-2.0
#include "gate/same_code.h"

#include "base/text.h"
#include "gate/blame.h"

enum {
	LINE = 64
};

/* A function with at least this share of the samples is hot. */
#define HOT_SHARE 0.005
/* If a larger share of the samples lacks a stack, time cannot be assigned. */
#define NOWHERE_SHARE 0.05

static struct fg_code_fact find(const struct fg_build_facts *build, const char *name)
{
	for (size_t i = 0; i < build->function_count; i++) {
		const struct fg_build_function *f = &build->functions[i];

		if (strcmp(f->name, name) == 0)
			return (struct fg_code_fact){
				f->state, {f->offset[0], f->offset[1]}, {f->form[0], f->form[1]}};
	}
	return (struct fg_code_fact){0};
}

/* Returns the name used by the linker and in the facts. */
static const char *linkage_of(const struct fg_profile_function *function)
{
	return function->linkage ? function->linkage : function->name;
}

static void add_note(const struct fg_node_verdict *node, const struct fg_code_fact *fact,
		     struct fg_arena *arena, struct fg_benchmark_verdict *verdict)
{
	const unsigned *offset = fact->offset;
	const char *what =
		fact->state == FG_COMPARED_SAME
			? "the machine code of the function and of everything it calls is unchanged"
			: "the function's own machine code is unchanged, but something it calls "
			  "has changed";

	if (offset[0] == offset[1])
		fg_notes_add(&verdict->notes, arena,
			     "%s: %s; at offset %u within a 4 KiB page on both sides", node->name,
			     what, offset[0]);
	else
		fg_notes_add(
			&verdict->notes, arena,
			"%s: %s; at offset %u → %u within a cache line (%u → %u within a 4 KiB page)",
			node->name, what, offset[0] % LINE, offset[1] % LINE, offset[0], offset[1]);
}

/* Returns the only compared function whose code changed; NULL if none or several changed. */
static const char *only_changed(const struct fg_build_facts *build)
{
	const char *only = NULL;

	for (size_t i = 0; i < build->function_count; i++) {
		if (build->functions[i].state != FG_COMPARED_CHANGED)
			continue;
		if (only)
			return NULL;
		only = build->functions[i].name;
	}
	return only;
}

static bool has_guilty_function(const struct fg_blame *blame)
{
	for (size_t i = 0; i < blame->function_count; i++) {
		if (blame->functions[i].standing == FG_STANDING_GUILTY)
			return true;
	}
	return false;
}

/* Samples of the set's time; the caller frees `of`. */
struct sampled {
	double *of; /* per function */
	double all;
};

static struct sampled count_samples(const struct fg_profile_set *set)
{
	struct sampled sampled = {0};

	sampled.of = fg_profile_set_time_samples(set, &sampled.all);
	return sampled;
}

static bool is_hot(const struct sampled *sampled, size_t function)
{
	return sampled->of[function] > 0 && sampled->of[function] >= HOT_SHARE * sampled->all;
}

/* Returns 0 if the function was not sampled. */
static size_t function_at(const struct fg_profile_set *set, const char *linkage)
{
	for (size_t f = 1; f < set->function_count; f++) {
		if (strcmp(linkage_of(&set->functions[f]), linkage) == 0)
			return f;
	}
	return 0;
}

/* Returns the candidate's facts; NULL if no function was compared. */
static const struct fg_build_facts *compared(const struct fg_series *series)
{
	const struct fg_build_facts *build = &series->build[FG_ARM_CANDIDATE];

	return build->function_count ? build : NULL;
}

static bool is_same_code(const struct fg_series *series, const struct fg_build_facts *build,
			 const struct fg_profile_function *function)
{
	const char *name = linkage_of(function);

	if (fg_blame_is_generated(function->library) || strcmp(function->library, "[unknown]") == 0)
		return false;
	/*
	 * The linker makes the jump stubs to other files' functions; the kernel is the same for
	 * both builds.
	 */
	return fg_text_ends_with(name, "@plt") || strcmp(name, "[kernel]") == 0 ||
	       function->library[0] == '[' || find(build, name).state == FG_COMPARED_SAME ||
	       fg_blame_is_same_library(series, function->library);
}

bool fg_same_code_takes_all_time(const struct fg_profile_set *set, const struct fg_series *series)
{
	const struct fg_build_facts *build = compared(series);
	struct sampled sampled;
	bool is_same;

	if (!build)
		return false;
	sampled = count_samples(set);
	is_same = sampled.all > 0 && sampled.of[0] <= NOWHERE_SHARE * sampled.all;
	for (size_t f = 1; f < set->function_count; f++)
		is_same &= !is_hot(&sampled, f) || is_same_code(series, build, &set->functions[f]);
	free(sampled.of);
	return is_same;
}

/* Counts the samples at or below each node of the call tree. The caller frees the array. */
static double *count_inclusive_samples(const struct fg_profile_set *set)
{
	const uint16_t time = fg_profile_set_time(set);
	double *samples = fg_xcalloc(set->node_count, sizeof(samples[0]));

	for (size_t r = 0; r < set->row_count; r++) {
		const struct fg_profile_row *row = &set->rows[r];

		for (uint32_t i = 0; row->measure == time && row->aside == 0 && i < row->count; i++)
			samples[row->nodes[i]] += row->samples[i];
	}
	for (size_t n = set->node_count - 1; n > 0; n--)
		samples[set->nodes[n].parent] += samples[n];
	return samples;
}

bool fg_same_code_has_changed_caller(const struct fg_profile_set *set,
				     const struct fg_series *series)
{
	const struct fg_build_facts *build = &series->build[FG_ARM_CANDIDATE];
	const char *changed = build->changed;
	double *samples = count_inclusive_samples(set);
	bool is_changed =
		changed &&
		fg_text_ends_with(changed, " ..."); /* the list was cut: assume the worst */

	for (size_t n = 1; changed && n < set->node_count && !is_changed; n++) {
		const char *name = linkage_of(&set->functions[set->nodes[n].function]);

		is_changed = samples[n] > 0 && samples[n] >= HOT_SHARE * samples[0] &&
			     (fg_text_has_word(changed, " ", name, strlen(name)) ||
			      find(build, name).state == FG_COMPARED_CHANGED);
	}
	free(samples);
	return is_changed;
}

/* Is the function's own machine code the same in both builds? Code that it calls may differ. */
static bool is_own_code_same(const struct fg_series *series, const struct fg_build_facts *build,
			     const struct fg_profile_function *function)
{
	return is_same_code(series, build, function) ||
	       find(build, linkage_of(function)).state == FG_COMPARED_REACHES_CHANGE;
}

size_t fg_same_code_only_changed(const struct fg_profile_set *set, const struct fg_series *series)
{
	const struct fg_build_facts *build = compared(series);
	const char *name = build ? only_changed(build) : NULL;
	const size_t function = name ? function_at(set, name) : 0;
	struct sampled sampled;
	bool is_only = false;

	if (function == 0)
		return 0;
	sampled = count_samples(set);
	is_only = is_hot(&sampled, function) && sampled.of[0] <= NOWHERE_SHARE * sampled.all;
	for (size_t f = 1; f < set->function_count && is_only; f++)
		is_only = f == function || !is_hot(&sampled, f) ||
			  is_own_code_same(series, build, &set->functions[f]);
	free(sampled.of);
	return is_only ? function : 0;
}

struct fg_code_fact *fg_same_code_facts(const struct fg_profile_set *set,
					const struct fg_series *series)
{
	const struct fg_build_facts *build = compared(series);
	struct fg_code_fact *facts = NULL;

	if (!build)
		return NULL;
	facts = fg_xcalloc(set->function_count + 1, sizeof(facts[0]));
	for (size_t f = 1; f < set->function_count; f++)
		facts[f] = find(build, linkage_of(&set->functions[f]));
	return facts;
}

void fg_same_code_note(const struct fg_profile_set *set, const struct fg_series *series,
		       bool total_changed, struct fg_arena *arena,
		       struct fg_benchmark_verdict *verdict)
{
	const size_t only = total_changed ? fg_same_code_only_changed(set, series) : 0;
	const struct fg_build_facts *build = compared(series);

	if (!build)
		return;
	for (size_t i = 0; i < verdict->time.function_count; i++) {
		const struct fg_node_verdict *node = &verdict->time.functions[i];
		const uint32_t function = fg_profile_set_find(set, node->name, node->library);
		struct fg_code_fact fact;

		if (function == UINT32_MAX || !fg_standing_is_sure(node->standing))
			continue;
		fact = find(build, linkage_of(&set->functions[function]));
		if (fact.state == FG_COMPARED_SAME || fact.state == FG_COMPARED_REACHES_CHANGE)
			add_note(node, &fact, arena, verdict);
	}
	if (only && !has_guilty_function(&verdict->time))
		verdict->only_changed = fg_arena_strdup(arena, set->functions[only].name);
}
