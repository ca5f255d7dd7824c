// SPDX-License-Identifier: Apache-2.0
/* An interrupted search: .fastgate/bisect.json is its report, with all that it measured. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "cli/session/bisect.h"

#include <math.h>

enum {
	STATE_MAX_BYTES = 64 << 20,
	TEXT_MAX_BYTES = 4096,
};

#define STATE_NAME "bisect.json"

int fg_search_save(const struct fg_bisect_search *search, struct fg_error *err)
{
	char *path = fg_fs_join(search->state_folder, STATE_NAME);
	struct fg_strbuf text = {0};
	int status = FG_OK;

	fg_search_json(search, &text);
	status = fg_fs_write_atomic(path, fg_strbuf_text(&text), text.length, 0644, err);
	fg_strbuf_release(&text);
	free(path);
	return status;
}

static int read_state(const char *state_folder, cJSON **json, struct fg_error *err)
{
	char *path = fg_fs_join(state_folder, STATE_NAME);
	char *text = NULL;
	size_t size = 0;
	int status = fg_fs_read_regular(path, STATE_MAX_BYTES, &text, &size, err);

	if (status == FG_ENOENT)
		(void)fg_error_set(err, FG_ENOENT, "no search was interrupted here: name its ends");
	if (status == FG_OK)
		status = fg_json_parse(text, size, STATE_MAX_BYTES, json, err);
	free(text);
	free(path);
	return status;
}

static const char *text_in(const cJSON *json, const char *path, struct fg_arena *arena)
{
	const char *text = fg_json_text_or(json, path, "");

	return *text ? fg_arena_strndup(arena, text, TEXT_MAX_BYTES) : NULL;
}

int fg_search_load_request(const char *state_folder, struct fg_arena *arena,
			   struct fg_search_request *asked, struct fg_error *err)
{
	cJSON *json = NULL;
	const int status = read_state(state_folder, &json, err);

	if (status != FG_OK)
		return status;
	asked->good = text_in(json, "good", arena);
	asked->bad = text_in(json, "bad", arena);
	asked->benchmark = text_in(json, "benchmark", arena);
	asked->metric = text_in(json, "metric", arena);
	asked->function = text_in(json, "function", arena);
	asked->measure = text_in(json, "measure", arena);
	cJSON_Delete(json);
	return asked->good && asked->bad ? FG_OK
					 : fg_error_set(err, FG_EPARSE, "%s/%s has no ends",
							state_folder, STATE_NAME);
}

static char *copy_in(const cJSON *json, const char *path)
{
	const char *text = fg_json_text_or(json, path, "");

	return *text ? fg_xstrndup(text, TEXT_MAX_BYTES) : NULL;
}

static void load_commit(const cJSON *item, struct fg_search_commit *commit,
			struct fg_bisect_commit *model)
{
	const cJSON *value = NULL;

	commit->code = copy_in(item, "code");
	commit->error = copy_in(item, "error");
	commit->attempts = commit->error ? 1 : 0;
	model->is_unmeasured = commit->error && !cJSON_IsTrue(fg_json_find(item, "same_code"));
	model->is_same = cJSON_IsTrue(fg_json_find(item, "same_code"));
	model->is_built = cJSON_IsTrue(fg_json_find(item, "built"));
	model->weight = fmax(fg_json_double_or(item, "weight", 1), 1e-6);
	cJSON_ArrayForEach(value, fg_json_find(item, "differences"))
	{
		if (cJSON_IsNumber(value) && isfinite(value->valuedouble))
			fg_bisect_add(model, value->valuedouble);
	}
}

static void load_verdict(const cJSON *json, struct fg_search_verdict *verdict)
{
	(void)snprintf(verdict->run, sizeof(verdict->run), "%s", fg_json_text_or(json, "run", ""));
	if (!fg_outcome_parse(fg_json_text_or(json, "verdict", ""), &verdict->outcome))
		verdict->outcome = FG_OUTCOME_REGRESSION;
	verdict->ratio = fg_json_double_or(json, "ratio", (double)NAN);
	verdict->low = fg_json_double_or(json, "interval_low", (double)NAN);
	verdict->high = fg_json_double_or(json, "interval_high", (double)NAN);
	verdict->smallest = fg_json_double_or(json, "smallest_detectable", (double)NAN);
	verdict->pairs = (unsigned)fg_json_double_or(json, "pairs", 0);
	verdict->function = copy_in(json, "function");
	verdict->file = copy_in(json, "file");
}

int fg_search_load(struct fg_bisect_search *search, struct fg_error *err)
{
	const cJSON *item = NULL;
	cJSON *json = NULL;
	size_t index = 0;
	int status = read_state(search->state_folder, &json, err);

	if (status != FG_OK)
		return status;
	cJSON_ArrayForEach(item, fg_json_find(json, "commits"))
	{
		if (index >= search->range.count || strcmp(fg_json_text_or(item, "commit", ""),
							   search->range.commits[index].hash) != 0)
			break;
		load_commit(item, &search->commits[index], &search->model.commits[index]);
		index++;
	}
	if (index != search->range.count)
		status = fg_error_set(err, FG_EINVAL,
				      "the commits are not those of the interrupted search: start "
				      "it again");
	load_verdict(fg_json_find(json, "ends"), &search->ends);
	search->good_code = copy_in(json, "good_code");
	(void)fg_schedule_parse(fg_json_text_or(json, "schedule", "abba"), &search->schedule);
	search->layouts = (unsigned)fg_json_double_or(json, "layouts", 0);
	search->model.build_seconds = fg_json_double_or(json, "costs/build_seconds", 1);
	search->model.visit_seconds = fg_json_double_or(json, "costs/visit_seconds", 1);
	search->model.pair_seconds = fmax(fg_json_double_or(json, "costs/pair_seconds", 1), 1e-6);
	search->seconds_before = fg_json_double_or(json, "seconds", 0);
	search->builds = (unsigned)fg_json_double_or(json, "builds", 0);
	search->pairs = (unsigned)fg_json_double_or(json, "pairs", 0);
	search->state = FG_SEARCH_OPEN;
	search->is_resumed = true;
	cJSON_Delete(json);
	return status;
}
