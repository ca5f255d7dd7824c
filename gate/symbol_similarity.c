// SPDX-License-Identifier: Apache-2.0
#include "gate/symbol_similarity.h"

#include "base/map.h"
#include "base/text.h"

#include <ctype.h>

/* Minimum length of the common start and end together, in percent of the longer name. */
#define SIMILAR_PERCENT 70

/* Skips the brackets that open at `at`; returns the end of the name if they are not closed. */
static const char *skip_brackets(const char *at)
{
	const char open = *at;
	const char close = open == '<' ? '>' : ')';
	size_t depth = 0;

	for (; *at; at++) {
		depth += *at == open;
		if (*at == close && --depth == 0)
			return at + 1;
	}
	return at;
}

/* Returns the length of an inline namespace that names a version, such as "v11::", or 0. */
static size_t version_length(const char *at)
{
	size_t length = 1;

	if (*at != 'v' || !isdigit((unsigned char)at[1]))
		return 0;
	while (isdigit((unsigned char)at[length]))
		length++;
	return fg_text_starts_with(at + length, "::") ? length + 2 : 0;
}

/*
 * Turns "void fmt::v11::write<char>(int) [clone .part.0]" into "fmt::write", or with template
 * arguments into "fmt::write<char>".
 */
static char *plain_name(const char *name, bool with_arguments)
{
	struct fg_strbuf plain = {0};
	const char *at = name;

	/* '<' and '>' in operator names are not brackets. */
	if (strstr(name, "operator"))
		return fg_xstrdup(name);
	while (*at && *at != '.' && *at != '@' && *at != '[') {
		const bool starts = plain.length == 0 || plain.data[plain.length - 1] == ':';

		if (*at == '<' || *at == '(') {
			const bool parameters = *at == '(' && !starts;
			const char *end = skip_brackets(at);

			if (*at == '<' && with_arguments)
				fg_strbuf_add(&plain, at, (size_t)(end - at));
			at = end;
			if (parameters && !fg_text_starts_with(at, "::"))
				break;
		} else if (*at == ' ') {
			fg_strbuf_clear(&plain); /* the text so far was the return type */
			at++;
		} else if (starts && version_length(at) > 0) {
			at += version_length(at);
		} else {
			fg_strbuf_add_char(&plain, *at++);
		}
	}
	return fg_strbuf_detach(&plain);
}

bool fg_symbols_have_same_name(const char *a, const char *b)
{
	char *left = plain_name(a, false);
	char *right = plain_name(b, false);
	const bool same = *left && strcmp(left, right) == 0;

	free(left);
	free(right);
	return same;
}

static bool are_similar(const char *a, const char *b)
{
	const size_t shorter = fg_min_size(strlen(a), strlen(b));
	const size_t longer = strlen(a) + strlen(b) - shorter;
	size_t head = 0;
	size_t tail = 0;

	while (head < shorter && a[head] == b[head])
		head++;
	while (tail < shorter - head && a[strlen(a) - 1 - tail] == b[strlen(b) - 1 - tail])
		tail++;
	return (head + tail) * 100 >= SIMILAR_PERCENT * longer;
}

/* Returns the length of the namespaces and classes before the name. */
static size_t scope_length(const char *name)
{
	const char *last = strrchr(name, ':');

	return last ? (size_t)(last + 1 - name) : 0;
}

bool fg_symbols_have_similar_names(const char *a, const char *b)
{
	char *left = plain_name(a, false);
	char *right = plain_name(b, false);
	const size_t scope = scope_length(left);
	const bool similar = scope == scope_length(right) && strncmp(left, right, scope) == 0 &&
			     are_similar(left + scope, right + scope);

	free(left);
	free(right);
	return similar;
}

bool fg_symbols_are_relinked(const struct fg_profile_function *a,
			     const struct fg_profile_function *b)
{
	return a->library && b->library && strcmp(a->library, b->library) != 0 &&
	       fg_symbols_have_same_name(a->name, b->name);
}

uint32_t *fg_symbols_rows(const struct fg_profile_set *set)
{
	uint32_t *rows = fg_xcalloc(set->function_count + 1, sizeof(rows[0]));
	struct fg_map places = {0};

	for (uint32_t f = 0; f < set->function_count; f++) {
		const struct fg_profile_function *function = &set->functions[f];
		char *plain = NULL;
		char *place = NULL;

		rows[f] = f;
		if (f == 0 || !function->file || function->line == 0)
			continue;
		plain = plain_name(function->name, true);
		place = fg_xasprintf("%s:%s:%u:%s", function->library ? function->library : "",
				     function->file, function->line, plain);
		rows[f] = (uint32_t)*fg_map_add_text(&places, place, f, NULL);
		free(place);
		free(plain);
	}
	fg_map_release(&places);
	return rows;
}
