/* SPDX-License-Identifier: Apache-2.0 */
/* Runs made of seeded random numbers with a known change, for tests of the decision. */
#ifndef FG_TESTS_GATE_MADE_RUN_H
#define FG_TESTS_GATE_MADE_RUN_H

#include "base/random.h"
#include "gate/gate.h"

struct fg_made {
	struct fg_run run;
	struct fg_policy policy;
	struct fg_measuring measure;
	struct fg_gate_input input;
	struct fg_verdict verdict;
	struct fg_random random;
};

/* An empty run with both arms, default policy, 10 to 80 pairs. */
void fg_made_init(struct fg_made *made, uint64_t seed);
void fg_made_release(struct fg_made *made);

/*
 * A benchmark with `pairs` duet pairs of CPU times around 100 ms: the host's state moves both arms
 * of a pair by 10 %, each for itself by `noise`, the candidate by `change` on top.  Returns its
 * index.
 */
size_t fg_made_benchmark(struct fg_made *made, const char *name, size_t pairs, double change,
			 double noise);
struct fg_series *fg_made_series(struct fg_made *made, const char *name);
/* A fact about how the sides were built; NULL: not known of that side. */
void fg_made_build_fact(struct fg_series *series, const char *key, const char *baseline,
			const char *candidate);
/* Decide; fails the test when that is refused. */
const struct fg_benchmark_verdict *fg_made_decide(struct fg_made *made, const char *name);
/* The verdict about a metric of a benchmark; NULL when it has none. */
const struct fg_metric_verdict *fg_made_metric(const struct fg_benchmark_verdict *verdict,
					       const char *name);
bool fg_made_has_note(const struct fg_notes *notes, const char *words);

#endif
