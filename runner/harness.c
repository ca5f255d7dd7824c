// SPDX-License-Identifier: Apache-2.0
#include "runner/harness.h"

#include "base/json.h"
#include "base/text.h"

#include <math.h>

enum {
	REPORT_MAX_BYTES = 64 << 20,
	CASES_MAX = 20000,
	VALUES_MAX = 64,
	NAME_MAX_BYTES = 512
};

/* ---- report ---- */

static struct fg_harness_case *add_case(struct fg_harness_report *report, const char *name,
					size_t length)
{
	struct fg_strbuf clean = {0};
	struct fg_harness_case *added = NULL;

	if (report->case_count == CASES_MAX)
		return NULL;
	report->cases = fg_grow(report->cases, &report->case_capacity, report->case_count + 1,
				sizeof(report->cases[0]));
	added = &report->cases[report->case_count++];
	fg_text_add_clean(&clean, name, length, NAME_MAX_BYTES);
	*added = (struct fg_harness_case){
		.name = fg_arena_strdup(&report->arena, fg_strbuf_text(&clean))};
	fg_strbuf_release(&clean);
	return added;
}

static void add_value(struct fg_harness_report *report, struct fg_harness_case *to,
		      struct fg_harness_value value)
{
	if (to->value_count == VALUES_MAX || !isfinite(value.value))
		return;
	value.metric = fg_arena_strdup(&report->arena, value.metric);
	to->values = fg_grow(to->values, &to->value_capacity, to->value_count + 1,
			     sizeof(to->values[0]));
	to->values[to->value_count++] = value;
}

static void add_time(struct fg_harness_report *report, struct fg_harness_case *to,
		     const char *metric, double value_ns)
{
	add_value(report, to,
		  (struct fg_harness_value){.metric = metric, .unit = "ns", .value = value_ns});
}

void fg_harness_report_release(struct fg_harness_report *report)
{
	for (size_t i = 0; i < report->case_count; i++)
		free(report->cases[i].values);
	free(report->cases);
	fg_arena_release(&report->arena);
	*report = (struct fg_harness_report){0};
}

/* ---- JSON: Google Benchmark and hyperfine ---- */

/* A JSON object that is printed among other lines begins at the start of a line. */
static const char *find_json(const char *text)
{
	while (text && *text != '{') {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return text;
}

/* Other text may follow the last closing brace. */
static size_t json_length(const char *json, size_t size)
{
	while (size > 0 && json[size - 1] != '}')
		size--;
	return size;
}

static int parse_json(const char *text, size_t size, cJSON **json, struct fg_error *err)
{
	const char *start = find_json(text);

	if (!start)
		return fg_error_set(err, FG_ECHILD, "there is no JSON in the output");
	if (fg_json_parse(start, json_length(start, size - (size_t)(start - text)),
			  REPORT_MAX_BYTES, json, err) != FG_OK) {
		fg_error_prefix(err, "its JSON is broken");
		return FG_ECHILD;
	}
	return FG_OK;
}

static double unit_in_ns(const char *unit)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {
		{"ns", 1},
		{"us", 1e3},
		{"ms", 1e6},
		{"s", 1e9},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(units); i++) {
		if (strcmp(units[i].unit, unit) == 0)
			return units[i].ns;
	}
	return (double)NAN;
}

/* Members of a Google Benchmark entry that are no counters. */
static const char *const google_members[] = {
	"family_index",   "per_family_instance_index",
	"repetitions",    "repetition_index",
	"threads",        "iterations",
	"real_time",      "cpu_time",
	"aggregate_unit", NULL,
};

static bool is_google_member(const char *name)
{
	for (size_t i = 0; google_members[i]; i++) {
		if (strcmp(google_members[i], name) == 0)
			return true;
	}
	return false;
}

static void add_google_case(struct fg_harness_report *report, const cJSON *entry, const char *name)
{
	const double unit = unit_in_ns(fg_json_text_or(entry, "time_unit", "ns"));
	struct fg_harness_case *added = add_case(report, name, strlen(name));
	const cJSON *member = NULL;

	if (!added)
		return;
	add_time(report, added, "cpu_time",
		 unit * fg_json_double_or(entry, "cpu_time", (double)NAN));
	add_time(report, added, "wall_time",
		 unit * fg_json_double_or(entry, "real_time", (double)NAN));
	cJSON_ArrayForEach(member, entry)
	{
		const bool is_rate = fg_text_ends_with(member->string, "_per_second");

		if (cJSON_IsNumber(member) && !is_google_member(member->string))
			add_value(report, added,
				  (struct fg_harness_value){.metric = member->string,
							    .unit = is_rate ? "1/s" : "1",
							    .better = is_rate ? FG_BETTER_HIGHER
									      : FG_BETTER_LOWER,
							    .value = member->valuedouble});
	}
}

/*
 * A case that the harness repeated appears once per repetition and once per aggregate. The mean
 * represents it; if aggregates are off, nothing averages the repetitions, and the last one counts.
 */
static int add_google_entry(struct fg_harness_report *report, const cJSON *entry,
			    struct fg_error *err)
{
	const char *name = fg_json_text_or(entry, "run_name", fg_json_text_or(entry, "name", ""));
	const bool is_aggregate =
		strcmp(fg_json_text_or(entry, "run_type", "iteration"), "aggregate") == 0;

	if (cJSON_IsTrue(fg_json_find(entry, "error_occurred")))
		return fg_error_set(err, FG_ECHILD, "case '%s' failed: %s", name,
				    fg_json_text_or(entry, "error_message", "no reason given"));
	if (is_aggregate && strcmp(fg_json_text_or(entry, "aggregate_name", ""), "mean") != 0)
		return FG_OK;
	if (report->case_count > 0 &&
	    strcmp(report->cases[report->case_count - 1].name, name) == 0) {
		free(report->cases[report->case_count - 1].values);
		report->case_count--;
	}
	add_google_case(report, entry, name);
	return FG_OK;
}

static int parse_google(const char *text, size_t size, struct fg_harness_report *report,
			struct fg_error *err)
{
	const cJSON *entries = NULL;
	const cJSON *entry = NULL;
	cJSON *json = NULL;
	int status = parse_json(text, size, &json, err);

	if (status != FG_OK)
		return status;
	entries = fg_json_find(json, "benchmarks");
	if (!cJSON_IsArray(entries))
		status = fg_error_set(err, FG_ECHILD, "its JSON has no list 'benchmarks'");
	cJSON_ArrayForEach(entry, entries)
	{
		if (status == FG_OK)
			status = add_google_entry(report, entry, err);
	}
	cJSON_Delete(json);
	return status;
}

static int parse_hyperfine(const char *text, size_t size, struct fg_harness_report *report,
			   struct fg_error *err)
{
	const double ns_per_s = 1e9;
	const cJSON *results = NULL;
	const cJSON *result = NULL;
	cJSON *json = NULL;
	int status = parse_json(text, size, &json, err);

	if (status != FG_OK)
		return status;
	results = fg_json_find(json, "results");
	if (!cJSON_IsArray(results))
		status = fg_error_set(err, FG_ECHILD, "its JSON has no list 'results'");
	cJSON_ArrayForEach(result, results)
	{
		const char *name = fg_json_text_or(result, "command", "");
		const double user = fg_json_double_or(result, "user", (double)NAN);
		const double system_time = fg_json_double_or(result, "system", (double)NAN);
		struct fg_harness_case *added = add_case(report, name, strlen(name));

		if (!added)
			break;
		add_time(report, added, "wall_time",
			 ns_per_s * fg_json_double_or(result, "mean", (double)NAN));
		add_time(report, added, "user_time", ns_per_s * user);
		add_time(report, added, "system_time", ns_per_s * system_time);
		add_time(report, added, "cpu_time", ns_per_s * (user + system_time));
	}
	cJSON_Delete(json);
	return status;
}

/* ---- XML: Catch2 ---- */

/*
 * The reporter writes <BenchmarkResults name="..." ...> <mean value="12.3" .../> ... per case,
 * numbers in nanoseconds.  No more of XML than that is understood: start tags with quoted
 * attributes, and the five named entities.
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

/* One <BenchmarkResults>: from the tag to the end of its element. */
static int add_catch2_case(struct fg_harness_report *report, const char *tag, const char *end,
			   struct fg_error *err)
{
	const char *tag_end = memchr(tag, '>', (size_t)(end - tag));
	const char *mean = memmem(tag, (size_t)(end - tag), "<mean ", 6);
	const char *mean_end = mean ? memchr(mean, '>', (size_t)(end - mean)) : NULL;
	struct fg_harness_case *added = NULL;
	struct fg_strbuf clean_name = {0};
	const char *name = NULL;
	const char *value = NULL;
	size_t name_length = 0;
	size_t value_length = 0;

	name = tag_end ? find_attribute(tag + 1, tag_end, "name", &name_length) : NULL;
	value = mean_end ? find_attribute(mean + 1, mean_end, "value", &value_length) : NULL;
	if (!name || !value)
		return fg_error_set(err, FG_ECHILD,
				    "a BenchmarkResults element of its XML has no name or no mean");
	add_unescaped(&clean_name, name, name_length);
	added = add_case(report, fg_strbuf_text(&clean_name), clean_name.length);
	if (added)
		add_time(report, added, "wall_time", strtod(value, NULL));
	fg_strbuf_release(&clean_name);
	return FG_OK;
}

static int parse_catch2(const char *text, size_t size, struct fg_harness_report *report,
			struct fg_error *err)
{
	static const char open[] = "<BenchmarkResults ";
	static const char close[] = "</BenchmarkResults>";
	const char *end = text + size;
	const char *at = text;

	while ((at = memmem(at, (size_t)(end - at), open, strlen(open))) != NULL) {
		const char *stop = memmem(at, (size_t)(end - at), close, strlen(close));
		int status = FG_OK;

		if (!stop)
			return fg_error_set(
				err, FG_ECHILD,
				"its XML ends in the middle of a BenchmarkResults element");
		status = add_catch2_case(report, at, stop, err);
		if (status != FG_OK)
			return status;
		at = stop;
	}
	return FG_OK;
}

/* ---- */

static const struct {
	enum fg_harness harness;
	int (*parse)(const char *text, size_t size, struct fg_harness_report *report,
		     struct fg_error *err);
	const char *hint;
} parsers[] = {
	{FG_HARNESS_GOOGLE_BENCHMARK, parse_google, "--benchmark_format=json"},
	{FG_HARNESS_CATCH2, parse_catch2, "--reporter xml"},
	{FG_HARNESS_HYPERFINE, parse_hyperfine, "--export-json /dev/stdout"},
};

int fg_harness_parse(enum fg_harness harness, const char *text, size_t size,
		     struct fg_harness_report *report, struct fg_error *err)
{
	struct fg_harness_report found = {0};
	size_t row = 0;
	int status = FG_OK;

	while (row < FG_ARRAY_SIZE(parsers) && parsers[row].harness != harness)
		row++;
	FG_ASSERT(row < FG_ARRAY_SIZE(parsers));
	status = parsers[row].parse(text, size, &found, err);
	if (status == FG_OK && found.case_count == 0)
		status = fg_error_set(err, FG_ECHILD, "it reported no case");
	if (status != FG_OK) {
		fg_error_prefix(err, "%s (is '%s' on its command line?)", fg_harness_name(harness),
				parsers[row].hint);
		fg_harness_report_release(&found);
		return status;
	}
	*report = found;
	return FG_OK;
}
