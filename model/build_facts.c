// SPDX-License-Identifier: Apache-2.0
#include "model/build_facts.h"

#include "base/strbuf.h"
#include "base/text.h"

#include <stddef.h>

static const struct {
	const char *key;
	size_t offset;
} fields[] = {
	{"build.changed", offsetof(struct fg_build_facts, changed)},
	{"build.code", offsetof(struct fg_build_facts, code)},
	{"build.comment", offsetof(struct fg_build_facts, comment)},
	{"build.compiler", offsetof(struct fg_build_facts, compiler)},
	{"build.debug_info", offsetof(struct fg_build_facts, debug_info)},
	{"build.flags", offsetof(struct fg_build_facts, flags)},
	{"build.id", offsetof(struct fg_build_facts, id)},
	{"build.inputs", offsetof(struct fg_build_facts, inputs)},
	{"build.layout", offsetof(struct fg_build_facts, layout)},
	{"build.linking", offsetof(struct fg_build_facts, linking)},
	{"build.mapped", offsetof(struct fg_build_facts, mapped)},
	{"build.modules", offsetof(struct fg_build_facts, modules)},
	{"build.optimisation", offsetof(struct fg_build_facts, optimisation)},
	{"build.producers", offsetof(struct fg_build_facts, producers)},
	{"build.program", offsetof(struct fg_build_facts, program)},
	{"build.setup", offsetof(struct fg_build_facts, setup)},
	{"build.shared_libraries", offsetof(struct fg_build_facts, shared_libraries)},
	{"build.size", offsetof(struct fg_build_facts, size)},
};

/* Keys of a library's facts end with its name: "build.code.libown.so". */
static const struct {
	const char *prefix;
	size_t offset;
} library_fields[] = {
	{"build.code.", offsetof(struct fg_build_library, code)},
	{"build.layout.", offsetof(struct fg_build_library, layout)},
	{"build.library.", offsetof(struct fg_build_library, identity)},
	{"build.place.", offsetof(struct fg_build_library, place)},
};

static const char own_prefix[] = "build.own.";
static const char functions_key[] = "build.functions";
static const char state_letters[] = {
	[FG_COMPARED_SAME] = 's', [FG_COMPARED_REACHES_CHANGE] = 'r', [FG_COMPARED_CHANGED] = 'c'};

static char **text_at(const void *object, size_t offset)
{
	return (char **)(void *)((char *)(uintptr_t)object + offset);
}

void fg_build_facts_put(char **field, const char *value)
{
	char *copy = fg_xstrdup(value);

	free(*field);
	*field = copy;
}

bool fg_fact_is_equal(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

/* ---- functions ---- */

/*
 * The text has one word per function, "NAME=BEFORE:AFTER:STATE". BEFORE and AFTER are the offsets
 * within a page. If the code's form differs, four numbers follow, the vector instructions and then
 * the tail calls of both sides: "NAME=BEFORE:AFTER:STATE:8:0:1:0".
 */

void fg_build_facts_add_function(struct fg_build_facts *build,
				 const struct fg_build_function *function)
{
	struct fg_build_function own = *function;

	own.name = fg_xstrdup(function->name);
	FG_APPEND(build->functions, build->function_count, build->function_capacity) = own;
}

static void parse_form(const char *text, struct fg_code_form form[2])
{
	unsigned *const numbers[] = {&form[0].vectors, &form[1].vectors, &form[0].tail_calls,
				     &form[1].tail_calls};

	for (size_t i = 0; i < FG_ARRAY_SIZE(numbers) && *text == ':'; i++) {
		char *end = NULL;

		*numbers[i] = (unsigned)strtoul(text + 1, &end, 10);
		text = end;
	}
}

/* Parses "16:48:s", the part after '='. */
static bool parse_function(const char *text, struct fg_build_function *function)
{
	const char *letter = NULL;

	for (size_t arm = 0; arm < FG_ARRAY_SIZE(function->offset); arm++) {
		char *end = NULL;

		function->offset[arm] = (unsigned)strtoul(text, &end, 10);
		if (end == text || *end != ':')
			return false;
		text = end + 1;
	}
	letter = *text ? memchr(state_letters, *text, sizeof(state_letters)) : NULL;
	function->state = letter ? (enum fg_compared)(letter - state_letters) : FG_COMPARED_UNKNOWN;
	if (letter)
		parse_form(text + 1, function->form);
	return letter != NULL;
}

void fg_build_facts_forget_functions(struct fg_build_facts *build)
{
	for (size_t i = 0; i < build->function_count; i++)
		free(build->functions[i].name);
	build->function_count = 0;
}

static void set_functions(struct fg_build_facts *build, const char *words)
{
	fg_build_facts_forget_functions(build);
	for (const char *at = words; *at; at += strspn(at, " ")) {
		const size_t length = strcspn(at, " ");
		const char *value = memchr(at, '=', length);
		struct fg_build_function function = {0};

		if (value && parse_function(value + 1, &function)) {
			function.name = fg_xstrndup(at, (size_t)(value - at));
			fg_build_facts_add_function(build, &function);
			free(function.name);
		}
		at += length;
	}
}

static void list_functions(const struct fg_build_facts *build, struct fg_environment *facts)
{
	struct fg_strbuf text = {0};

	for (size_t i = 0; i < build->function_count; i++) {
		const struct fg_build_function *f = &build->functions[i];

		fg_strbuf_printf(&text, "%s%s=%u:%u:%c", i ? " " : "", f->name, f->offset[0],
				 f->offset[1], state_letters[f->state]);
		if (memcmp(&f->form[0], &f->form[1], sizeof(f->form[0])) != 0)
			fg_strbuf_printf(&text, ":%u:%u:%u:%u", f->form[0].vectors,
					 f->form[1].vectors, f->form[0].tail_calls,
					 f->form[1].tail_calls);
	}
	if (build->function_count)
		fg_environment_set(facts, functions_key, fg_strbuf_text(&text), false);
	fg_strbuf_release(&text);
}

/* ---- libraries ---- */

/* Returns the library's index, or its insertion point. */
static size_t find_library(const struct fg_build_facts *build, const char *name)
{
	size_t at = 0;

	while (at < build->library_count && strcmp(build->libraries[at].name, name) < 0)
		at++;
	return at;
}

const struct fg_build_library *fg_build_facts_library(const struct fg_build_facts *build,
						      const char *name)
{
	const size_t at = find_library(build, name);

	return at < build->library_count && strcmp(build->libraries[at].name, name) == 0
		       ? &build->libraries[at]
		       : NULL;
}

struct fg_build_library *fg_build_facts_add_library(struct fg_build_facts *build, const char *name)
{
	const size_t at = find_library(build, name);

	if (!fg_build_facts_library(build, name)) {
		build->libraries = fg_grow(build->libraries, &build->library_capacity,
					   build->library_count + 1, sizeof(build->libraries[0]));
		memmove(&build->libraries[at + 1], &build->libraries[at],
			(build->library_count++ - at) * sizeof(build->libraries[0]));
		build->libraries[at] = (struct fg_build_library){.name = fg_xstrdup(name)};
	}
	return &build->libraries[at];
}

bool fg_library_has_id(const struct fg_build_library *library)
{
	return library->identity && !strchr(library->identity, ' ') &&
	       strcmp(library->identity, "unreadable") != 0;
}

static void list_library(const struct fg_build_library *library, struct fg_environment *facts)
{
	char *key = NULL;

	for (size_t i = 0; i < FG_ARRAY_SIZE(library_fields); i++) {
		const char *value = *text_at(library, library_fields[i].offset);

		if (!value)
			continue;
		key = fg_xasprintf("%s%s", library_fields[i].prefix, library->name);
		fg_environment_set(facts, key, value, false);
		free(key);
	}
	if (!library->is_own)
		return;
	key = fg_xasprintf("%s%s", own_prefix, library->name);
	fg_environment_set(facts, key, "yes", false);
	free(key);
}

bool fg_library_pair_next(struct fg_library_pair *pair)
{
	const struct fg_build_library *at[2] = {NULL, NULL};
	int order = 0;

	for (size_t i = 0; i < 2; i++) {
		if (pair->next[i] < pair->builds[i]->library_count)
			at[i] = &pair->builds[i]->libraries[pair->next[i]];
	}
	order = !at[0] ? 1 : !at[1] ? -1 : strcmp(at[0]->name, at[1]->name);
	pair->sides[0] = order <= 0 ? at[0] : NULL;
	pair->sides[1] = order >= 0 ? at[1] : NULL;
	for (size_t i = 0; i < 2; i++)
		pair->next[i] += pair->sides[i] != NULL;
	return pair->sides[0] || pair->sides[1];
}

const char *fg_library_pair_name(const struct fg_library_pair *pair)
{
	return pair->sides[0] ? pair->sides[0]->name : pair->sides[1]->name;
}

bool fg_library_pair_is_same(const struct fg_library_pair *pair)
{
	return pair->sides[0] && pair->sides[1] &&
	       fg_fact_is_equal(pair->sides[0]->identity, pair->sides[1]->identity);
}

/* ---- all facts ---- */

void fg_build_facts_set(struct fg_build_facts *build, const char *key, const char *value)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(fields); i++) {
		if (strcmp(key, fields[i].key) == 0) {
			fg_build_facts_put(text_at(build, fields[i].offset), value);
			return;
		}
	}
	for (size_t i = 0; i < FG_ARRAY_SIZE(library_fields); i++) {
		const size_t length = strlen(library_fields[i].prefix);

		if (fg_text_starts_with(key, library_fields[i].prefix)) {
			fg_build_facts_put(text_at(fg_build_facts_add_library(build, key + length),
						   library_fields[i].offset),
					   value);
			return;
		}
	}
	if (fg_text_starts_with(key, own_prefix))
		fg_build_facts_add_library(build, key + strlen(own_prefix))->is_own = true;
	else if (strcmp(key, functions_key) == 0)
		set_functions(build, value);
	else
		fg_environment_set(&build->other, key, value, false);
}

void fg_build_facts_list(const struct fg_build_facts *build, struct fg_environment *facts)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(fields); i++) {
		const char *value = *text_at(build, fields[i].offset);

		if (value)
			fg_environment_set(facts, fields[i].key, value, false);
	}
	list_functions(build, facts);
	for (size_t i = 0; i < build->library_count; i++)
		list_library(&build->libraries[i], facts);
	fg_environment_copy(facts, &build->other);
}

size_t fg_build_facts_count(const struct fg_build_facts *build)
{
	struct fg_environment facts = {0};
	size_t count = 0;

	fg_build_facts_list(build, &facts);
	count = facts.count;
	fg_environment_release(&facts);
	return count;
}

void fg_build_facts_copy(struct fg_build_facts *to, const struct fg_build_facts *from)
{
	struct fg_environment facts = {0};

	fg_build_facts_list(from, &facts);
	for (size_t i = 0; i < facts.count; i++)
		fg_build_facts_set(to, facts.facts[i].key, facts.facts[i].value);
	fg_environment_release(&facts);
}

void fg_build_facts_release(struct fg_build_facts *build)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(fields); i++)
		free(*text_at(build, fields[i].offset));
	for (size_t i = 0; i < build->library_count; i++) {
		free(build->libraries[i].name);
		for (size_t k = 0; k < FG_ARRAY_SIZE(library_fields); k++)
			free(*text_at(&build->libraries[i], library_fields[k].offset));
	}
	free(build->libraries);
	fg_build_facts_forget_functions(build);
	free(build->functions);
	fg_environment_release(&build->other);
	*build = (struct fg_build_facts){0};
}
