// SPDX-License-Identifier: Apache-2.0
/* Two runs by function. */
#include "perfdb/server/api/handlers.h"
#include "perfdb/server/api/sides.h"
#include "store/serving/compare.h"
#include "store/serving/side.h"

enum {
	FUNCTIONS_DEFAULT = 200,
	FUNCTIONS_MAX = 20000
};

/* JSON keys of the values: those of times end in "_ms". */
struct keys {
	const char *self;
	const char *inclusive;
	const char *delta;
	const char *interval;
	const char *total;
};

static const struct keys keys_of_time = {
	.self = "self_ms",
	.inclusive = "inclusive_ms",
	.delta = "delta_ms",
	.interval = "sampling_interval_ms",
	.total = "total_ms",
};

static const struct keys keys_of_measures = {
	.self = "self",
	.inclusive = "inclusive",
	.delta = "delta",
	.interval = "sampling_interval",
	.total = "total",
};

static void write_pair(struct fg_json_writer *w, const struct fg_shown_measure *shown,
		       const char *name, double first, double second)
{
	fg_sides_write_pair(w, name, fg_sides_value(shown, first), fg_sides_value(shown, second));
}

static void write_delta(struct fg_json_writer *w, const struct fg_shown_measure *shown,
			const struct fg_function_delta *d)
{
	const struct keys *keys = shown->other ? &keys_of_measures : &keys_of_time;
	const double delta = d->self[1] - d->self[0];
	const double error = d->sampling_error;

	fg_json_begin_object(w, NULL);
	fg_json_text(w, "id", d->id);
	fg_json_text(w, "name", d->name);
	fg_json_text(w, "library", d->library);
	fg_json_text(w, "file", d->file);
	fg_json_int(w, "line", d->line);
	write_pair(w, shown, keys->self, d->self[0], d->self[1]);
	write_pair(w, shown, keys->inclusive, d->inclusive[0], d->inclusive[1]);
	fg_json_double(w, keys->delta, fg_sides_value(shown, delta));
	write_pair(w, shown, keys->interval, delta - error, delta + error);
	fg_json_end(w);
}

static void write_answer(struct fg_request *rq, const struct fg_run_side sides[2],
			 const struct fg_shown_measure *shown,
			 const struct fg_function_deltas *deltas)
{
	const struct keys *keys = shown->other ? &keys_of_measures : &keys_of_time;
	struct fg_json_writer w;

	fg_request_json(rq, &w);
	fg_json_begin_object(&w, NULL);
	fg_sides_write(&w, sides);
	fg_sides_write_measure(&w, shown);
	write_pair(&w, shown, keys->total, deltas->sums[0], deltas->sums[1]);
	fg_json_int(&w, "functions_total", (int64_t)deltas->total);
	fg_json_begin_array(&w, "functions");
	for (size_t i = 0; i < deltas->count; i++)
		write_delta(&w, shown, &deltas->items[i]);
	fg_json_end(&w);
	fg_json_end(&w);
}

int fg_handle_functions(struct fg_request *rq, struct fg_error *err)
{
	struct fg_run_side sides[2];
	struct fg_function_deltas deltas = {0};
	struct fg_shown_measure shown = {0};
	const char *benchmark = NULL;
	size_t limit = FUNCTIONS_DEFAULT;
	int status = fg_request_need(rq, "benchmark", &benchmark, err);

	if (status != FG_OK)
		return status;
	status = fg_request_size(rq, "limit", FUNCTIONS_MAX, &limit, err);
	if (status != FG_OK)
		return status;
	status = fg_sides_read(rq, sides, err);
	if (status != FG_OK)
		return status;
	status = fg_sides_measure(rq, sides, benchmark, &shown, err);
	if (status != FG_OK)
		return status;
	status = fg_store_compare_functions(rq->store, sides, benchmark, limit, &deltas, err);
	if (status == FG_OK)
		write_answer(rq, sides, &shown, &deltas);
	fg_function_deltas_release(&deltas);
	fg_series_measures_release(&shown.all);
	return status;
}
