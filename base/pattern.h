/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns and rewriting rules that users give: POSIX extended regular expressions with bounds.
 *
 * A short expression can make the C library's matcher use unlimited time or memory: back-references
 * make it exponential, nested repetitions ("(a{99}){99}", "a++++") are unrolled, and an expression
 * with several ways to match nothing ("(a*|b*){32}") is tried in each of these ways. Such
 * expressions are refused, and so are expressions over FG_PATTERN_MAX_BYTES; subjects are examined
 * up to FG_PATTERN_MAX_SUBJECT bytes.
 */
#ifndef FG_BASE_PATTERN_H
#define FG_BASE_PATTERN_H

#include "base/error.h"
#include "base/strbuf.h"

#include <regex.h>

enum {
	FG_PATTERN_MAX_BYTES = 512,
	FG_PATTERN_MAX_REPEAT = 256, /* product of nested counts, and of ways to match nothing */
	FG_PATTERN_MAX_SUBJECT = 8192,
	FG_RENAME_MAX_RESULT = 16384,
};

struct fg_pattern {
	regex_t regex;
	bool set;
};

/*
 * Returns the reason why an expression is too expensive, or NULL if it is not (it may still be
 * invalid).
 */
const char *fg_pattern_excess(const char *text);

int fg_pattern_compile(const char *text, struct fg_pattern *pattern, struct fg_error *err)
	FG_NODISCARD;
bool fg_pattern_matches(const struct fg_pattern *pattern, const char *subject);
void fg_pattern_release(struct fg_pattern *pattern);

/*
 * s/PATTERN/REPLACEMENT/[g]: any delimiter except a backslash or a line break; \1 to \9 and & in
 * the replacement, "\&" for the character itself.
 */
struct fg_rename {
	struct fg_pattern pattern;
	char *replacement;
	bool everywhere;
};

int fg_rename_parse(const char *rule, struct fg_rename *rename, struct fg_error *err) FG_NODISCARD;
/* Writes the rewritten subject. Returns false, and writes nothing, if the rule does not match. */
bool fg_rename_apply(const struct fg_rename *rename, const char *subject, struct fg_strbuf *result);
void fg_rename_release(struct fg_rename *rename);

#endif
