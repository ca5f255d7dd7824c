/* SPDX-License-Identifier: Apache-2.0 */
/* Runs to store, made from a seed, with every part that a real one has. */
#ifndef FG_TESTS_STORE_SAMPLES_H
#define FG_TESTS_STORE_SAMPLES_H

#include "base/random.h"
#include "store/store.h"

struct fg_sample_shape {
	unsigned functions;
	unsigned paths;
	unsigned pairs;
	unsigned samples; /* of the whole run */
	/* functions numbered from here on have a new name in every run of another seed */
	unsigned churn;
};

extern const struct fg_sample_shape fg_sample_small;

/* One project, one series "parse"; release with fg_stored_run_release(). */
void fg_sample_run(struct fg_stored_run *stored, uint64_t seed,
		   const struct fg_sample_shape *shape);
/* Common to every sampled repetition. */
struct fg_repetition *fg_sample_repetition(struct fg_series *series, uint8_t arm, uint32_t pair);
/* One repetition's row: this many samples over the set's paths, most of them in few. */
void fg_sample_row(struct fg_profile_set *set, struct fg_random *random, uint8_t arm, uint32_t pair,
		   unsigned samples);
/* The function with the most own time. */
const struct fg_profile_function *fg_sample_busiest(const struct fg_profile_set *set);
/* A report as gate and reporters make it, only the parts that the store reads; to be freed. */
char *fg_sample_report(const char *verdict, double ratio);

#endif
