// SPDX-License-Identifier: Apache-2.0
/*
 * Names are matched as people write them: "Parser::parse" stands for every overload.  Symbols of
 * C++ are read as far as that takes: scopes and the name, template arguments skipped.
 */
#include "collector/domains.h"

#include <string.h>

struct fg_call_pattern fg_call_patterns[FG_CALL_PATTERNS_MAX];
uint32_t fg_call_pattern_count;

/* ---- reading symbols ---- */

struct output {
	char *at;
	char *end; /* the NUL has room after it */
};

static bool put(struct output *out, const char *text, size_t size)
{
	if (size > (size_t)(out->end - out->at))
		return false;
	memcpy(out->at, text, size);
	out->at += size;
	return true;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A source name: decimal length, then that many characters. NULL: malformed. */
static const char *take_source_name(const char **at, size_t *size)
{
	const char *text = *at;
	size_t length = 0;

	while (is_digit(*text) && length < FG_CALL_NAME_MAX)
		length = 10 * length + (size_t)(*text++ - '0');
	if (length == 0 || strnlen(text, length) < length)
		return NULL;
	*at = text + length;
	*size = length;
	return text;
}

static const char *skip_source_name(const char *at)
{
	size_t size = 0;

	return take_source_name(&at, &size) ? at : NULL;
}

/* Behind S_, S0_, St, T_, T0_. */
static const char *skip_substitution(const char *at)
{
	const bool is_short = at[0] == 'S' && at[1] >= 'a' && at[1] <= 'z';

	if (is_short)
		return at + 2;
	at = strchr(at, '_');
	return at ? at + 1 : NULL;
}

/* Behind a literal: its type, then digits up to E. */
static const char *skip_literal(const char *at)
{
	at++;
	if (*at == '_')
		return NULL; /* the address of a function: not worth it */
	if (is_digit(*at))
		at = skip_source_name(at);
	else if (*at == 'N')
		at = strchr(at, 'E') ? strchr(at, 'E') + 1 : NULL;
	else if (*at)
		at++;
	at = at ? strchr(at, 'E') : NULL;
	return at ? at + 1 : NULL;
}

/* Behind template arguments, from their I to their E. */
static const char *skip_arguments(const char *at)
{
	unsigned depth = 0;

	while (at && *at) {
		if (is_digit(*at)) {
			at = skip_source_name(at);
		} else if (*at == 'L') {
			at = skip_literal(at);
		} else if (*at == 'S' || *at == 'T') {
			at = skip_substitution(at);
		} else if (*at == 'D') {
			at = at[1] ? at + 2 : NULL;
		} else if (*at == 'E') {
			at++;
			if (--depth == 0)
				return at;
		} else {
			depth += strchr("INXJF", *at) != NULL;
			at++;
		}
	}
	return NULL;
}

/* Constructors and destructors repeat the name of their class. */
static bool put_special(struct output *out, const char *last, size_t last_size, bool destructor)
{
	return last && put(out, "::~", destructor ? 3 : 2) && put(out, last, last_size);
}

/* One component of a name; NULL: it is of a kind that is not read. */
static const char *read_component(struct output *out, const char *at, const char **last,
				  size_t *last_size, bool is_first)
{
	if (*at == 'L')
		at++; /* internal linkage */
	if (is_digit(*at)) {
		*last = take_source_name(&at, last_size);
		return *last && (is_first || put(out, "::", 2)) && put(out, *last, *last_size)
			       ? at
			       : NULL;
	}
	if (is_first && at[0] == 'S' && at[1] == 't')
		return put(out, "std", 3) ? at + 2 : NULL;
	if ((*at == 'C' || *at == 'D') && at[1] >= '0' && at[1] <= '5')
		return put_special(out, *last, *last_size, *at == 'D') ? at + 2 : NULL;
	if (at[0] >= 'a' && at[0] <= 'z' && at[1] >= 'a' && at[1] <= 'z')
		return (is_first || put(out, "::", 2)) && put(out, "operator", 8) ? at + 2 : NULL;
	return NULL;
}

static bool read_name(struct output *out, const char *at)
{
	const bool is_nested = *at == 'N';
	const char *last = NULL;
	size_t last_size = 0;
	bool is_first = true;

	at += is_nested;
	while (is_nested && (*at == 'K' || *at == 'V' || *at == 'r' || *at == 'R' || *at == 'O'))
		at++;
	while (at && *at && *at != 'E') {
		const bool is_std = is_first && at[0] == 'S' && at[1] == 't';

		if (*at == 'I')
			at = skip_arguments(at);
		else if (*at == 'B')
			at = skip_source_name(at + 1); /* an ABI tag */
		else
			at = read_component(out, at, &last, &last_size, is_first);
		is_first = false;
		if (!is_nested && !is_std)
			break;
	}
	return at != NULL;
}

static void make_readable(const char *symbol, char readable[FG_CALL_NAME_MAX])
{
	struct output out = {.at = readable, .end = readable + FG_CALL_NAME_MAX - 1};

	if (strncmp(symbol, "_Z", 2) != 0 || !read_name(&out, symbol + 2) || out.at == readable) {
		out.at = readable;
		(void)put(&out, symbol, strnlen(symbol, FG_CALL_NAME_MAX - 1));
	}
	*out.at = '\0';
}

/* ---- patterns ---- */

/* `*` stands for any text, `?` for a character. */
static bool matches(const char *pattern, const char *text)
{
	const char *star = NULL;
	const char *from = text;

	while (*text) {
		if (*pattern == '*') {
			star = ++pattern;
			from = text;
		} else if (*pattern == *text || *pattern == '?') {
			pattern++;
			text++;
		} else if (star) {
			pattern = star;
			text = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

static bool copy(char *to, size_t room, const char *text, size_t size)
{
	if (size >= room)
		return false;
	memcpy(to, text, size);
	return true;
}

/* The part of an item from `from` on that ends at `@`, `=` or its end. */
static size_t part_size(const char *item, size_t size, size_t from)
{
	size_t at = from;

	while (at < size && item[at] != '@' && item[at] != '=')
		at++;
	return at - from;
}

/* NAME, then @LIBRARY and =SIGNATURE in any order. */
static bool read_pattern(const char *item, size_t size, struct fg_call_pattern *pattern)
{
	size_t at = part_size(item, size, 0);

	if (at == 0 || !copy(pattern->text, sizeof(pattern->text), item, at))
		return false;
	while (at < size) {
		const bool is_library = item[at] == '@';
		const size_t part = part_size(item, size, at + 1);

		if (!copy(is_library ? pattern->library : pattern->signature,
			  is_library ? sizeof(pattern->library) : sizeof(pattern->signature),
			  item + at + 1, part))
			return false;
		at += 1 + part;
	}
	pattern->is_exact = !strchr(pattern->text, '*') && !strchr(pattern->text, '?');
	return true;
}

static bool add_pattern(const char *item, size_t size, bool with_domains)
{
	struct fg_call_pattern *pattern = &fg_call_patterns[fg_call_pattern_count];

	if (size == 0)
		return true;
	if (fg_call_pattern_count == FG_CALL_PATTERNS_MAX)
		return false;
	*pattern = (struct fg_call_pattern){.with_domains = with_domains};
	if (!read_pattern(item, size, pattern))
		return false;
	fg_call_pattern_count++;
	return true;
}

/* Every function of libm with a known signature. */
static bool add_libm(void)
{
	static const char *const items[] = {"*@libm", "*@libmvec"};
	bool all = true;

	for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++) {
		all &= add_pattern(items[i], strlen(items[i]), true);
		fg_call_patterns[fg_call_pattern_count - 1].only_known = true;
	}
	return all;
}

/* Up to the next comma outside of brackets. */
static size_t item_size(const char *list)
{
	size_t size = 0;
	unsigned depth = 0;

	for (; list[size] && (list[size] != ',' || depth > 0); size++) {
		depth += list[size] == '(';
		depth -= depth > 0 && list[size] == ')';
	}
	return size;
}

bool fg_call_patterns_add(const char *list, bool with_domains)
{
	bool all = true;

	while (*list) {
		const size_t size = item_size(list);

		if (with_domains && size == 4 && strncmp(list, "libm", size) == 0)
			all &= add_libm();
		else
			all &= add_pattern(list, size, with_domains);
		list += size + (list[size] == ',');
	}
	return all;
}

static bool means(const struct fg_call_pattern *pattern, const char *readable)
{
	struct fg_signature signature;

	return matches(pattern->text, readable) &&
	       (!pattern->only_known || fg_signature_find(readable, &signature));
}

bool fg_call_is_wanted(const char *symbol, char readable[FG_CALL_NAME_MAX])
{
	make_readable(symbol, readable);
	for (uint32_t i = 0; i < fg_call_pattern_count; i++)
		if (means(&fg_call_patterns[i], readable))
			return true;
	return false;
}

static bool is_from(const struct fg_call_pattern *pattern, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const size_t size = strlen(pattern->library);

	if (size == 0)
		return true;
	return strncmp(name, pattern->library, size) == 0 &&
	       (name[size] == '\0' || name[size] == '.' || name[size] == '-');
}

bool fg_call_matches(const struct fg_call_pattern *pattern, const char *readable, const char *path)
{
	return means(pattern, readable) && (!path || is_from(pattern, path));
}
