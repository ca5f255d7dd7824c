// SPDX-License-Identifier: Apache-2.0
#include "gate/same_code.h"

enum {
	LINE = 64
};

enum code_state {
	CODE_UNKNOWN,
	CODE_SAME,
	CODE_REACHES_CHANGE,
	CODE_CHANGED,
};

struct code_fact {
	enum code_state state;
	unsigned offset[FG_ARM_COUNT]; /* within a page */
};

/* "16:48:s" */
static struct code_fact parse(const char *text)
{
	struct code_fact fact = {0};
	const char *at = text;

	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		char *end = NULL;

		fact.offset[arm] = (unsigned)strtoul(at, &end, 10);
		if (end == at || *end != ':')
			return (struct code_fact){0};
		at = end + 1;
	}
	fact.state = *at == 's'   ? CODE_SAME
		     : *at == 'r' ? CODE_REACHES_CHANGE
		     : *at == 'c' ? CODE_CHANGED
				  : CODE_UNKNOWN;
	return fact;
}

/* The value of "NAME=VALUE" among words. */
static struct code_fact find(const char *words, const char *name)
{
	const size_t length = strlen(name);

	for (const char *at = words; *at; at += strspn(at, " ")) {
		if (strncmp(at, name, length) == 0 && at[length] == '=')
			return parse(at + length + 1);
		at += strcspn(at, " ");
	}
	return (struct code_fact){0};
}

static struct code_fact fact_of(const struct fg_profile_set *set, const char *words,
				const struct fg_node_verdict *node)
{
	for (size_t f = 1; f < set->function_count; f++) {
		const struct fg_profile_function *function = &set->functions[f];

		if (strcmp(function->name, node->name) == 0 &&
		    strcmp(function->library ? function->library : "",
			   node->library ? node->library : "") == 0)
			return find(words, function->linkage ? function->linkage : function->name);
	}
	return (struct code_fact){0};
}

static void add_note(const struct fg_node_verdict *node, const struct code_fact *fact,
		     struct fg_arena *arena, struct fg_benchmark_verdict *verdict)
{
	const unsigned *offset = fact->offset;
	const char *what = fact->state == CODE_SAME
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

/* The one function among `words` whose code changed, "NAME=…"; NULL: there is none, or more. */
static const char *only_changed(const char *words)
{
	const char *only = NULL;

	for (const char *at = words; *at; at += strspn(at, " ")) {
		const char *end = at + strcspn(at, " ");
		const char *value = memchr(at, '=', (size_t)(end - at));

		if (value && parse(value + 1).state == CODE_CHANGED) {
			if (only)
				return NULL;
			only = at;
		}
		at = end;
	}
	return only;
}

static bool has_sure_function(const struct fg_blame *blame)
{
	for (size_t i = 0; i < blame->function_count; i++) {
		if (fg_standing_is_sure(blame->functions[i].standing))
			return true;
	}
	return false;
}

/* As people read it, of the linkage name at the start of "NAME=…". */
static const char *readable(const struct fg_profile_set *set, const char *word,
			    struct fg_arena *arena)
{
	const char *linkage = fg_arena_strndup(arena, word, strcspn(word, "="));

	for (size_t f = 1; f < set->function_count; f++) {
		if (set->functions[f].linkage && strcmp(set->functions[f].linkage, linkage) == 0)
			return set->functions[f].name;
	}
	return linkage;
}

/* What samples are too few to tell may follow from the code. */
static void note_only_changed(const struct fg_profile_set *set, const char *words,
			      struct fg_arena *arena, struct fg_benchmark_verdict *verdict)
{
	const char *only = only_changed(words);

	if (!only || has_sure_function(&verdict->time))
		return;
	fg_notes_add(&verdict->notes, arena,
		     "%s is the only one of the hot functions whose machine code changed",
		     readable(set, only, arena));
}

void fg_same_code_settle(const struct fg_profile_set *set, const struct fg_series *series,
			 bool whole_changed, struct fg_arena *arena,
			 struct fg_benchmark_verdict *verdict)
{
	const char *words = fg_environment_get(&series->build[FG_ARM_CANDIDATE], "build.functions");
	struct code_fact *facts = NULL;
	bool is_explained = false;

	if (!words)
		return;
	facts = fg_xcalloc(verdict->time.function_count + 1, sizeof(facts[0]));
	for (size_t i = 0; i < verdict->time.function_count; i++) {
		const struct fg_node_verdict *node = &verdict->time.functions[i];

		if (!fg_standing_is_sure(node->standing))
			continue;
		facts[i] = fact_of(set, words, node);
		is_explained |=
			node->standing == FG_STANDING_GUILTY &&
			(facts[i].state == CODE_CHANGED || facts[i].state == CODE_REACHES_CHANGE);
		if (facts[i].state == CODE_SAME || facts[i].state == CODE_REACHES_CHANGE)
			add_note(node, &facts[i], arena, verdict);
	}
	for (size_t i = 0; is_explained && i < verdict->time.function_count; i++) {
		struct fg_node_verdict *node = &verdict->time.functions[i];

		if (node->standing != FG_STANDING_GUILTY || facts[i].state != CODE_SAME)
			continue;
		node->standing = FG_STANDING_SAME_CODE;
		node->outcome = FG_OUTCOME_INCONCLUSIVE;
	}
	if (whole_changed)
		note_only_changed(set, words, arena, verdict);
	free(facts);
}
