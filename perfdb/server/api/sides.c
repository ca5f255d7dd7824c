// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/api/sides.h"

#include "model/run.h"

int fg_sides_read(struct fg_request *rq, struct fg_run_side sides[2], struct fg_error *err)
{
	const char *a = NULL;
	const char *b = fg_request_parameter(rq, "b");
	int status = fg_request_need(rq, "a", &a, err);

	sides[0] = (struct fg_run_side){.arm = FG_ARM_CANDIDATE};
	sides[1] = (struct fg_run_side){.arm = FG_ARM_CANDIDATE};
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
