// SPDX-License-Identifier: Apache-2.0
/* Harnesses that write XML. */
#include "base/strbuf.h"
#include "runner/harness/harness_parsers.h"

/* ---- Catch2 ---- */

/*
 * Finds the value of an attribute. Catch2 writes <BenchmarkResults name="..." ...> <mean
 * value="12.3" .../> ... per case, numbers in nanoseconds. Only this subset of XML is understood:
 * start tags with quoted attributes, and the five named entities.
 */
static const char *find_attribute(const char *tag, const char *end, const char *name,
				  size_t *length)
{
	const size_t name_length = strlen(name);

	for (const char *at = tag; at + name_length + 2 < end; at++) {
		const char *close = NULL;

		if ((at[-1] != ' ' && at[-1] != '\n' && at[-1] != '\t') ||
		    strncmp(at, name, name_length) != 0 || at[name_length] != '=' ||
		    at[name_length + 1] != '"')
			continue;
		at += name_length + 2;
		close = memchr(at, '"', (size_t)(end - at));
		if (!close)
			return NULL;
		*length = (size_t)(close - at);
		return at;
	}
	return NULL;
}

/* Finds the '>' that ends a tag; attribute values may contain it unescaped. */
static const char *find_tag_end(const char *tag, const char *end)
{
	bool quoted = false;

	for (; tag < end; tag++) {
		if (*tag == '"')
			quoted = !quoted;
		else if (*tag == '>' && !quoted)
			return tag;
	}
	return NULL;
}

static void add_unescaped(struct fg_strbuf *text, const char *from, size_t length)
{
	static const struct {
		const char *entity;
		char character;
	} entities[] = {
		{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''},
	};

	for (size_t i = 0; i < length; i++) {
		size_t k = 0;

		while (k < FG_ARRAY_SIZE(entities) &&
		       strncmp(from + i, entities[k].entity, strlen(entities[k].entity)) != 0)
			k++;
		if (k == FG_ARRAY_SIZE(entities)) {
			fg_strbuf_add_char(text, from[i]);
			continue;
		}
		fg_strbuf_add_char(text, entities[k].character);
		i += strlen(entities[k].entity) - 1;
	}
}

static void add_case(struct fg_harness_report *report, const char *name, size_t length,
		     double time_ns)
{
	struct fg_strbuf clean = {0};
	struct fg_harness_case *added = NULL;

	add_unescaped(&clean, name, length);
	added = fg_harness_add(report, fg_strbuf_text(&clean), clean.length);
	if (added)
		fg_harness_add_time(report, added, "wall_time", time_ns);
	fg_strbuf_release(&clean);
}

/* Reads one <BenchmarkResults>, from the tag to the end of its element. */
int fg_harness_catch2(struct fg_harness_report *report, const char *tag, const char *end,
		      struct fg_error *err)
{
	const char *tag_end = find_tag_end(tag, end);
	const char *mean = memmem(tag, (size_t)(end - tag), "<mean ", 6);
	const char *mean_end = mean ? find_tag_end(mean, end) : NULL;
	const char *name = NULL;
	const char *value = NULL;
	size_t name_length = 0;
	size_t value_length = 0;

	name = tag_end ? find_attribute(tag + 1, tag_end, "name", &name_length) : NULL;
	value = mean_end ? find_attribute(mean + 1, mean_end, "value", &value_length) : NULL;
	if (!name || !value)
		return fg_error_set(err, FG_ECHILD,
				    "a BenchmarkResults element of the XML has no name or no mean");
	add_case(report, name, name_length, strtod(value, NULL));
	return FG_OK;
}

int fg_harness_read_elements(const char *text, size_t size, const char *name,
			     fg_harness_element *read, struct fg_harness_report *report,
			     struct fg_error *err)
{
	const char *end = text + size;
	const char *at = text;
	char open[32];
	char close[32];
	int status = FG_OK;

	(void)snprintf(open, sizeof(open), "<%s ", name);
	(void)snprintf(close, sizeof(close), "</%s>", name);
	while (status == FG_OK &&
	       (at = memmem(at, (size_t)(end - at), open, strlen(open))) != NULL) {
		const char *tag_end = find_tag_end(at, end);
		const char *stop = NULL;

		if (tag_end && tag_end[-1] == '/') {
			at = tag_end;
			continue;
		}
		stop = memmem(at, (size_t)(end - at), close, strlen(close));
		if (!stop)
			return fg_error_set(err, FG_ECHILD,
					    "the XML ends in the middle of a %s element", name);
		status = read(report, at, stop, err);
		at = stop;
	}
	return status;
}

/* ---- doctest ---- */

/*
 * Reads <TestCase name="..." ...> ... <OverallResultsAsserts ... duration="0.5"/>; the duration is
 * in seconds. doctest measures nothing but the time of a test case. A skipped case is an empty
 * element.
 */
int fg_harness_doctest(struct fg_harness_report *report, const char *tag, const char *end,
		       struct fg_error *err)
{
	static const char result[] = "<OverallResultsAsserts ";
	const char *asserts = memmem(tag, (size_t)(end - tag), result, strlen(result));
	size_t name_length = 0;
	size_t value_length = 0;
	const char *name = asserts ? find_attribute(tag + 1, asserts, "name", &name_length) : NULL;
	const char *value =
		asserts ? find_attribute(asserts + 1, end, "duration", &value_length) : NULL;

	if (!name || !value)
		return fg_error_set(err, FG_ECHILD,
				    "a TestCase element of the XML has no duration");
	add_case(report, name, name_length, 1e9 * strtod(value, NULL));
	return FG_OK;
}
