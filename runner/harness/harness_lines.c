// SPDX-License-Identifier: Apache-2.0
/* Harnesses that print text lines, or one JSON object per line. */
#include "base/json.h"
#include "base/text.h"
#include "runner/harness/harness_parsers.h"

#include <ctype.h>
#include <math.h>

enum {
	LINE_MAX_BYTES = 64 << 10,
	WORDS_MAX = 64,
};

/* Copies one line without its line feed; returns the next line, or NULL after the last line. */
static const char *next_line(const char *at, const char *end, char **line)
{
	const char *stop = memchr(at, '\n', (size_t)(end - at));
	size_t length = (size_t)((stop ? stop : end) - at);

	if (length > LINE_MAX_BYTES)
		length = LINE_MAX_BYTES;
	*line = fg_xstrndup(at, length);
	return stop && stop + 1 < end ? stop + 1 : NULL;
}

void fg_harness_read_lines(const char *text, size_t size, fg_harness_line *read,
			   struct fg_harness_report *report)
{
	for (const char *at = size ? text : NULL; at;) {
		char *line = NULL;

		at = next_line(at, text + size, &line);
		read(report, line);
		free(line);
	}
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

/*
 * Returns the value of a word that is a number, possibly with commas between thousands; NaN: not a
 * number.
 */
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

/* ---- go test -bench ---- */

/* In "BenchmarkSort-8", the suffix is the number of CPUs and not part of the name. */
static size_t go_name_length(const char *name)
{
	const char *dash = strrchr(name, '-');

	return dash && dash[1] && dash[1 + strspn(dash + 1, "0123456789")] == '\0'
		       ? (size_t)(dash - name)
		       : strlen(name);
}

void fg_harness_go(struct fg_harness_report *report, char *line)
{
	char *words[WORDS_MAX];
	const size_t count = split(line, words);
	struct fg_harness_case *added = NULL;

	if (count < 4 || !fg_text_starts_with(words[0], "Benchmark") || isnan(number_of(words[1])))
		return;
	added = fg_harness_find_or_add(report, words[0], go_name_length(words[0]));
	for (size_t i = 2; added && i + 1 < count; i += 2)
		fg_harness_add_measured(report, added, number_of(words[i]), words[i + 1]);
}

/* ---- cargo bench: libtest, and Criterion with --output-format bencher ---- */

/* Parses "test NAME ... bench:       1,234 ns/iter (+/- 56) = 789 MB/s". */
void fg_harness_cargo(struct fg_harness_report *report, char *line)
{
	const char *dots = strstr(line, " ... bench:");
	struct fg_harness_case *added = NULL;
	char *words[WORDS_MAX];
	size_t count = 0;

	if (!dots || !fg_text_starts_with(line, "test "))
		return;
	added = fg_harness_find_or_add(report, line + 5, (size_t)(dots - line) - 5);
	count = split(line + (dots - line) + strlen(" ... bench:"), words);
	if (added && count >= 2)
		fg_harness_add_measured(report, added, number_of(words[0]), words[1]);
	if (added && count >= 7 && strcmp(words[4], "=") == 0)
		fg_harness_add_measured(report, added, number_of(words[5]), words[6]);
}

/* ---- cargo criterion --message-format=json ---- */

void fg_harness_criterion(struct fg_harness_report *report, char *line)
{
	struct fg_harness_case *added = NULL;
	const cJSON *estimate = NULL;
	const char *id = NULL;
	cJSON *json = NULL;

	if (*line != '{' || fg_json_parse(line, strlen(line), LINE_MAX_BYTES, &json, NULL) != FG_OK)
		return;
	id = fg_json_text_or(json, "id", "");
	/* `typical` is the slope if Criterion could fit a line, otherwise the mean. */
	estimate = fg_json_find(json, "typical");
	if (!estimate)
		estimate = fg_json_find(json, "mean");
	if (*id && strcmp(fg_json_text_or(json, "reason", ""), "benchmark-complete") == 0)
		added = fg_harness_find_or_add(report, id, strlen(id));
	if (added)
		fg_harness_add_measured(report, added,
					fg_json_double_or(estimate, "estimate", (double)NAN),
					fg_json_text_or(estimate, "unit", "ns"));
	cJSON_Delete(json);
}

/* ---- plain lines ---- */

/* Parses NAME VALUE UNIT; the name may contain spaces. */
void fg_harness_plain(struct fg_harness_report *report, char *line)
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
