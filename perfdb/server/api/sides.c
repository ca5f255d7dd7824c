// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/api/sides.h"

#include "model/run.h"
#include "store/measures.h"

#include <math.h>

int fg_sides_read(struct fg_request *rq, struct fg_run_side sides[2], struct fg_error *err)
{
	const char *a = NULL;
	const char *b = fg_request_parameter(rq, "b");
	int status = fg_request_need(rq, "a", &a, err);

	sides[0] = (struct fg_run_side){.arm = FG_ARM_CANDIDATE,
					.measure = fg_request_parameter(rq, "measure")};
	sides[1] = sides[0];
	if (status != FG_OK)
		return status;
	status = fg_request_find_run(rq, a, &sides[0].run, err);
	if (status != FG_OK)
		return status;
	if (b)
		status = fg_request_find_run(rq, b, &sides[1].run, err);
	if (status != FG_OK)
		return status;
	if (!b || strcmp(sides[0].run, sides[1].run) == 0) {
		sides[1].run = sides[0].run;
		sides[0].arm = FG_ARM_BASELINE;
	}
	return FG_OK;
}

int fg_sides_measure(struct fg_request *rq, const struct fg_run_side sides[2],
		     const char *benchmark, struct fg_shown_measure *shown, struct fg_error *err)
{
	const char *name = sides[1].measure;
	int64_t series = 0;
	int status = FG_OK;

	*shown = (struct fg_shown_measure){0};
	status = fg_store_find_series(rq->store, sides[1].run, benchmark, &series, err);
	if (status != FG_OK)
		return status;
	status = fg_store_series_measures(rq->store, series, &shown->all, err);
	if (status != FG_OK)
		return status;
	for (size_t i = 0; name && i < shown->all.count; i++) {
		const struct fg_measure *measure = &shown->all.items[i].measure;
		const bool is_time =
			strcmp(name, "cpu_time") == 0 || strcmp(name, "wall_time") == 0;

		if (strcmp(measure->name, name) == 0 && !is_time)
			shown->other = measure;
	}
	if (!shown->other && name && strcmp(name, "cpu_time") != 0 &&
	    strcmp(name, "wall_time") != 0)
		status = fg_error_set(err, FG_ENOENT, "'%.100s' was not measured for '%.100s'",
				      name, benchmark);
	if (status != FG_OK)
		fg_series_measures_release(&shown->all);
	return status;
}

/*
 * Divided by 1e6, not multiplied by its inverse: the quotient is the double nearest to a short
 * decimal, and digits take most of the time of an answer.
 */
double fg_sides_value(const struct fg_shown_measure *shown, double value)
{
	return shown->other ? value : rint(value) / 1e6;
}

void fg_sides_write_measure(struct fg_json_writer *w, const struct fg_shown_measure *shown)
{
	if (shown->other) {
		fg_json_text(w, "measure", shown->other->name);
		fg_json_text(w, "unit", shown->other->unit);
	}
	fg_json_begin_array(w, "measures");
	for (size_t i = 0; i < shown->all.count; i++)
		fg_json_text(w, NULL, shown->all.items[i].measure.name);
	fg_json_end(w);
	fg_json_begin_array(w, "units");
	for (size_t i = 0; i < shown->all.count; i++)
		fg_json_text(w, NULL, shown->all.items[i].measure.unit);
	fg_json_end(w);
}

void fg_sides_write_pair(struct fg_json_writer *w, const char *name, double first, double second)
{
	fg_json_begin_array(w, name);
	fg_json_double(w, NULL, first);
	fg_json_double(w, NULL, second);
	fg_json_end(w);
}

void fg_sides_write(struct fg_json_writer *w, const struct fg_run_side sides[2])
{
	fg_json_begin_array(w, "runs");
	fg_json_text(w, NULL, sides[0].run);
	fg_json_text(w, NULL, sides[1].run);
	fg_json_end(w);
}
