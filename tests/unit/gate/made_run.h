/* SPDX-License-Identifier: Apache-2.0 */
/* Runs with seeded random numbers and a known change, for tests of the decision. */
#ifndef FG_TESTS_GATE_MADE_RUN_H
#define FG_TESTS_GATE_MADE_RUN_H

#include "base/random.h"
#include "gate/gate.h"
#include "model/profile_set.h"

struct fg_made {
	struct fg_run run;
	struct fg_policy policy;
	struct fg_measuring measure;
	struct fg_gate_input input;
	struct fg_verdict verdict;
	struct fg_random random;
};

/* Starts an empty run with both arms, the default policy, and 10 to 80 pairs. */
void fg_made_init(struct fg_made *made, uint64_t seed);
void fg_made_release(struct fg_made *made);

/*
 * Adds a benchmark with `pairs` duet pairs of CPU times around 100 ms: the host moves both arms of
 * a pair by 10 %, each arm varies by `noise`, and the candidate is slower by `change`. Returns its
 * index.
 */
size_t fg_made_benchmark(struct fg_made *made, const char *name, size_t pairs, double change,
			 double noise);
struct fg_series *fg_made_series(struct fg_made *made, const char *name);
/* Adds a fact about how the sides were built; NULL: unknown on that side. */
void fg_made_build_fact(struct fg_series *series, const char *key, const char *baseline,
			const char *candidate);
/* Decides; a refusal fails the test. */
const struct fg_benchmark_verdict *fg_made_decide(struct fg_made *made, const char *name);
/* Returns the verdict on a metric of a benchmark; NULL if it has none. */
const struct fg_metric_verdict *fg_made_metric(const struct fg_benchmark_verdict *verdict,
					       const char *name);
/* Adds a call path of a function of this library. */
uint32_t fg_made_call_path(struct fg_profile_set *set, uint32_t parent, const char *library,
			   const char *name);
bool fg_made_has_note(const struct fg_notes *notes, const char *words);

#endif
