/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reproducible pseudo-random numbers (xoshiro256**, seeded through splitmix64): schedules,
 * paddings, permutations. The seed is stored with the run. fg_random_bytes() is for secrets and
 * ids.
 */
#ifndef FG_BASE_RANDOM_H
#define FG_BASE_RANDOM_H

#include "base/base.h"
#include "base/error.h"

struct fg_random {
	uint64_t state[4];
};

void fg_random_seed(struct fg_random *random, uint64_t seed);
uint64_t fg_random_next(struct fg_random *random);
/* Returns a uniform number in [0, bound), without modulo bias; bound > 0. */
uint64_t fg_random_below(struct fg_random *random, uint64_t bound);
double fg_random_uniform(struct fg_random *random); /* [0, 1) */
double fg_random_normal(struct fg_random *random);

/* Gets random bytes from the kernel, for secrets and ids. */
int fg_random_bytes(void *data, size_t size, struct fg_error *err) FG_NODISCARD;
/* Makes a time-ordered id (UUID version 7), 36 characters and NUL. */
int fg_random_uuid(char text[37], struct fg_error *err) FG_NODISCARD;

#endif
