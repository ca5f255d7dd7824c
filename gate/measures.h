/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The measures of a profile other than time, judged like metrics: what one is in a repetition is
 * its total over the profile.  Private to gate/.
 */
#ifndef FG_GATE_MEASURES_H
#define FG_GATE_MEASURES_H

#include "gate/input.h"
#include "gate/metric_verdict.h"
#include "model/verdict.h"

/*
 * Add one metric per measure to the verdict, after those of the run, and blame where it is
 * gated or changed.
 */
void fg_measures_decide(const struct fg_gate_input *input, size_t index,
			const struct fg_metric_context *context,
			struct fg_benchmark_verdict *verdict);

#endif
