// SPDX-License-Identifier: Apache-2.0
#include "gate/same_code.h"

#include "base/text.h"
#include "gate/blame.h"

enum {
	LINE = 64
};

/* Functions below this share of the samples are noise. */
#define HOT_SHARE 0.005
/* With more samples without a stack, the time cannot be assigned. */
#define NOWHERE_SHARE 0.05

/* "16:48:s" */
static struct fg_code_fact parse(const char *text)
{
	struct fg_code_fact fact = {0};
	const char *at = text;

	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		char *end = NULL;

		fact.offset[arm] = (unsigned)strtoul(at, &end, 10);
		if (end == at || *end != ':')
			return (struct fg_code_fact){0};
		at = end + 1;
	}
	fact.state = *at == 's'   ? FG_CODE_SAME
		     : *at == 'r' ? FG_CODE_REACHES_CHANGE
		     : *at == 'c' ? FG_CODE_CHANGED
				  : FG_CODE_UNKNOWN;
	return fact;
}

/* The value of "NAME=VALUE" among words. */
static struct fg_code_fact find(const char *words, const char *name)
{
	const size_t length = strlen(name);

	for (const char *at = words; *at; at += strspn(at, " ")) {
		if (strncmp(at, name, length) == 0 && at[length] == '=')
			return parse(at + length + 1);
		at += strcspn(at, " ");
	}
	return (struct fg_code_fact){0};
}

/* The name as the linker and the fact know it. */
static const char *linkage_of(const struct fg_profile_function *function)
{
	return function->linkage ? function->linkage : function->name;
}

static struct fg_code_fact fact_of(const struct fg_profile_set *set, const char *words,
				   const struct fg_node_verdict *node)
{
	for (size_t f = 1; f < set->function_count; f++) {
		const struct fg_profile_function *function = &set->functions[f];

		if (strcmp(function->name, node->name) == 0 &&
		    strcmp(function->library, node->library) == 0)
			return find(words, linkage_of(function));
	}
	return (struct fg_code_fact){0};
}

static void add_note(const struct fg_node_verdict *node, const struct fg_code_fact *fact,
		     struct fg_arena *arena, struct fg_benchmark_verdict *verdict)
{
	const unsigned *offset = fact->offset;
	const char *what = fact->state == FG_CODE_SAME
				   ? "machine code unchanged, as is all it calls"
				   : "its own machine code is unchanged, but not all that it calls";

	if (offset[0] == offset[1])
		fg_notes_add(&verdict->notes, arena, "%s: %s; at +%u mod 4096 on both sides",
			     node->name, what, offset[0]);
	else
		fg_notes_add(&verdict->notes, arena,
			     "%s: %s; at +%u mod 64 → +%u mod 64 (mod 4096: +%u → +%u)", node->name,
			     what, offset[0] % LINE, offset[1] % LINE, offset[0], offset[1]);
}

/* The one function among `words` whose code changed, "NAME=…"; NULL: none, or more. */
static const char *only_changed(const char *words)
{
	const char *only = NULL;

	for (const char *at = words; *at; at += strspn(at, " ")) {
		const char *end = at + strcspn(at, " ");
		const char *value = memchr(at, '=', (size_t)(end - at));

		if (value && parse(value + 1).state == FG_CODE_CHANGED) {
			if (only)
				return NULL;
			only = at;
		}
		at = end;
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

/* Samples by function; `of` is to be freed. */
struct sampled {
	double *of; /* each function */
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

/* The function at the start of "NAME=…"; 0: it was not seen. */
static size_t function_at(const struct fg_profile_set *set, const char *word)
{
	const size_t length = strcspn(word, "=");

	for (size_t f = 1; f < set->function_count; f++) {
		const char *name = linkage_of(&set->functions[f]);

		if (strlen(name) == length && strncmp(name, word, length) == 0)
			return f;
	}
	return 0;
}

static bool is_same_code(const struct fg_series *series, const char *words,
			 const struct fg_profile_function *function)
{
	const char *name = linkage_of(function);

	if (fg_blame_is_generated(function->library) || strcmp(function->library, "[unknown]") == 0)
		return false;
	/*
	 * The linker resolves a jump to another file's function; the kernel is the same for both.
	 */
	return fg_text_ends_with(name, "@plt") || strcmp(name, "[kernel]") == 0 ||
	       function->library[0] == '[' || find(words, name).state == FG_CODE_SAME ||
	       fg_blame_is_same_library(series, function->library);
}

bool fg_same_code_takes_all_time(const struct fg_profile_set *set, const struct fg_series *series)
{
	const char *words = fg_environment_get(&series->build[FG_ARM_CANDIDATE], "build.functions");
	struct sampled sampled;
	bool is_same;

	if (!words)
		return false;
	sampled = count_samples(set);
	is_same = sampled.all > 0 && sampled.of[0] <= NOWHERE_SHARE * sampled.all;
	for (size_t f = 1; f < set->function_count; f++)
		is_same &= !is_hot(&sampled, f) || is_same_code(series, words, &set->functions[f]);
	free(sampled.of);
	return is_same;
}

/* Its machine code equals the baseline's; it may call other code. */
static bool is_own_code_same(const struct fg_series *series, const char *words,
			     const struct fg_profile_function *function)
{
	return is_same_code(series, words, function) ||
	       find(words, linkage_of(function)).state == FG_CODE_REACHES_CHANGE;
}

size_t fg_same_code_only_changed(const struct fg_profile_set *set, const struct fg_series *series)
{
	const char *words = fg_environment_get(&series->build[FG_ARM_CANDIDATE], "build.functions");
	const char *word = words ? only_changed(words) : NULL;
	const size_t function = word ? function_at(set, word) : 0;
	struct sampled sampled;
	bool is_only = false;

	if (function == 0)
		return 0;
	sampled = count_samples(set);
	is_only = is_hot(&sampled, function) && sampled.of[0] <= NOWHERE_SHARE * sampled.all;
	for (size_t f = 1; f < set->function_count && is_only; f++)
		is_only = f == function || !is_hot(&sampled, f) ||
			  is_own_code_same(series, words, &set->functions[f]);
	free(sampled.of);
	return is_only ? function : 0;
}

struct fg_code_fact *fg_same_code_facts(const struct fg_profile_set *set,
					const struct fg_series *series)
{
	const char *words = fg_environment_get(&series->build[FG_ARM_CANDIDATE], "build.functions");
	struct fg_code_fact *facts = NULL;

	if (!words)
		return NULL;
	facts = fg_xcalloc(set->function_count + 1, sizeof(facts[0]));
	for (size_t f = 1; f < set->function_count; f++)
		facts[f] = find(words, linkage_of(&set->functions[f]));
	return facts;
}

void fg_same_code_note(const struct fg_profile_set *set, const struct fg_series *series,
		       bool whole_changed, struct fg_arena *arena,
		       struct fg_benchmark_verdict *verdict)
{
	const size_t only = whole_changed ? fg_same_code_only_changed(set, series) : 0;
	const char *words = fg_environment_get(&series->build[FG_ARM_CANDIDATE], "build.functions");

	if (!words)
		return;
	for (size_t i = 0; i < verdict->time.function_count; i++) {
		const struct fg_node_verdict *node = &verdict->time.functions[i];
		const struct fg_code_fact fact = fact_of(set, words, node);

		if (fg_standing_is_sure(node->standing) &&
		    (fact.state == FG_CODE_SAME || fact.state == FG_CODE_REACHES_CHANGE))
			add_note(node, &fact, arena, verdict);
	}
	if (only && !has_guilty_function(&verdict->time))
		verdict->only_changed = fg_arena_strdup(arena, set->functions[only].name);
}
