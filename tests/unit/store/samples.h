/* SPDX-License-Identifier: Apache-2.0 */
/* Runs to store, generated from a seed, with every part that a real run has. */
#ifndef FG_TESTS_STORE_SAMPLES_H
#define FG_TESTS_STORE_SAMPLES_H

#include "base/random.h"
#include "store/store.h"

struct fg_sample_shape {
	unsigned functions;
	unsigned paths;
	unsigned pairs;
	unsigned samples; /* in the whole run */
	/* functions from this number on get new names for each seed */
	unsigned churn;
};

extern const struct fg_sample_shape fg_sample_small;

/* Makes a run with one series, "parse". The caller releases it with fg_stored_run_release(). */
void fg_sample_run(struct fg_stored_run *stored, uint64_t seed,
		   const struct fg_sample_shape *shape);
/* Adds a sampled repetition with typical values. */
struct fg_repetition *fg_sample_repetition(struct fg_series *series, uint8_t arm, uint32_t pair);
/* Adds one repetition's row: `samples` samples, most of them in a few of the set's paths. */
void fg_sample_row(struct fg_profile_set *set, struct fg_random *random, uint8_t arm, uint32_t pair,
		   unsigned samples);
/* Returns the function with the largest own time. */
const struct fg_profile_function *fg_sample_busiest(const struct fg_profile_set *set);
/*
 * Returns a report as gate and reporters write it, with only the members that the store reads. The
 * caller frees it.
 */
char *fg_sample_report(const char *verdict, double ratio);

#endif
