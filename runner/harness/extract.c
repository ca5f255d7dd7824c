// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "base/json.h"
#include "runner/harness/harness.h"

#include <math.h>
#include <regex.h>

enum {
	FILE_LIMIT_BYTES = 16 << 20,
	JSON_LIMIT_BYTES = 16 << 20
};

struct rule {
	const struct fg_user_metric *metric;
	regex_t regex;
	bool has_regex;
};

struct fg_extractor {
	struct rule *rules;
	size_t count;
};

static int compile(struct rule *rule, const struct fg_user_metric *metric, struct fg_error *err)
{
	char why[128];
	int code = 0;

	rule->metric = metric;
	if (!metric->regex)
		return FG_OK;
	code = regcomp(&rule->regex, metric->regex, REG_EXTENDED | REG_NEWLINE);
	if (code) {
		(void)regerror(code, &rule->regex, why, sizeof(why));
		return fg_error_set(err, FG_EPARSE,
				    "metric '%s': the expression '%s' is not valid: %s",
				    metric->name, metric->regex, why);
	}
	rule->has_regex = true;
	return FG_OK;
}

int fg_extractor_create(const struct fg_user_metric *metrics, size_t count,
			struct fg_extractor **extractor, struct fg_error *err)
{
	struct fg_extractor *made = fg_xcalloc(1, sizeof(*made));
	int status = FG_OK;

	made->rules = fg_xcalloc(count, sizeof(made->rules[0]));
	for (made->count = 0; made->count < count && status == FG_OK; made->count++)
		status = compile(&made->rules[made->count], &metrics[made->count], err);
	if (status != FG_OK) {
		fg_extractor_free(made);
		return status;
	}
	*extractor = made;
	return FG_OK;
}

void fg_extractor_free(struct fg_extractor *extractor)
{
	if (!extractor)
		return;
	for (size_t i = 0; i < extractor->count; i++) {
		if (extractor->rules[i].has_regex)
			regfree(&extractor->rules[i].regex);
	}
	free(extractor->rules);
	free(extractor);
}

/* Reads the number in `text`. Returns false if `text` is anything else. */
static bool read_number(const char *text, size_t length, double *value)
{
	char word[64];
	char *end = NULL;

	if (length == 0 || length >= sizeof(word))
		return false;
	memcpy(word, text, length);
	word[length] = '\0';
	*value = strtod(word, &end);
	return end != word && *end == '\0' && isfinite(*value);
}

enum finding {
	NOTHING,
	NO_NUMBER,
	FOUND,
};

static enum finding search_lines(const regex_t *regex, char *text, double *value)
{
	enum finding finding = NOTHING;
	char *line = text;

	while (line) {
		char *newline = strchr(line, '\n');
		regmatch_t groups[2] = {{.rm_so = -1}, {.rm_so = -1}};

		if (newline)
			*newline = '\0';
		if (regexec(regex, line, 2, groups, 0) == 0) {
			const regmatch_t *match = &groups[groups[1].rm_so >= 0 ? 1 : 0];
			double number = 0;

			finding = NO_NUMBER;
			if (read_number(line + match->rm_so, (size_t)(match->rm_eo - match->rm_so),
					&number)) {
				finding = FOUND;
				*value = number;
			}
		}
		line = newline ? newline + 1 : NULL;
	}
	return finding;
}

/*
 * Copies untrusted output. NULs, which would end the search early, and carriage returns become
 * newlines.
 */
static char *searchable(const char *text, size_t size)
{
	char *copy = fg_xmalloc(size + 1);

	if (size)
		memcpy(copy, text, size);
	copy[size] = '\0';
	for (size_t i = 0; i < size; i++) {
		if (copy[i] == '\0' || copy[i] == '\r')
			copy[i] = '\n';
	}
	return copy;
}

static enum finding search_text(const regex_t *regex, const char *text, size_t size, double *value)
{
	char *copy = searchable(text, size);
	const enum finding finding = search_lines(regex, copy, value);

	free(copy);
	return finding;
}

static int by_regex(const struct rule *rule, const struct fg_extract_source *source, double *value,
		    struct fg_error *err)
{
	enum finding finding =
		search_text(&rule->regex, source->stdout_text, source->stdout_size, value);

	if (finding == NOTHING && source->stderr_size)
		finding =
			search_text(&rule->regex, source->stderr_text, source->stderr_size, value);
	if (finding == FOUND)
		return FG_OK;
	if (finding == NO_NUMBER)
		return fg_error_set(err, FG_ECHILD,
				    "metric '%s': the text that '%s' matched is not a number",
				    rule->metric->name, rule->metric->regex);
	return fg_error_set(
		err, FG_ECHILD, "metric '%s': nothing in the %s matches '%s'%s", rule->metric->name,
		rule->metric->file ? rule->metric->file : "output", rule->metric->regex,
		source->cut ? " (the output was too long: only its beginning and end were searched)"
			    : "");
}

static int by_pointer(const struct rule *rule, const struct fg_extract_source *source,
		      double *value, struct fg_error *err)
{
	const struct fg_user_metric *metric = rule->metric;
	const cJSON *node = NULL;
	cJSON *json = NULL;
	int status = fg_json_parse(source->stdout_text, source->stdout_size, JSON_LIMIT_BYTES,
				   &json, err);

	if (status != FG_OK) {
		fg_error_prefix(err, "metric '%s': the %s is not JSON", metric->name,
				metric->file ? metric->file : "output");
		if (err)
			err->code = FG_ECHILD;
		return FG_ECHILD;
	}
	node = fg_json_pointer(json, metric->json_pointer);
	if (cJSON_IsNumber(node) && isfinite(node->valuedouble))
		*value = node->valuedouble;
	else
		status = fg_error_set(err, FG_ECHILD, "metric '%s': %s at '%s'", metric->name,
				      node ? "not a number" : "nothing", metric->json_pointer);
	cJSON_Delete(json);
	return status;
}

static int extract_one(const struct rule *rule, const struct fg_extract_source *source,
		       double *value, struct fg_error *err)
{
	struct fg_extract_source in_file = {.working_directory = source->working_directory};
	char *path = NULL;
	char *text = NULL;
	int status = FG_OK;

	if (rule->metric->file) {
		path = fg_fs_join(source->working_directory, rule->metric->file);
		status = fg_fs_read_regular(path, FILE_LIMIT_BYTES, &text, &in_file.stdout_size,
					    err);
		free(path);
		if (status != FG_OK) {
			fg_error_prefix(err, "metric '%s'", rule->metric->name);
			if (err)
				err->code = FG_ECHILD;
			return FG_ECHILD;
		}
		in_file.stdout_text = text;
		source = &in_file;
	}
	status = rule->has_regex ? by_regex(rule, source, value, err)
				 : by_pointer(rule, source, value, err);
	free(text);
	return status;
}

int fg_extractor_run(const struct fg_extractor *extractor, const struct fg_extract_source *source,
		     double *values, struct fg_error *err)
{
	int status = FG_OK;

	for (size_t i = 0; i < extractor->count && status == FG_OK; i++)
		status = extract_one(&extractor->rules[i], source, &values[i], err);
	return status;
}
