/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The measures of a profile other than time, judged like metrics: the value in a repetition is the
 * total over the profile. Private to gate/.
 */
#ifndef FG_GATE_MEASURES_H
#define FG_GATE_MEASURES_H

#include "gate/input.h"
#include "gate/metric_verdict.h"
#include "model/profile_set.h"
#include "model/verdict.h"

/* Both sides of a benchmark, measured by the same run or by two runs. */
struct fg_sides {
	const struct fg_profile_set *set; /* NULL: a profile is missing */
	/* the profile joined from two runs, each of which measured one side */
	struct fg_profile_set joined;
	struct fg_series series; /* the benchmark's series, with the builds of both sides */
	bool is_timed;           /* a side has a timed repetition */
};

/* `index` is the series' index in input->run. Release with fg_sides_release(). */
void fg_sides_init(const struct fg_gate_input *input, size_t index, struct fg_sides *sides);
void fg_sides_release(struct fg_sides *sides);

/*
 * Adds one metric per measure to the verdict, after the metrics of the run, and blame for measures
 * that are gated or changed.
 */
void fg_measures_decide(const struct fg_sides *sides, const struct fg_metric_context *context,
			struct fg_benchmark_verdict *verdict);

#endif
