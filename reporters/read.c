// SPDX-License-Identifier: Apache-2.0
/*
 * Reads report.json back into a verdict. The store keeps a verdict as this text, from which
 * `fastgate report` writes all other formats. The text may come over a network: a member of the
 * wrong type counts as missing, and the length of a list is counted, never read.
 */
#include "base/clock.h"
#include "reporters/verdict_exchange.h"

enum {
	MAX_REPORT_BYTES = 256 * 1024 * 1024
};

static int open_document(const char *json, size_t size, cJSON **document, struct fg_error *err)
{
	const char *schema = NULL;
	int status = FG_OK;

	FG_TRY(fg_json_parse(json, size, MAX_REPORT_BYTES, document, err));
	schema = fg_json_text_or(*document, "schema", "nothing");
	if (strcmp(schema, FG_REPORT_SCHEMA) == 0)
		return FG_OK;
	status = fg_error_set(err, FG_EPARSE,
			      "the report's schema is '%.60s', expected '" FG_REPORT_SCHEMA "'",
			      schema);
	cJSON_Delete(*document);
	*document = NULL;
	return status;
}

int fg_report_read(const char *json, size_t size, struct fg_verdict *verdict, struct fg_error *err)
{
	struct fg_verdict result = {0};
	struct fg_argument_room room = fg_argument_room_of_run;
	const struct fg_verdict_context context = {.room = &room};
	struct fg_exchange with = {.arena = &result.arena, .context = &context};
	cJSON *document = NULL;

	FG_TRY(open_document(json, size, &document, err));
	with.json = document;
	fg_verdict_exchange(&with, &result);
	*verdict = result;
	cJSON_Delete(document);
	return FG_OK;
}

/* ---- judging a run again ---- */

static void restore(const struct fg_benchmark_verdict *benchmark, const struct fg_run *run,
		    struct fg_profile_set *const *profiles)
{
	const struct fg_series *series = fg_run_find(run, benchmark->name);
	struct fg_profile_set *set = series ? profiles[series - run->series] : NULL;

	for (unsigned side = 0; set && benchmark->arguments && side < FG_ARM_COUNT; side++)
		fg_argument_sums_add_table(&set->arguments, benchmark->arguments, side, side);
}

void fg_report_restore_arguments(const char *json, const struct fg_run *run,
				 struct fg_profile_set *const *profiles)
{
	struct fg_verdict verdict = {0};

	if (!json || !profiles || !strstr(json, "\"arguments\"") ||
	    fg_report_read(json, strlen(json), &verdict, NULL) != FG_OK)
		return;
	for (size_t i = 0; i < verdict.benchmark_count; i++)
		restore(&verdict.benchmarks[i], run, profiles);
	fg_verdict_release(&verdict);
}

/* ---- the run ---- */

static char *copy_or_null(const cJSON *object, const char *name)
{
	const char *text = fg_json_text_or(object, name, NULL);

	return text ? fg_xstrdup(text) : NULL;
}

static bool is_made_of(const char *text, const char *signs, size_t least, size_t most)
{
	const size_t length = strlen(text);

	return length >= least && length <= most && strspn(text, signs) == length;
}

/*
 * Reads the facts about the commit: author, subject, pull request, number of commits. Ignores other
 * facts, which may be links to anywhere.
 */
static void read_change(const cJSON *build, struct fg_environment *facts)
{
	static const char *const names[] = {"git.subject", "git.author", "git.pull_request",
					    "git.commits"};

	for (size_t i = 0; i < FG_ARRAY_SIZE(names); i++) {
		const char *value = fg_json_text_or(build, names[i], NULL);

		if (value)
			fg_environment_set(facts, names[i], value, false);
	}
}

static int read_side(const cJSON *object, struct fg_side *side, struct fg_error *err)
{
	const char *commit = fg_json_text_or(object, "commit", NULL);

	if (commit && !is_made_of(commit, "0123456789abcdef", 4, 64))
		return fg_error_set(err, FG_EPARSE, "the report's commit is not a commit id");
	side->commit = commit ? fg_xstrdup(commit) : NULL;
	side->branch = copy_or_null(object, "branch");
	side->describe = copy_or_null(object, "describe");
	side->dirty = cJSON_IsTrue(fg_json_find(object, "dirty"));
	read_change(cJSON_GetObjectItemCaseSensitive(object, "build"), &side->build);
	return FG_OK;
}

static int read_run(const cJSON *object, struct fg_run *run, struct fg_error *err)
{
	const char *id = fg_json_text_or(object, "id", "");

	if (!is_made_of(id, "0123456789abcdef-", 1, sizeof(run->id) - 1))
		return fg_error_set(err, FG_EPARSE, "the report lacks a run id");
	memcpy(run->id, id, strlen(id) + 1);
	run->project = copy_or_null(object, "project");
	run->tool_version = copy_or_null(object, "fastgate_version");
	(void)fg_time_parse_utc(fg_json_text_or(object, "started_at", ""), &run->started_ns);
	(void)fg_time_parse_utc(fg_json_text_or(object, "ended_at", ""), &run->ended_ns);
	run->complete = cJSON_IsTrue(fg_json_find(object, "complete"));
	FG_TRY(read_side(cJSON_GetObjectItemCaseSensitive(object, "baseline"),
			 &run->sides[FG_ARM_BASELINE], err));
	return read_side(cJSON_GetObjectItemCaseSensitive(object, "candidate"),
			 &run->sides[FG_ARM_CANDIDATE], err);
}

int fg_report_read_run(const char *json, size_t size, struct fg_run *run, struct fg_error *err)
{
	struct fg_run result;
	cJSON *document = NULL;
	int status = FG_OK;

	FG_TRY(open_document(json, size, &document, err));
	fg_run_init(&result);
	status = read_run(cJSON_GetObjectItemCaseSensitive(document, "run"), &result, err);
	cJSON_Delete(document);
	if (status != FG_OK) {
		fg_run_release(&result);
		return status;
	}
	*run = result;
	return FG_OK;
}
