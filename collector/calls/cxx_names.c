// SPDX-License-Identifier: Apache-2.0
/*
 * Reads the parts of a C++ symbol that name matching needs: the scopes and the name, without
 * template arguments, and the start of the parameters.
 */
#include "collector/calls/calls.h"

#include <string.h>

struct output {
	char *at;
	char *end; /* the buffer's last byte, for the NUL */
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

/* Reads a source name: decimal length, then that many characters. NULL: malformed. */
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

/* Returns the position after S_, S0_, St, T_, T0_. */
static const char *skip_substitution(const char *at)
{
	const bool is_short = at[0] == 'S' && at[1] >= 'a' && at[1] <= 'z';

	if (is_short)
		return at + 2;
	at = strchr(at, '_');
	return at ? at + 1 : NULL;
}

/* Returns the position after a literal: its type, then digits up to E. */
static const char *skip_literal(const char *at)
{
	at++;
	if (*at == '_')
		return NULL; /* the address of a function: not supported */
	if (is_digit(*at))
		at = skip_source_name(at);
	else if (*at == 'N')
		at = strchr(at, 'E') ? strchr(at, 'E') + 1 : NULL;
	else if (*at)
		at++;
	at = at ? strchr(at, 'E') : NULL;
	return at ? at + 1 : NULL;
}

/* Returns the position after template arguments, from their I to their E. */
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

/* Writes the name of a constructor or destructor, which repeats the name of the class. */
static bool put_special(struct output *out, const char *last, size_t last_size, bool destructor)
{
	return last && put(out, "::~", destructor ? 3 : 2) && put(out, last, last_size);
}

/* Reads one component of a name; NULL: not supported. */
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

/* Returns the parameters after the name. NULL: malformed or unsupported. */
static const char *read_name(struct output *out, const char *at, bool *is_template)
{
	const bool is_nested = *at == 'N';
	const char *last = NULL;
	size_t last_size = 0;
	bool is_first = true;

	*is_template = false;
	at += is_nested;
	while (is_nested && (*at == 'K' || *at == 'V' || *at == 'r' || *at == 'R' || *at == 'O'))
		at++;
	while (at && *at && *at != 'E') {
		const bool is_std = is_first && at[0] == 'S' && at[1] == 't';

		*is_template = *at == 'I';
		if (*at == 'I')
			at = skip_arguments(at);
		else if (*at == 'B')
			at = skip_source_name(at + 1); /* an ABI tag */
		else
			at = read_component(out, at, &last, &last_size, is_first);
		is_first = false;
		if (!is_nested && !is_std && (!at || (*at != 'I' && *at != 'B')))
			break;
	}
	return at && is_nested && *at == 'E' ? at + 1 : at;
}

void fg_call_name_read(const char *symbol, char readable[FG_CALL_NAME_MAX])
{
	struct output out = {.at = readable, .end = readable + FG_CALL_NAME_MAX - 1};
	bool is_template = false;

	if (strncmp(symbol, "_Z", 2) != 0 || !read_name(&out, symbol + 2, &is_template) ||
	    out.at == readable) {
		out.at = readable;
		(void)put(&out, symbol, strnlen(symbol, FG_CALL_NAME_MAX - 1));
	}
	*out.at = '\0';
}

const char *fg_call_skip_class(const char *at)
{
	if (is_digit(*at))
		at = skip_source_name(at);
	else if (*at == 'N')
		at = skip_arguments(at);
	else if (at[0] == 'S' && at[1] == 't')
		at = skip_source_name(at + 2);
	else
		at = *at == 'S' ? skip_substitution(at) : NULL;
	return at && *at == 'I' ? skip_arguments(at) : at;
}

const char *fg_call_parameters(const char *symbol)
{
	char readable[FG_CALL_NAME_MAX];
	struct output out = {.at = readable, .end = readable + FG_CALL_NAME_MAX - 1};
	const char *at = NULL;
	bool is_template = false;

	if (strncmp(symbol, "_Z", 2) == 0 && strncmp(symbol, "_ZGV", 4) != 0)
		at = read_name(&out, symbol + 2, &is_template);
	/*
	 * In the symbol of a template function, the return type precedes the parameters, which may
	 * refer to template arguments.
	 */
	return is_template ? NULL : at;
}
