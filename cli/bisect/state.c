// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "base/json_exchange.h"
#include "cli/bisect/search.h"

#include <math.h>

enum {
	STATE_MAX_BYTES = 64 << 20,
};

#define STATE_NAME "bisect.json"

static const char *const states[] = {
	[FG_SEARCH_NOTHING] = "nothing",
	[FG_SEARCH_FOUND] = "found",
	[FG_SEARCH_OPEN] = "open",
	[FG_SEARCH_STOPPED] = "stopped",
};

/* ---- members: one function per struct writes if `w` is set, and otherwise reads `json` ---- */

static void exchange_request(const struct fg_exchange *with, struct fg_search_request *request)
{
	fg_exchange_text(with, "benchmark", &request->benchmark);
	fg_exchange_text(with, "metric", &request->metric);
	fg_exchange_text(with, "measure", &request->measure);
	fg_exchange_text(with, "function", &request->function);
}

static void exchange_verdict(const struct fg_exchange *with, struct fg_search_verdict *verdict)
{
	const char *outcome = fg_outcome_name(verdict->outcome);

	fg_exchange_text(with, "verdict", &outcome);
	if (!with->w && outcome)
		(void)fg_outcome_parse(outcome, &verdict->outcome);
	fg_exchange_text(with, "run", &verdict->run);
	fg_exchange_number(with, "ratio", &verdict->ratio);
	fg_exchange_number(with, "interval_low", &verdict->low);
	fg_exchange_number(with, "interval_high", &verdict->high);
	fg_exchange_number(with, "smallest_detectable", &verdict->smallest);
	fg_exchange_number(with, "pairs", &verdict->pairs);
	fg_exchange_text(with, "function", &verdict->function);
}

static void exchange_commit(const struct fg_exchange *with, struct fg_search_commit *commit,
			    struct fg_bisect_commit *model)
{
	fg_exchange_text(with, "error", &commit->error);
	fg_exchange_text(with, "code", &commit->code);
	fg_exchange_number(with, "weight", &model->weight);
	fg_exchange_flag(with, "unmeasured", &model->is_unmeasured);
	fg_exchange_flag(with, "same_code", &model->is_same);
	fg_exchange_flag(with, "built", &model->is_built);
}

static void exchange_progress(const struct fg_exchange *with, struct fg_bisect_search *search)
{
	fg_exchange_number(with, "builds", &search->builds);
	fg_exchange_number(with, "pairs", &search->pairs);
	fg_exchange_number(with, "layouts", &search->layouts);
	fg_exchange_text(with, "good_code", &search->good_code);
	fg_exchange_number(with, "build_seconds", &search->model.build_seconds);
	fg_exchange_number(with, "visit_seconds", &search->model.visit_seconds);
	fg_exchange_number(with, "pair_seconds", &search->model.pair_seconds);
}

/* ---- writing ---- */

static void begin_commit(struct fg_json_writer *w, const char *name,
			 const struct fg_range_commit *commit)
{
	fg_json_begin_object(w, name);
	fg_json_text(w, "commit", commit->hash);
	fg_json_text(w, "author", commit->author);
	fg_json_text(w, "subject", commit->subject);
}

static void write_commit(const struct fg_exchange *with, struct fg_bisect_search *search,
			 size_t index)
{
	struct fg_bisect_commit *model = &search->model.commits[index];

	begin_commit(with->w, NULL, &search->range.commits[index]);
	fg_json_double(with->w, "probability",
		       search->look.probability ? search->look.probability[index] : (double)NAN);
	exchange_commit(with, &search->commits[index], model);
	fg_json_begin_array(with->w, "differences");
	for (size_t i = 0; i < model->pair_count; i++)
		fg_json_double(with->w, NULL, model->differences[i]);
	fg_json_end(with->w);
	fg_json_end(with->w);
}

static void write_step(const struct fg_exchange *with, struct fg_bisect_search *search,
		       size_t index)
{
	struct fg_json_writer *w = with->w;
	const struct fg_bisect_step *step = &search->look.steps[index];

	begin_commit(w, NULL, &search->range.commits[step->last]);
	fg_json_double(w, "probability", step->probability);
	fg_json_double(w, "size", exp(step->size));
	fg_json_begin_array(w, "or");
	for (size_t i = step->first; i < step->last; i++)
		fg_json_text(w, NULL, search->range.commits[i].hash);
	fg_json_end(w);
	if (index < search->confirmed) {
		fg_json_begin_object(w, "against_parent");
		exchange_verdict(with, &search->steps[index]);
		fg_json_end(w);
	}
	fg_json_end(w);
}

/* Writes the step that explains the largest part of the change. */
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

void fg_search_json(struct fg_bisect_search *search, struct fg_strbuf *text)
{
	struct fg_json_writer w;
	const struct fg_exchange with = {.w = &w};

	fg_json_writer_init(&w, text, 2);
	fg_json_begin_object(&w, NULL);
	fg_json_text(&w, "schema", "fastgate-bisect/1");
	fg_json_text(&w, "state", states[search->state]);
	fg_json_text(&w, "good", search->range.good);
	fg_json_text(&w, "bad", search->range.bad);
	exchange_request(&with, &search->request);
	fg_json_double(&w, "change", exp(search->look.whole));
	fg_json_double(&w, "explained", search->look.explained);
	fg_json_int(&w, "left", (int64_t)search->look.left);
	write_culprit(search, &w);
	fg_json_begin_object(&w, "ends");
	exchange_verdict(&with, &search->ends);
	fg_json_end(&w);
	fg_json_begin_array(&w, "steps");
	for (size_t i = 0; i < search->look.step_count; i++)
		write_step(&with, search, i);
	fg_json_end(&w);
	fg_json_double(&w, "seconds", fg_search_seconds(search));
	fg_json_text(&w, "schedule", fg_schedule_name(search->schedule));
	exchange_progress(&with, search);
	fg_json_begin_array(&w, "commits");
	for (size_t i = 0; i < search->range.count; i++)
		write_commit(&with, search, i);
	fg_json_end(&w);
	fg_json_end(&w);
	fg_strbuf_add_char(text, '\n');
}

int fg_search_save(struct fg_bisect_search *search, struct fg_error *err)
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
		(void)fg_error_set(err, FG_ENOENT,
				   "no interrupted search to resume: name the ends");
	if (status == FG_OK)
		status = fg_json_parse(text, size, STATE_MAX_BYTES, json, err);
	free(text);
	free(path);
	return status;
}

int fg_search_load_request(struct fg_bisect_search *search, struct fg_error *err)
{
	struct fg_search_request *request = &search->request;
	struct fg_exchange with = {.arena = &search->plan->arena};
	cJSON *json = NULL;

	FG_TRY(read_state(search, &json, err));
	with.json = json;
	fg_exchange_text(&with, "good", &request->good);
	fg_exchange_text(&with, "bad", &request->bad);
	exchange_request(&with, request);
	cJSON_Delete(json);
	return request->good && request->bad
		       ? FG_OK
		       : fg_error_set(err, FG_EPARSE, "%s/%s does not name the ends of the search",
				      search->state_folder, STATE_NAME);
}

static void load_commit(const struct fg_exchange *with, struct fg_search_commit *commit,
			struct fg_bisect_commit *model)
{
	const cJSON *value = NULL;

	exchange_commit(with, commit, model);
	commit->attempts = commit->error ? 1 : 0;
	model->weight = fmax(model->weight, 1e-6);
	cJSON_ArrayForEach(value, fg_json_find(with->json, "differences"))
	{
		if (cJSON_IsNumber(value) && isfinite(value->valuedouble))
			fg_bisect_add(model, value->valuedouble);
	}
}

int fg_search_load(struct fg_bisect_search *search, struct fg_error *err)
{
	struct fg_exchange with = {.arena = &search->plan->arena};
	const cJSON *item = NULL;
	cJSON *json = NULL;
	size_t index = 0;
	int status = FG_OK;

	FG_TRY(read_state(search, &json, err));
	cJSON_ArrayForEach(item, fg_json_find(json, "commits"))
	{
		if (index >= search->range.count || strcmp(fg_json_text_or(item, "commit", ""),
							   search->range.commits[index].hash) != 0)
			break;
		with.json = item;
		load_commit(&with, &search->commits[index], &search->model.commits[index]);
		index++;
	}
	if (index != search->range.count)
		status = fg_error_set(err, FG_EINVAL,
				      "the range no longer has the commits of the interrupted "
				      "search: start a new search");
	with.json = fg_json_find(json, "ends");
	exchange_verdict(&with, &search->ends);
	with.json = json;
	exchange_progress(&with, search);
	search->model.pair_seconds = fmax(search->model.pair_seconds, 1e-6);
	(void)fg_schedule_parse(fg_json_text_or(json, "schedule", "abba"), &search->schedule);
	search->seconds_before = fg_json_double_or(json, "seconds", 0);
	search->state = FG_SEARCH_OPEN;
	cJSON_Delete(json);
	return status;
}
