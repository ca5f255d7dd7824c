/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small seeded generator of random numbers for permutation tests and simulations: the same seed gives
 * the same decision on every host.  xoshiro256** of Blackman and Vigna (2018), seeded through splitmix64.
 * Not for secrets.  One object a thread; no allocation, nothing can fail.
 */
#ifndef FG_STATS_RNG_H
#define FG_STATS_RNG_H

#include <stdint.h>

struct fg_rng {
	uint64_t state[4];
};

void fg_rng_seed(struct fg_rng *rng, uint64_t seed);
uint64_t fg_rng_next(struct fg_rng *rng);
/* Uniform in [0, bound), without the bias of a plain remainder.  `bound` must not be 0. */
uint64_t fg_rng_below(struct fg_rng *rng, uint64_t bound);
/* Uniform in the open interval (0, 1). */
double fg_rng_uniform(struct fg_rng *rng);
/* Standard normal. */
double fg_rng_normal(struct fg_rng *rng);

/* One step of splitmix64: moves `*state` on and returns 64 well mixed bits. */
uint64_t fg_splitmix64(uint64_t *state);

#endif
