// SPDX-License-Identifier: Apache-2.0
#include "binary/name_parts.h"

#include <ctype.h>

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/*
 * Returns the length of "operator" with the remainder of its name: "operator<<", "operator()",
 * "operator new[]"; 0 without an operator at `at`.
 */
static size_t operator_length(const char *name, size_t at)
{
	static const char *const symbols[] = {"()", "[]", "<=>", "<<=", ">>=", "->*", "<<",
					      ">>", "->", "<=",  ">=",  "<",   ">"};
	const size_t word = sizeof("operator") - 1;

	if (strncmp(name + at, "operator", word) != 0 || (at > 0 && is_word(name[at - 1])) ||
	    is_word(name[at + word]))
		return 0;
	for (size_t i = 0; i < FG_ARRAY_SIZE(symbols); i++)
		if (strncmp(name + at + word, symbols[i], strlen(symbols[i])) == 0)
			return word + strlen(symbols[i]);
	return word;
}

/*
 * Returns the position after the bracket that matches the one at `at`; the end if it is never
 * closed.
 */
static size_t skip_group(const char *name, size_t at)
{
	unsigned depth = 0;

	while (name[at]) {
		size_t own = operator_length(name, at);

		if (own > 0) {
			at += own;
			continue;
		}
		if (strchr("<([{", name[at]))
			depth++;
		else if (name[at] == '-' && name[at + 1] == '>')
			at++;
		else if (strchr(">)]}", name[at]) && --depth == 0)
			return at + 1;
		at++;
	}
	return at;
}

void fg_name_collapse_templates(const char *name, struct fg_strbuf *text)
{
	size_t at = 0;

	while (name[at]) {
		size_t own = operator_length(name, at);

		if (own > 0) {
			fg_strbuf_add(text, name + at, own);
			at += own;
		} else if (name[at] == '<' && at > 0 && is_word(name[at - 1])) {
			fg_strbuf_add_text(text, "<...>");
			at = skip_group(name, at);
		} else if (name[at] == '-' && name[at + 1] == '>') {
			fg_strbuf_add(text, name + at, 2);
			at += 2;
		} else {
			fg_strbuf_add_char(text, name[at++]);
		}
	}
}

struct span {
	size_t start;
	size_t scope_end;   /* before the last "::"; equal to start: no scope */
	size_t first_scope; /* before the first "::" */
	size_t end;
};

/*
 * True if the '(' here is part of the name ("(anonymous namespace)::", "(lambda at …)::"), not the
 * start of its arguments.
 */
static bool is_scope_group(const char *name, size_t at)
{
	size_t behind = skip_group(name, at);

	return name[behind] == ':' && name[behind + 1] == ':';
}

/*
 * Walks over the name once.  A blank outside of brackets ends a return type, and the name starts
 * after it; a '(' that is not part of the name starts the arguments: the name ends there.
 */
static struct span find_span(const char *name)
{
	struct span span = {0};
	size_t at = 0;

	while (name[at]) {
		size_t own = operator_length(name, at);

		if (own > 0) {
			at += own;
			/*
			 * "operator new", "operator bool", "operator std::string": the operator
			 * extends to the arguments
			 */
			while (name[at] && name[at] != '(')
				at = strchr("<[{", name[at]) ? skip_group(name, at) : at + 1;
			break;
		}
		if (name[at] == '(' && !is_scope_group(name, at))
			break;
		if (strchr("<([{", name[at])) {
			at = skip_group(name, at);
		} else if (name[at] == ' ') {
			at++;
			span.start = span.scope_end = span.first_scope = at;
		} else if (name[at] == ':' && name[at + 1] == ':') {
			if (span.first_scope == span.start)
				span.first_scope = at;
			span.scope_end = at;
			at += 2;
		} else {
			at++;
		}
	}
	span.end = at;
	return span;
}

/*
 * Does the name have a scope? A name in square brackets is not a C++ function ("[kernel: read]").
 */
static bool has_parts(const char *name)
{
	return name[0] != '[' && strstr(name, "::") != NULL;
}

void fg_name_qualified(const char *name, struct fg_strbuf *text)
{
	struct span span = find_span(name);

	if (name[0] == '[' || span.end <= span.start)
		fg_strbuf_add_text(text, name);
	else
		fg_strbuf_add(text, name + span.start, span.end - span.start);
}

void fg_name_scope(const char *name, struct fg_strbuf *text)
{
	struct span span = find_span(name);

	if (has_parts(name) && span.scope_end > span.start)
		fg_strbuf_add(text, name + span.start, span.scope_end - span.start);
}

void fg_name_namespace(const char *name, struct fg_strbuf *text)
{
	struct span span = find_span(name);

	if (has_parts(name) && span.first_scope > span.start)
		fg_strbuf_add(text, name + span.start, span.first_scope - span.start);
}
