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

static const double ns_per_ms = 1e6;

static void write_delta(struct fg_json_writer *w, const struct fg_function_delta *d)
{
	const double delta = (d->self[1] - d->self[0]) / ns_per_ms;
	const double error = d->sampling_error / ns_per_ms;

	fg_json_begin_object(w, NULL);
	fg_json_text(w, "id", d->id);
	fg_json_text(w, "name", d->name);
	fg_json_text(w, "library", d->library);
	fg_json_text(w, "file", d->file);
	fg_json_int(w, "line", d->line);
	fg_sides_write_pair(w, "self_ms", d->self[0] / ns_per_ms, d->self[1] / ns_per_ms);
	fg_sides_write_pair(w, "inclusive_ms", d->inclusive[0] / ns_per_ms,
			    d->inclusive[1] / ns_per_ms);
	fg_json_double(w, "delta_ms", delta);
	fg_sides_write_pair(w, "sampling_interval_ms", delta - error, delta + error);
	fg_json_end(w);
}

int fg_handle_functions(struct fg_request *rq, struct fg_error *err)
{
	struct fg_run_side sides[2];
	struct fg_function_deltas deltas = {0};
	const char *benchmark = NULL;
	struct fg_json_writer w;
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
	status = fg_store_compare_functions(rq->store, sides, benchmark, limit, &deltas, err);
	if (status != FG_OK)
		return status;
	fg_request_json(rq, &w);
	fg_json_begin_object(&w, NULL);
	fg_sides_write(&w, sides);
	fg_sides_write_pair(&w, "total_ms", deltas.sums[0] / ns_per_ms, deltas.sums[1] / ns_per_ms);
	fg_json_int(&w, "functions_total", (int64_t)deltas.total);
	fg_json_begin_array(&w, "functions");
	for (size_t i = 0; i < deltas.count; i++)
		write_delta(&w, &deltas.items[i]);
	fg_json_end(&w);
	fg_json_end(&w);
	fg_function_deltas_release(&deltas);
	return FG_OK;
}
