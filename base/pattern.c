// SPDX-License-Identifier: Apache-2.0
#include "base/pattern.h"

#include "base/base.h"

enum {
	GROUPS = 10,
	MAX_NESTING = 64
};

/*
 * Cost of an expression in the C library, computed in one pass. Two figures multiply:
 *
 * - copies: repetitions are unrolled, so "(a{9}){9}" becomes 81 copies of a.
 * - ways to match nothing: "(a*|b*)" has two, "(a*|b*){32}" has 2^32, and the matcher is built by
 *   trying all of them. An item that consumes a character has no such way, and ends a run of items
 *   that may match nothing.
 */
struct level {           /* an open group; the first is the whole expression */
	unsigned copies; /* the largest number of copies inside it */
	/* ways to match nothing since the last item that consumes a character */
	unsigned run;
	unsigned others; /* ways to match nothing in the earlier alternatives */
	bool takes;      /* this alternative always consumes a character */
};

struct scan {
	struct level levels[MAX_NESTING];
	unsigned depth;
	unsigned copies; /* copies of the last item, which a repetition multiplies */
	/* ways in which the last item matches nothing; 0: it consumes a character */
	unsigned ways;
};

static const struct level fresh_level = {.copies = 1, .run = 1};

/* Skips a bracket expression: "[]abc]", "[^]x]" and "[[:alpha:]]" have brackets inside. */
static const char *skip_brackets(const char *at)
{
	at++;
	if (*at == '^')
		at++;
	if (*at == ']')
		at++;
	while (*at && *at != ']') {
		if (*at == '[' && (at[1] == ':' || at[1] == '.' || at[1] == '=')) {
			char closing = at[1];

			for (at += 2; *at && !(at[0] == closing && at[1] == ']'); at++) {
			}
			if (!*at)
				return at;
			at++;
		}
		at++;
	}
	return *at ? at + 1 : at;
}

/* Multiplies; saturates at the limit. */
static unsigned times(unsigned a, unsigned b)
{
	const unsigned long product = (unsigned long)a * b;

	return product > FG_PATTERN_MAX_REPEAT ? FG_PATTERN_MAX_REPEAT + 1 : (unsigned)product;
}

static unsigned plus(unsigned a, unsigned b)
{
	return a + b > FG_PATTERN_MAX_REPEAT ? FG_PATTERN_MAX_REPEAT + 1 : a + b;
}

static unsigned larger(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

static void begin_item(struct scan *scan)
{
	struct level *level = &scan->levels[scan->depth];

	level->run = scan->ways > 0 ? times(level->run, scan->ways) : 1;
	level->takes = level->takes || scan->ways == 0;
	scan->copies = 1;
	scan->ways = 1;
}

static void end_alternative(struct scan *scan)
{
	struct level *level = &scan->levels[scan->depth];

	begin_item(scan);
	level->others = plus(level->others, level->takes ? 0 : level->run);
	level->run = 1;
	level->takes = false;
}

static bool begin_group(struct scan *scan)
{
	begin_item(scan);
	if (++scan->depth >= MAX_NESTING)
		return false;
	scan->levels[scan->depth] = fresh_level;
	return true;
}

static void end_group(struct scan *scan)
{
	end_alternative(scan);
	scan->copies = scan->levels[scan->depth].copies;
	scan->ways = scan->levels[scan->depth].others;
	scan->depth--;
}

/* {low,high} makes `high` copies; those after the first `low` are optional. */
static const char *repeat(struct scan *scan, const char *at)
{
	const unsigned long most = FG_PATTERN_MAX_REPEAT + 1;
	const unsigned once = scan->ways;
	unsigned long low = 0;
	unsigned long high = 0;
	unsigned ways = 1;
	char *end;

	low = strtoul(at + 1, &end, 10);
	high = low;
	if (*end == ',')
		high = strtoul(end + 1, &end, 10);
	if (high < most && end[-1] == ',')
		high = low + 1; /* {3,} is {3} and a star */
	low = low < most ? low : most;
	high = high < low ? low : (high < most ? high : most);
	for (unsigned long i = 0; i < high; i++)
		ways = times(ways, i < low ? once : plus(once, 1));
	scan->ways = ways;
	scan->copies = times(scan->copies, high > 1 ? (unsigned)high : 1);
	return *end ? end + 1 : end;
}

static const char *step(struct scan *scan, const char *at)
{
	switch (*at) {
	case '|':
		end_alternative(scan);
		return at + 1;
	case '{':
		return repeat(scan, at);
	case '+': /* the C library expands "x+" to "xx*" */
		scan->copies = times(scan->copies, 2);
		scan->ways = times(scan->ways, plus(scan->ways, 1));
		return at + 1;
	case '*':
	case '?':
		scan->ways = plus(scan->ways, 1);
		return at + 1;
	case '^':
	case '$':
		begin_item(scan);
		return at + 1;
	default:
		begin_item(scan);
		/* "\b" and similar escapes match between characters. */
		scan->ways = *at == '\\' && at[1] && strchr("bB<>`'", at[1]);
		return *at == '[' ? skip_brackets(at) : at + (*at == '\\' && at[1] ? 2 : 1);
	}
}

static bool scan_step(struct scan *scan, const char **position)
{
	const char *at = *position;
	struct level *level;

	if (*at == '(') {
		if (!begin_group(scan))
			return false;
		*position = at + 1;
	} else if (*at == ')' && scan->depth > 0) {
		end_group(scan);
		*position = at + 1;
	} else {
		*position = step(scan, at);
	}
	level = &scan->levels[scan->depth];
	level->copies = larger(level->copies, scan->copies);
	return scan->copies <= FG_PATTERN_MAX_REPEAT &&
	       times(level->run, larger(scan->ways, 1)) <= FG_PATTERN_MAX_REPEAT &&
	       level->others <= FG_PATTERN_MAX_REPEAT;
}

const char *fg_pattern_excess(const char *text)
{
	struct scan scan = {.levels = {fresh_level}, .copies = 1, .ways = 1};
	const char *at = text;

	if (strlen(text) > FG_PATTERN_MAX_BYTES)
		return "it is longer than 512 bytes";
	while (*at) {
		if (at[0] == '\\' && at[1] >= '1' && at[1] <= '9')
			return "back-references are not supported";
		if (!scan_step(&scan, &at))
			return "nested repetition counts or groups multiply to more than 256";
	}
	return NULL;
}

int fg_pattern_compile(const char *text, struct fg_pattern *pattern, struct fg_error *err)
{
	const char *excess = fg_pattern_excess(text);
	char why[128];
	regex_t regex;
	int code;

	if (excess)
		return fg_error_set(err, FG_EINVAL, "regular expression '%.80s' is refused: %s",
				    text, excess);
	code = regcomp(&regex, text, REG_EXTENDED);
	if (code != 0) {
		(void)regerror(code, &regex, why, sizeof(why));
		return fg_error_set(err, FG_EINVAL, "'%.80s' is not a regular expression: %s", text,
				    why);
	}
	pattern->regex = regex;
	pattern->set = true;
	return FG_OK;
}

/* Returns the subject, or its beginning if it is too long. */
static const char *bounded(const char *subject, char buffer[FG_PATTERN_MAX_SUBJECT + 1])
{
	size_t length = strnlen(subject, FG_PATTERN_MAX_SUBJECT + 1);

	if (length <= FG_PATTERN_MAX_SUBJECT)
		return subject;
	memcpy(buffer, subject, FG_PATTERN_MAX_SUBJECT);
	buffer[FG_PATTERN_MAX_SUBJECT] = '\0';
	return buffer;
}

bool fg_pattern_matches(const struct fg_pattern *pattern, const char *subject)
{
	char buffer[FG_PATTERN_MAX_SUBJECT + 1];

	return regexec(&pattern->regex, bounded(subject, buffer), 0, NULL, 0) == 0;
}

void fg_pattern_release(struct fg_pattern *pattern)
{
	if (pattern->set)
		regfree(&pattern->regex);
	pattern->set = false;
}

/*
 * Returns the text up to the delimiter, with "\delimiter" unescaped; NULL if the delimiter is
 * missing.
 */
static char *take_part(const char **position, char delimiter)
{
	struct fg_strbuf part = {0};
	const char *at = *position;

	for (; *at && *at != delimiter; at++) {
		if (at[0] == '\\' && at[1] == delimiter)
			at++;
		else if (at[0] == '\\' && at[1])
			fg_strbuf_add_char(&part, *at++);
		fg_strbuf_add_char(&part, *at);
	}
	if (!*at) {
		fg_strbuf_release(&part);
		return NULL;
	}
	*position = at + 1;
	return fg_strbuf_detach(&part);
}

int fg_rename_parse(const char *rule, struct fg_rename *rename, struct fg_error *err)
{
	struct fg_rename parsed = {0};
	const char *at = rule + 2;
	char *pattern = NULL;
	int status = FG_EINVAL;

	if (rule[0] != 's' || !rule[1] || rule[1] == '\\' || rule[1] == '\n')
		return fg_error_set(err, FG_EINVAL,
				    "'%.80s' is not a rule: expected s/PATTERN/REPLACEMENT/", rule);
	pattern = take_part(&at, rule[1]);
	parsed.replacement = pattern ? take_part(&at, rule[1]) : NULL;
	if (!parsed.replacement || (*at && strcmp(at, "g") != 0)) {
		status = fg_error_set(err, FG_EINVAL, "'%.80s' is not a rule: %s", rule,
				      parsed.replacement ? "only 'g' may follow the last delimiter"
							 : "expected s/PATTERN/REPLACEMENT/");
		goto out;
	}
	parsed.everywhere = *at == 'g';
	FG_TRY_OUT(fg_pattern_compile(pattern, &parsed.pattern, err));
	*rename = parsed;
	parsed = (struct fg_rename){0};
out:
	free(pattern);
	free(parsed.replacement);
	return status;
}

static void add_replacement(const char *replacement, const char *subject, const regmatch_t *groups,
			    struct fg_strbuf *result)
{
	for (const char *at = replacement; *at; at++) {
		size_t group = 0;

		if (at[0] == '\\' && at[1]) {
			at++;
			if (*at < '1' || *at > '9') {
				fg_strbuf_add_char(result, *at);
				continue;
			}
			group = (size_t)(*at - '0');
		} else if (*at != '&') {
			fg_strbuf_add_char(result, *at);
			continue;
		}
		if (groups[group].rm_so >= 0)
			fg_strbuf_add(result, subject + groups[group].rm_so,
				      (size_t)(groups[group].rm_eo - groups[group].rm_so));
	}
}

bool fg_rename_apply(const struct fg_rename *rename, const char *subject, struct fg_strbuf *result)
{
	char buffer[FG_PATTERN_MAX_SUBJECT + 1];
	const char *at = bounded(subject, buffer);
	regmatch_t groups[GROUPS];
	int flags = 0;

	if (regexec(&rename->pattern.regex, at, GROUPS, groups, 0) != 0)
		return false;
	fg_strbuf_set_limit(result, FG_RENAME_MAX_RESULT);
	do {
		fg_strbuf_add(result, at, (size_t)groups[0].rm_so);
		add_replacement(rename->replacement, at, groups, result);
		at += groups[0].rm_eo;
		/* after an empty match, advance, or this loop never ends */
		if (groups[0].rm_so == groups[0].rm_eo) {
			if (!*at)
				break;
			fg_strbuf_add_char(result, *at++);
		}
		flags = REG_NOTBOL;
	} while (rename->everywhere && !result->cut && *at &&
		 regexec(&rename->pattern.regex, at, GROUPS, groups, flags) == 0);
	fg_strbuf_add_text(result, at);
	return true;
}

void fg_rename_release(struct fg_rename *rename)
{
	fg_pattern_release(&rename->pattern);
	free(rename->replacement);
	rename->replacement = NULL;
}
