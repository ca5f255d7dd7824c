// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "base/json_write.h"
#include "base/number.h"
#include "base/strbuf.h"
#include "model/environment.h"
#include "model/run.h"
#include "store/bundle.h"
#include "store/store.h"
#include "store/values.h"

#include <ctype.h>

enum {
	UUID_LENGTH = 36,
	SEED_BASE = 16
};

/* Writes nanoseconds since 1970 as text, because most readers of JSON use doubles for numbers. */
static void write_time(struct fg_json_writer *w, const char *name, int64_t value)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%lld", (long long)value);
	fg_json_text(w, name, text);
}

static void write_facts(struct fg_json_writer *w, const char *name,
			const struct fg_environment *environment)
{
	fg_json_begin_array(w, name);
	for (size_t i = 0; i < environment->count; i++) {
		fg_json_begin_object(w, NULL);
		fg_json_text(w, "key", environment->facts[i].key);
		fg_json_text(w, "value", environment->facts[i].value);
		if (environment->facts[i].identity)
			fg_json_bool(w, "identity", true);
		fg_json_end(w);
	}
	fg_json_end(w);
}

static void write_build(struct fg_json_writer *w, const char *name,
			const struct fg_build_facts *build)
{
	struct fg_environment facts = {0};

	fg_build_facts_list(build, &facts);
	write_facts(w, name, &facts);
	fg_environment_release(&facts);
}

static void write_side(struct fg_json_writer *w, const char *name, const struct fg_side *side)
{
	fg_json_begin_object(w, name);
	fg_json_text(w, "commit", side->commit);
	fg_json_text(w, "branch", side->branch);
	fg_json_text(w, "describe", side->describe);
	fg_json_bool(w, "dirty", side->dirty);
	write_facts(w, "build", &side->build);
	fg_json_end(w);
}

static void write_series(struct fg_json_writer *w, const struct fg_series *series)
{
	fg_json_begin_object(w, NULL);
	fg_json_text(w, "name", series->name);
	fg_json_text(w, "command", series->command);
	fg_metrics_write(series, w, "metrics");
	fg_details_write(series, w, "details");
	write_build(w, "baseline_build", &series->build[FG_ARM_BASELINE]);
	write_build(w, "candidate_build", &series->build[FG_ARM_CANDIDATE]);
	fg_json_end(w);
}

void fg_envelope_write(const struct fg_stored_run *stored, struct fg_strbuf *text)
{
	const struct fg_run *run = &stored->run;
	struct fg_json_writer w;
	char seed[24];

	(void)snprintf(seed, sizeof(seed), "%016llx", (unsigned long long)run->seed);
	fg_json_writer_init(&w, text, 0);
	fg_json_begin_object(&w, NULL);
	fg_json_text(&w, "schema", FG_ENVELOPE_SCHEMA);
	fg_json_text(&w, "id", run->id);
	fg_json_text(&w, "project", run->project);
	write_time(&w, "started_ns", run->started_ns);
	write_time(&w, "ended_ns", run->ended_ns);
	fg_json_bool(&w, "complete", run->complete);
	fg_json_bool(&w, "has_baseline", run->has_baseline);
	fg_json_text(&w, "seed", seed);
	fg_json_text(&w, "tool_version", run->tool_version);
	write_side(&w, "baseline", &run->sides[FG_ARM_BASELINE]);
	write_side(&w, "candidate", &run->sides[FG_ARM_CANDIDATE]);
	write_facts(&w, "host", &run->host);
	fg_json_begin_array(&w, "series");
	for (size_t i = 0; i < run->series_count; i++)
		write_series(&w, &run->series[i]);
	fg_json_end(&w);
	if (stored->report)
		fg_json_raw(&w, "report", stored->report);
	fg_json_end(&w);
}

static int read_time(const cJSON *json, const char *name, int64_t *value, struct fg_error *err)
{
	const char *text = NULL;
	int status = fg_json_get_text(json, name, &text, err);

	if (status == FG_OK)
		status = fg_parse_int64(text, value, err);
	if (status != FG_OK)
		fg_error_prefix(err, "'%s'", name);
	return status;
}

static int read_facts(const cJSON *json, const char *name, struct fg_environment *environment,
		      struct fg_error *err)
{
	const cJSON *list = fg_json_find(json, name);
	const cJSON *item = NULL;

	if (!list)
		return FG_OK;
	if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) > FG_MAX_FACTS)
		return fg_error_set(err, FG_EPARSE, "'%s': expected a list of at most %d facts",
				    name, FG_MAX_FACTS);
	cJSON_ArrayForEach(item, list)
	{
		const char *key = fg_json_text_or(item, "key", "");
		const char *value = fg_json_text_or(item, "value", NULL);

		if (!*key || strlen(key) > FG_MAX_NAME_BYTES || !value ||
		    strlen(value) > FG_MAX_TEXT_BYTES)
			return fg_error_set(
				err, FG_EPARSE,
				"'%s': a fact needs a key of 1 to %d bytes and a value as text",
				name, FG_MAX_NAME_BYTES);
		fg_environment_set(environment, key, value,
				   cJSON_IsTrue(fg_json_find(item, "identity")));
	}
	return FG_OK;
}

static int read_build(const cJSON *json, const char *name, struct fg_build_facts *build,
		      struct fg_error *err)
{
	struct fg_environment facts = {0};
	const int status = read_facts(json, name, &facts, err);

	for (size_t i = 0; i < facts.count; i++)
		fg_build_facts_set(build, facts.facts[i].key, facts.facts[i].value);
	fg_environment_release(&facts);
	return status;
}

/* Reads an optional string of at most `max` bytes. */
static int read_text(const cJSON *json, const char *name, size_t max, char **to,
		     struct fg_error *err)
{
	const char *text = fg_json_text_or(json, name, NULL);

	if (text && strlen(text) > max)
		return fg_error_set(err, FG_ELIMIT, "'%s' is longer than %zu bytes", name, max);
	*to = fg_xstrdup(text);
	return FG_OK;
}

static int read_side(const cJSON *json, const char *name, struct fg_side *side,
		     struct fg_error *err)
{
	const cJSON *object = fg_json_find(json, name);
	int status = FG_OK;

	if (!object)
		return FG_OK;
	FG_TRY_OUT(read_text(object, "commit", FG_MAX_NAME_BYTES, &side->commit, err));
	FG_TRY_OUT(read_text(object, "branch", FG_MAX_NAME_BYTES, &side->branch, err));
	FG_TRY_OUT(read_text(object, "describe", FG_MAX_TEXT_BYTES, &side->describe, err));
	status = read_facts(object, "build", &side->build, err);
out:
	side->dirty = cJSON_IsTrue(fg_json_find(object, "dirty"));
	if (status != FG_OK)
		fg_error_prefix(err, "'%s'", name);
	return status;
}

static int read_series(const cJSON *json, struct fg_run *run, struct fg_error *err)
{
	const char *name = fg_json_text_or(json, "name", "");
	struct fg_series *series = NULL;

	if (!*name || strlen(name) > FG_MAX_NAME_BYTES)
		return fg_error_set(err, FG_EPARSE, "a benchmark needs a name of 1 to %d bytes",
				    FG_MAX_NAME_BYTES);
	if (fg_run_find(run, name))
		return fg_error_set(err, FG_EPARSE, "duplicate benchmark '%s'", name);
	series = fg_run_add_series(run, name);
	FG_TRY(read_text(json, "command", FG_MAX_TEXT_BYTES, &series->command, err));
	FG_TRY(fg_metrics_read(fg_json_find(json, "metrics"), series, err));
	FG_TRY(fg_details_read(fg_json_find(json, "details"), series, err));
	FG_TRY(read_build(json, "baseline_build", &series->build[FG_ARM_BASELINE], err));
	return read_build(json, "candidate_build", &series->build[FG_ARM_CANDIDATE], err);
}

static bool is_uuid(const char *text)
{
	if (strlen(text) != UUID_LENGTH)
		return false;
	for (size_t i = 0; i < UUID_LENGTH; i++) {
		const bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? text[i] != '-'
			 : !isxdigit((unsigned char)text[i]) || isupper((unsigned char)text[i]))
			return false;
	}
	return true;
}

static int read_identity(const cJSON *json, struct fg_stored_run *stored, struct fg_error *err)
{
	const char *schema = fg_json_text_or(json, "schema", "");
	const char *id = fg_json_text_or(json, "id", "");
	const char *project = fg_json_text_or(json, "project", "");
	const char *seed = fg_json_text_or(json, "seed", "0");

	if (strcmp(schema, FG_ENVELOPE_SCHEMA) != 0)
		return fg_error_set(err, FG_EUNSUPPORTED,
				    "the run has schema '%.40s'; this fastgate reads '%s'", schema,
				    FG_ENVELOPE_SCHEMA);
	if (!is_uuid(id))
		return fg_error_set(err, FG_EPARSE, "'id' must be a lower-case UUID, got '%.40s'",
				    id);
	if (!*project || strlen(project) > FG_MAX_NAME_BYTES)
		return fg_error_set(err, FG_EPARSE, "'project' must have 1 to %d bytes",
				    FG_MAX_NAME_BYTES);
	memcpy(stored->run.id, id, sizeof(stored->run.id));
	stored->run.project = fg_xstrdup(project);
	stored->run.seed = strtoull(seed, NULL, SEED_BASE);
	return FG_OK;
}

static int read_all_series(const cJSON *json, struct fg_run *run, struct fg_error *err)
{
	const cJSON *list = fg_json_find(json, "series");
	const cJSON *item = NULL;
	int status = FG_OK;

	if (!cJSON_IsArray(list) || cJSON_GetArraySize(list) > FG_MAX_SERIES)
		return fg_error_set(err, FG_EPARSE,
				    "'series': expected a list of at most %d benchmarks",
				    FG_MAX_SERIES);
	cJSON_ArrayForEach(item, list)
	{
		status = read_series(item, run, err);
		if (status != FG_OK)
			break;
	}
	return status;
}

static int read_report(const cJSON *json, struct fg_stored_run *stored, struct fg_error *err)
{
	const cJSON *report = fg_json_find(json, "report");
	char *text = NULL;

	if (!report)
		return FG_OK;
	if (!cJSON_IsObject(report))
		return fg_error_set(err, FG_EPARSE, "'report': expected an object");
	text = cJSON_PrintUnformatted(report);
	stored->report = fg_xstrdup(text);
	stored->outcome = fg_xstrdup(fg_json_text_or(report, "verdict", NULL));
	cJSON_free(text);
	return FG_OK;
}

static int read_run(const cJSON *json, struct fg_run *run, struct fg_error *err)
{
	FG_TRY(read_time(json, "started_ns", &run->started_ns, err));
	FG_TRY(read_time(json, "ended_ns", &run->ended_ns, err));
	FG_TRY(read_text(json, "tool_version", FG_MAX_NAME_BYTES, &run->tool_version, err));
	FG_TRY(read_side(json, "baseline", &run->sides[FG_ARM_BASELINE], err));
	FG_TRY(read_side(json, "candidate", &run->sides[FG_ARM_CANDIDATE], err));
	FG_TRY(read_facts(json, "host", &run->host, err));
	return read_all_series(json, run, err);
}

int fg_envelope_read(const char *text, size_t size, size_t max, struct fg_stored_run *stored,
		     struct fg_error *err)
{
	struct fg_stored_run s = {0};
	cJSON *json = NULL;
	int status = fg_json_parse(text, size, max, &json, err);

	fg_run_init(&s.run);
	if (status != FG_OK)
		goto out;
	FG_TRY_OUT(read_identity(json, &s, err));
	FG_TRY_OUT(read_run(json, &s.run, err));
	status = read_report(json, &s, err);
out:
	s.run.complete = cJSON_IsTrue(fg_json_find(json, "complete"));
	s.run.has_baseline = cJSON_IsTrue(fg_json_find(json, "has_baseline"));
	cJSON_Delete(json);
	if (status == FG_OK)
		*stored = s;
	else
		fg_stored_run_release(&s);
	return status;
}
