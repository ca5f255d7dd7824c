/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the size of a change and of its parts; no other code does. The whole is known from the
 * clock to a percent or less; the parts are known from samples, whose number scatters. So the parts
 * are estimated under the constraint that they add up to the whole. Private to gate/.
 */
#ifndef FG_GATE_PARTS_H
#define FG_GATE_PARTS_H

#include "model/verdict.h"

struct fg_whole {
	double delta; /* difference of the metric's levels, computed from the estimated ratio */
	bool changed; /* the interval of `delta` excludes zero */
};

/* The measured part that no row of a blame names. */
struct fg_rest {
	double delta;
	double half; /* half the width of the interval of `delta`; NaN: unknown */
};

/*
 * `scale` converts the metric's unit into the unit of the parts. `delta` is NaN if the metric has
 * no ratio.
 */
struct fg_whole fg_parts_whole(const struct fg_benchmark_verdict *verdict, const char *metric,
			       double scale);
/*
 * Fits the rows and `rest` to blame->total_delta, and sets the share of each row that is sure. No
 * shares are set if the whole did not change significantly or a part is larger than the whole.
 */
void fg_parts_fit(struct fg_blame *blame, struct fg_rest rest, bool total_changed);

#endif
