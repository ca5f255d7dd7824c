// SPDX-License-Identifier: Apache-2.0
/* Harnesses that print lines of text. */
#include "base/text.h"
#include "runner/harness/harness_parsers.h"

#include <ctype.h>
#include <math.h>

enum {
	LINE_MAX_BYTES = 64 << 10,
	WORDS_MAX = 64,
};

/* Copies one line without its end; returns the next one, NULL after the last. */
static const char *next_line(const char *at, const char *end, char **line)
{
	const char *stop = memchr(at, '\n', (size_t)(end - at));
	size_t length = (size_t)((stop ? stop : end) - at);

	if (length > LINE_MAX_BYTES)
		length = LINE_MAX_BYTES;
	*line = fg_xstrndup(at, length);
	return stop && stop + 1 < end ? stop + 1 : NULL;
}

static size_t split(char *line, char **words)
{
	size_t count = 0;

	for (char *word = strsep(&line, " \t\r"); word && count < WORDS_MAX;
	     word = strsep(&line, " \t\r")) {
		if (*word)
			words[count++] = word;
	}
	return count;
}

/* A word that is a number, possibly with commas between thousands; NaN: not a number. */
static double number_of(const char *word)
{
	char digits[64];
	char *end = NULL;
	size_t used = 0;
	double value = 0;

	for (; *word && used + 1 < sizeof(digits); word++) {
		if (*word != ',')
			digits[used++] = *word;
	}
	digits[used] = '\0';
	if (!used || !(isdigit((unsigned char)*digits) || strchr("-+.", *digits)))
		return (double)NAN;
	value = strtod(digits, &end);
	return *end ? (double)NAN : value;
}

/* NAME VALUE UNIT; the name may contain blanks, the last two words are value and unit. */
static void take_plain(struct fg_harness_report *report, char *line)
{
	char *words[WORDS_MAX];
	struct fg_strbuf name = {0};
	struct fg_harness_case *added = NULL;
	const size_t count = split(line, words);

	if (count < 3 || isnan(number_of(words[count - 2])) || count == WORDS_MAX)
		return;
	for (size_t i = 0; i + 2 < count; i++)
		fg_strbuf_printf(&name, "%s%s", i ? " " : "", words[i]);
	added = fg_harness_find_or_add(report, fg_strbuf_text(&name), name.length);
	if (added)
		fg_harness_add_measured(report, added, number_of(words[count - 2]),
					words[count - 1]);
	fg_strbuf_release(&name);
}

int fg_harness_parse_plain(const char *text, size_t size, struct fg_harness_report *report,
			   struct fg_error *err)
{
	(void)err;
	for (const char *at = size ? text : NULL; at;) {
		char *line = NULL;

		at = next_line(at, text + size, &line);
		take_plain(report, line);
		free(line);
	}
	return FG_OK;
}
