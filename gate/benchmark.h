/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdict on one benchmark: first its metrics, then the overall outcome. Private to gate/.
 */
#ifndef FG_GATE_BENCHMARK_H
#define FG_GATE_BENCHMARK_H

#include "gate/input.h"
#include "model/verdict.h"

/*
 * Returns the benchmark's policy in the plan, or the input's policy if the benchmark is not in the
 * plan.
 */
const struct fg_policy *fg_benchmark_policy(const struct fg_gate_input *input, const char *name);

/* Judges series number `index` of the run. */
void fg_benchmark_decide(const struct fg_gate_input *input, size_t index, struct fg_arena *arena,
			 struct fg_benchmark_verdict *verdict);
/* Makes the verdict on a benchmark that only the stored baseline has. */
void fg_benchmark_missing(const struct fg_series *series, struct fg_arena *arena,
			  struct fg_benchmark_verdict *verdict);
/* Makes the verdict on a benchmark that only the fastgate.yml of a built baseline names. */
void fg_benchmark_gone(const char *name, struct fg_arena *arena,
		       struct fg_benchmark_verdict *verdict);

#endif
