// SPDX-License-Identifier: Apache-2.0
/* Harnesses that write one JSON document. */
#include "base/json.h"
#include "base/text.h"
#include "runner/harness/harness_parsers.h"

#include <math.h>

enum {
	REPORT_MAX_BYTES = 64 << 20
};

/*
 * A JSON object or list printed among other lines starts a line or ends one: pytest writes its
 * report after a line of progress.
 */
static const char *find_json(const char *text)
{
	bool at_start = true;

	for (; *text; text++) {
		if ((*text == '{' || *text == '[') && (at_start || text[1] == '\n'))
			return text;
		at_start = *text == '\n';
	}
	return NULL;
}

/* Returns the length up to the matching closing bracket; 0: none. */
static size_t json_length(const char *json)
{
	size_t depth = 0;
	bool in_text = false;

	for (size_t i = 0; json[i]; i++) {
		if (in_text && json[i] == '\\' && json[i + 1]) {
			i++;
			continue;
		}
		if (in_text) {
			in_text = json[i] != '"';
			continue;
		}
		in_text = json[i] == '"';
		depth += json[i] == '{' || json[i] == '[';
		depth -= json[i] == '}' || json[i] == ']';
		if (depth == 0)
			return i + 1;
	}
	return 0;
}

/* Parses the last document: hyperfine writes all its results again after each command. */
static int parse_json(const char *text, size_t size, cJSON **json, struct fg_error *err)
{
	char *copy = fg_xstrndup(text, size);
	const char *start = find_json(copy);
	cJSON *last = NULL;
	struct fg_error found = {0};

	if (!start)
		(void)fg_error_set(&found, FG_ECHILD, "the output contains no JSON");
	while (start) {
		const size_t length = json_length(start);
		cJSON *one = NULL;

		if (fg_json_parse(start, length ? length : strlen(start), REPORT_MAX_BYTES, &one,
				  last ? NULL : &found) == FG_OK) {
			cJSON_Delete(last);
			last = one;
		} else if (!length && *start == '{') {
			/*
			 * The last document is truncated, and the document before it lacks some
			 * results.
			 */
			cJSON_Delete(last);
			last = NULL;
			(void)fg_error_set(&found, FG_ECHILD, "the end of the JSON is missing");
		}
		start = length ? find_json(start + length) : NULL;
	}
	free(copy);
	if (last) {
		*json = last;
		return FG_OK;
	}
	return fg_error_set(
		err, FG_ECHILD, "%s%s",
		strstr(found.message, "no JSON") ? "" : "the JSON is broken: ", found.message);
}

int fg_harness_read_list(const char *text, size_t size, const char *path, fg_harness_entry *read,
			 struct fg_harness_report *report, struct fg_error *err)
{
	const cJSON *entries = NULL;
	const cJSON *entry = NULL;
	cJSON *json = NULL;
	int status = FG_OK;

	FG_TRY(parse_json(text, size, &json, err));
	entries = *path ? fg_json_find(json, path) : json;
	if (!cJSON_IsArray(entries) && *path)
		status = fg_error_set(err, FG_ECHILD, "the JSON has no list '%s'", path);
	else if (!cJSON_IsArray(entries))
		status = fg_error_set(err, FG_ECHILD, "the JSON is not a list");
	cJSON_ArrayForEach(entry, entries)
	{
		if (status == FG_OK)
			status = read(report, entry, err);
	}
	cJSON_Delete(json);
	return status;
}

/* ---- Google Benchmark ---- */

/* Members of a Google Benchmark entry that are not counters. */
static const char *const google_members[] = {
	"family_index",   "per_family_instance_index",
	"repetitions",    "repetition_index",
	"threads",        "iterations",
	"real_time",      "cpu_time",
	"aggregate_unit",
};

static void add_google_case(struct fg_harness_report *report, const cJSON *entry, const char *name)
{
	const double unit = fg_harness_unit_ns(fg_json_text_or(entry, "time_unit", "ns"));
	struct fg_harness_case *added = fg_harness_add(report, name, strlen(name));
	const cJSON *member = NULL;

	if (!added)
		return;
	fg_harness_add_time(report, added, "cpu_time",
			    unit * fg_json_double_or(entry, "cpu_time", (double)NAN));
	fg_harness_add_time(report, added, "wall_time",
			    unit * fg_json_double_or(entry, "real_time", (double)NAN));
	cJSON_ArrayForEach(member, entry)
	{
		const bool is_rate = fg_text_ends_with(member->string, "_per_second");

		if (cJSON_IsNumber(member) && !FG_TEXT_IS_AMONG(member->string, google_members))
			fg_harness_add_value(
				report, added,
				(struct fg_harness_value){.metric = member->string,
							  .unit = is_rate ? "1/s" : "1",
							  .better = is_rate ? FG_BETTER_HIGHER
									    : FG_BETTER_LOWER,
							  .value = member->valuedouble});
	}
}

/*
 * A repeated case appears once per repetition and once per aggregate. Use the mean; if aggregates
 * are off, nothing averages the repetitions, and the last repetition counts.
 */
int fg_harness_google(struct fg_harness_report *report, const cJSON *entry, struct fg_error *err)
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

static struct fg_harness_case *add_named(struct fg_harness_report *report, const cJSON *entry,
					 const char *key)
{
	const char *name = fg_json_text_or(entry, key, "");

	return *name ? fg_harness_add(report, name, strlen(name)) : NULL;
}

/* ---- hyperfine ---- */

int fg_harness_hyperfine(struct fg_harness_report *report, const cJSON *entry, struct fg_error *err)
{
	const double ns_per_s = 1e9;
	const char *name = fg_json_text_or(entry, "command", "");
	const double user = fg_json_double_or(entry, "user", (double)NAN);
	const double system_time = fg_json_double_or(entry, "system", (double)NAN);
	struct fg_harness_case *added = fg_harness_add(report, name, strlen(name));

	(void)err;
	if (!added)
		return FG_OK;
	fg_harness_add_time(report, added, "wall_time",
			    ns_per_s * fg_json_double_or(entry, "mean", (double)NAN));
	fg_harness_add_time(report, added, "user_time", ns_per_s * user);
	fg_harness_add_time(report, added, "system_time", ns_per_s * system_time);
	fg_harness_add_time(report, added, "cpu_time", ns_per_s * (user + system_time));
	return FG_OK;
}

/* ---- nanobench ---- */

/*
 * Values are per iteration; a batch is the number of operations in one iteration. A counter that
 * was not read is 0.
 */
int fg_harness_nanobench(struct fg_harness_report *report, const cJSON *entry, struct fg_error *err)
{
	static const char *const counters[] = {"instructions", "branchinstructions", "branchmisses",
					       "pagefaults"};
	struct fg_harness_case *added = add_named(report, entry, "name");
	const double batch = fg_json_double_or(entry, "batch", 1);

	(void)err;
	if (!added)
		return FG_OK;
	fg_harness_add_time(report, added, "wall_time",
			    1e9 * fg_json_double_or(entry, "median(elapsed)", (double)NAN) / batch);
	for (size_t i = 0; i < FG_ARRAY_SIZE(counters); i++) {
		char *key = fg_xasprintf("median(%s)", counters[i]);
		const double value = fg_json_double_or(entry, key, 0);

		if (value > 0)
			fg_harness_add_value(report, added,
					     (struct fg_harness_value){.metric = counters[i],
								       .unit = "1",
								       .value = value / batch});
		free(key);
	}
	return FG_OK;
}

/* ---- pytest-benchmark ---- */

int fg_harness_pytest(struct fg_harness_report *report, const cJSON *entry, struct fg_error *err)
{
	struct fg_harness_case *added = add_named(report, entry, "fullname");

	(void)err;
	if (!added)
		added = add_named(report, entry, "name");
	if (added)
		fg_harness_add_time(
			report, added, "wall_time",
			1e9 * fg_json_double_or(fg_json_find(entry, "stats"), "mean", (double)NAN));
	return FG_OK;
}

/* ---- lit ---- */

int fg_harness_lit(struct fg_harness_report *report, const cJSON *entry, struct fg_error *err)
{
	const cJSON *metrics = fg_json_find(entry, "metrics");
	const double seconds = fg_json_double_or(metrics, "exec_time",
						 fg_json_double_or(entry, "elapsed", (double)NAN));
	struct fg_harness_case *added = NULL;
	const cJSON *metric = NULL;

	(void)err;
	if (strcmp(fg_json_text_or(entry, "code", ""), "PASS") != 0)
		return FG_OK;
	added = add_named(report, entry, "name");
	if (!added)
		return FG_OK;
	fg_harness_add_time(report, added, "wall_time", 1e9 * seconds);
	cJSON_ArrayForEach(metric, metrics)
	{
		if (cJSON_IsNumber(metric) && strcmp(metric->string, "exec_time") != 0)
			fg_harness_add_value(report, added,
					     (struct fg_harness_value){
						     .metric = metric->string,
						     .unit = "1",
						     .value = metric->valuedouble,
					     });
	}
	return FG_OK;
}

/* ---- lists of name, unit and value, as github-action-benchmark takes them ---- */

static void add_custom(struct fg_harness_report *report, const cJSON *entry, enum fg_better better)
{
	struct fg_harness_case *added = add_named(report, entry, "name");
	const char *unit = fg_json_text_or(entry, "unit", "1");
	const double value = fg_json_double_or(entry, "value", (double)NAN);
	const double ns = fg_harness_unit_ns(unit);

	if (added && better == FG_BETTER_LOWER && isfinite(ns))
		fg_harness_add_time(report, added, "wall_time", ns * value);
	else if (added)
		fg_harness_add_value(
			report, added,
			(struct fg_harness_value){.metric = "value",
						  .unit = fg_arena_strdup(&report->arena, unit),
						  .better = better,
						  .value = value});
}

int fg_harness_smaller(struct fg_harness_report *report, const cJSON *entry, struct fg_error *err)
{
	(void)err;
	add_custom(report, entry, FG_BETTER_LOWER);
	return FG_OK;
}

int fg_harness_bigger(struct fg_harness_report *report, const cJSON *entry, struct fg_error *err)
{
	(void)err;
	add_custom(report, entry, FG_BETTER_HIGHER);
	return FG_OK;
}
