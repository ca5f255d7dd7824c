// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/json_write.h"
#include "cli/session/bisect.h"

#include <math.h>

enum {
	STATE_MAX_BYTES = 64 << 20,
	TEXT_MAX_BYTES = 4096,
};

#define STATE_NAME "bisect.json"

static const char *const states[] = {
	[FG_SEARCH_NOTHING] = "nothing",
	[FG_SEARCH_FOUND] = "found",
	[FG_SEARCH_OPEN] = "open",
	[FG_SEARCH_STOPPED] = "stopped",
};

/* ---- members that are written and read alike ---- */

struct member {
	const char *name; /* NULL: the last one */
	size_t offset;
	enum {
		TEXT,
		NUMBER,
		FLAG
	} kind;
};

/* NOLINTBEGIN(bugprone-macro-parentheses): names of members cannot be put into parentheses. */
#define MEMBER(type, field, member_name, member_kind)                              \
 {                                                                                 \
  .name = member_name, .offset = offsetof(struct type, field), .kind = member_kind \
 }

/* NOLINTEND(bugprone-macro-parentheses) */

static const struct member request_members[] = {
	MEMBER(fg_search_request, benchmark, "benchmark", TEXT),
	MEMBER(fg_search_request, metric, "metric", TEXT),
	MEMBER(fg_search_request, measure, "measure", TEXT),
	MEMBER(fg_search_request, function, "function", TEXT),
	{.name = NULL},
};

static const struct member verdict_members[] = {
	MEMBER(fg_search_verdict, run, "run", TEXT),
	MEMBER(fg_search_verdict, ratio, "ratio", NUMBER),
	MEMBER(fg_search_verdict, low, "interval_low", NUMBER),
	MEMBER(fg_search_verdict, high, "interval_high", NUMBER),
	MEMBER(fg_search_verdict, smallest, "smallest_detectable", NUMBER),
	MEMBER(fg_search_verdict, pairs, "pairs", NUMBER),
	MEMBER(fg_search_verdict, function, "function", TEXT),
	MEMBER(fg_search_verdict, file, "file", TEXT),
	MEMBER(fg_search_verdict, line, "line", NUMBER),
	MEMBER(fg_search_verdict, hunk, "hunk", TEXT),
	{.name = NULL},
};

static const struct member commit_members[] = {
	MEMBER(fg_search_commit, error, "error", TEXT),
	MEMBER(fg_search_commit, code, "code", TEXT),
	{.name = NULL},
};

static const struct member model_members[] = {
	MEMBER(fg_bisect_commit, weight, "weight", NUMBER),
	MEMBER(fg_bisect_commit, is_unmeasured, "unmeasured", FLAG),
	MEMBER(fg_bisect_commit, is_same, "same_code", FLAG),
	MEMBER(fg_bisect_commit, is_built, "built", FLAG),
	{.name = NULL},
};

static const struct member cost_members[] = {
	MEMBER(fg_bisect, build_seconds, "build_seconds", NUMBER),
	MEMBER(fg_bisect, visit_seconds, "visit_seconds", NUMBER),
	MEMBER(fg_bisect, pair_seconds, "pair_seconds", NUMBER),
	{.name = NULL},
};

static const struct member search_members[] = {
	MEMBER(fg_bisect_search, builds, "builds", NUMBER),
	MEMBER(fg_bisect_search, pairs, "pairs", NUMBER),
	MEMBER(fg_bisect_search, layouts, "layouts", NUMBER),
	MEMBER(fg_bisect_search, good_code, "good_code", TEXT),
	{.name = NULL},
};

static void write_members(struct fg_json_writer *w, const struct member *members, const void *of)
{
	for (const struct member *member = members; member->name; member++) {
		const char *at = (const char *)of + member->offset;

		if (member->kind == TEXT)
			fg_json_text(w, member->name, *(const char *const *)(const void *)at);
		else if (member->kind == NUMBER)
			fg_json_double(w, member->name, *(const double *)(const void *)at);
		else
			fg_json_bool(w, member->name, *(const bool *)(const void *)at);
	}
}

static const char *text_in(const cJSON *json, const char *name, struct fg_arena *arena)
{
	const char *text = fg_json_text_or(json, name, "");

	return *text ? fg_arena_strndup(arena, text, TEXT_MAX_BYTES) : NULL;
}

static void read_members(const cJSON *json, const struct member *members, struct fg_arena *arena,
			 void *of)
{
	for (const struct member *member = members; member->name; member++) {
		char *at = (char *)of + member->offset;

		if (member->kind == TEXT)
			*(const char **)(void *)at = text_in(json, member->name, arena);
		else if (member->kind == NUMBER)
			*(double *)(void *)at = fg_json_double_or(json, member->name, (double)NAN);
		else
			*(bool *)(void *)at = cJSON_IsTrue(fg_json_find(json, member->name));
	}
}

/* ---- writing ---- */

static void write_verdict(struct fg_json_writer *w, const char *name,
			  const struct fg_search_verdict *verdict)
{
	fg_json_begin_object(w, name);
	fg_json_text(w, "verdict", fg_outcome_name(verdict->outcome));
	write_members(w, verdict_members, verdict);
	fg_json_end(w);
}

static void begin_commit(struct fg_json_writer *w, const char *name,
			 const struct fg_range_commit *commit)
{
	fg_json_begin_object(w, name);
	fg_json_text(w, "commit", commit->hash);
	fg_json_text(w, "author", commit->author);
	fg_json_text(w, "subject", commit->subject);
}

static void write_commit(const struct fg_bisect_search *search, size_t index,
			 struct fg_json_writer *w)
{
	const struct fg_bisect_commit *model = &search->model.commits[index];

	begin_commit(w, NULL, &search->range.commits[index]);
	fg_json_double(w, "probability",
		       search->look.probability ? search->look.probability[index] : (double)NAN);
	write_members(w, commit_members, &search->commits[index]);
	write_members(w, model_members, model);
	fg_json_begin_array(w, "differences");
	for (size_t i = 0; i < model->pair_count; i++)
		fg_json_double(w, NULL, model->differences[i]);
	fg_json_end(w);
	fg_json_end(w);
}

static void write_step(const struct fg_bisect_search *search, size_t index,
		       struct fg_json_writer *w)
{
	const struct fg_bisect_step *step = &search->look.steps[index];

	begin_commit(w, NULL, &search->range.commits[step->last]);
	fg_json_double(w, "probability", step->probability);
	fg_json_double(w, "size", exp(step->size));
	fg_json_begin_array(w, "or");
	for (size_t i = step->first; i < step->last; i++)
		fg_json_text(w, NULL, search->range.commits[i].hash);
	fg_json_end(w);
	if (index < search->confirmed)
		write_verdict(w, "against_parent", &search->steps[index]);
	fg_json_end(w);
}

/* The step that explains most. */
static void write_culprit(const struct fg_bisect_search *search, struct fg_json_writer *w)
{
	const struct fg_bisect_step *steps = search->look.steps;
	size_t largest = 0;

	for (size_t i = 1; i < search->look.step_count; i++)
		largest = steps[i].size > steps[largest].size ? i : largest;
	if (search->look.step_count == 0) {
		fg_json_null(w, "culprit");
		return;
	}
	begin_commit(w, "culprit", &search->range.commits[steps[largest].last]);
	fg_json_text(w, "function", search->steps[largest].function);
	fg_json_end(w);
}

void fg_search_json(const struct fg_bisect_search *search, struct fg_strbuf *text)
{
	struct fg_json_writer w;

	fg_json_writer_init(&w, text, 2);
	fg_json_begin_object(&w, NULL);
	fg_json_text(&w, "schema", "fastgate-bisect/1");
	fg_json_text(&w, "state", states[search->state]);
	fg_json_text(&w, "good", search->range.good);
	fg_json_text(&w, "bad", search->range.bad);
	write_members(&w, request_members, &search->asked);
	fg_json_double(&w, "change", exp(search->look.whole));
	fg_json_double(&w, "explained", search->look.explained);
	fg_json_int(&w, "left", (int64_t)search->look.left);
	write_culprit(search, &w);
	write_verdict(&w, "ends", &search->ends);
	fg_json_begin_array(&w, "steps");
	for (size_t i = 0; i < search->look.step_count; i++)
		write_step(search, i, &w);
	fg_json_end(&w);
	fg_json_double(&w, "seconds", fg_search_seconds(search));
	fg_json_text(&w, "schedule", fg_schedule_name(search->schedule));
	write_members(&w, search_members, search);
	fg_json_begin_object(&w, "costs");
	write_members(&w, cost_members, &search->model);
	fg_json_end(&w);
	fg_json_begin_array(&w, "commits");
	for (size_t i = 0; i < search->range.count; i++)
		write_commit(search, i, &w);
	fg_json_end(&w);
	fg_json_end(&w);
	fg_strbuf_add_char(text, '\n');
}

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

/* ---- reading ---- */

static int read_state(const struct fg_bisect_search *search, cJSON **json, struct fg_error *err)
{
	char *path = fg_fs_join(search->state_folder, STATE_NAME);
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

int fg_search_load_request(struct fg_bisect_search *search, struct fg_error *err)
{
	struct fg_search_request *asked = &search->asked;
	cJSON *json = NULL;
	const int status = read_state(search, &json, err);

	if (status != FG_OK)
		return status;
	asked->good = text_in(json, "good", &search->plan->arena);
	asked->bad = text_in(json, "bad", &search->plan->arena);
	read_members(json, request_members, &search->plan->arena, asked);
	cJSON_Delete(json);
	return asked->good && asked->bad ? FG_OK
					 : fg_error_set(err, FG_EPARSE, "%s/%s has no ends",
							search->state_folder, STATE_NAME);
}

static void load_commit(const cJSON *item, struct fg_arena *arena, struct fg_search_commit *commit,
			struct fg_bisect_commit *model)
{
	const cJSON *value = NULL;

	read_members(item, commit_members, arena, commit);
	read_members(item, model_members, arena, model);
	commit->attempts = commit->error ? 1 : 0;
	model->weight = fmax(model->weight, 1e-6);
	cJSON_ArrayForEach(value, fg_json_find(item, "differences"))
	{
		if (cJSON_IsNumber(value) && isfinite(value->valuedouble))
			fg_bisect_add(model, value->valuedouble);
	}
}

int fg_search_load(struct fg_bisect_search *search, struct fg_error *err)
{
	struct fg_bisect *model = &search->model;
	const cJSON *item = NULL;
	cJSON *json = NULL;
	size_t index = 0;
	int status = read_state(search, &json, err);

	if (status != FG_OK)
		return status;
	cJSON_ArrayForEach(item, fg_json_find(json, "commits"))
	{
		if (index >= search->range.count || strcmp(fg_json_text_or(item, "commit", ""),
							   search->range.commits[index].hash) != 0)
			break;
		load_commit(item, &search->plan->arena, &search->commits[index],
			    &model->commits[index]);
		index++;
	}
	if (index != search->range.count)
		status = fg_error_set(err, FG_EINVAL,
				      "the commits are not those of the interrupted search: start "
				      "it again");
	read_members(fg_json_find(json, "ends"), verdict_members, &search->plan->arena,
		     &search->ends);
	read_members(json, search_members, &search->plan->arena, search);
	read_members(fg_json_find(json, "costs"), cost_members, &search->plan->arena, model);
	model->pair_seconds = fmax(model->pair_seconds, 1e-6);
	(void)fg_outcome_parse(fg_json_text_or(json, "ends/verdict", ""), &search->ends.outcome);
	(void)fg_schedule_parse(fg_json_text_or(json, "schedule", "abba"), &search->schedule);
	search->seconds_before = fg_json_double_or(json, "seconds", 0);
	search->state = FG_SEARCH_OPEN;
	cJSON_Delete(json);
	return status;
}
