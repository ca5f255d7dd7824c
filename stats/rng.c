// SPDX-License-Identifier: Apache-2.0
#include "stats/rng.h"

#include "base/base.h"

#include <math.h>

uint64_t fg_splitmix64(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

void fg_rng_seed(struct fg_rng *rng, uint64_t seed)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(rng->state); i++)
		rng->state[i] = fg_splitmix64(&seed);
}

static uint64_t rotate_left(uint64_t x, unsigned bits)
{
	return (x << bits) | (x >> (64 - bits));
}

uint64_t fg_rng_next(struct fg_rng *rng)
{
	uint64_t *s = rng->state;
	uint64_t result = rotate_left(s[1] * 5, 7) * 9;
	uint64_t shifted = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= shifted;
	s[3] = rotate_left(s[3], 45);
	return result;
}

uint64_t fg_rng_below(struct fg_rng *rng, uint64_t bound)
{
	uint64_t reject_below;
	uint64_t x;

	FG_ASSERT(bound > 0);
	/* 2^64 mod bound: the values below it would make some remainders one more frequent than others. */
	reject_below = (UINT64_MAX - bound + 1) % bound;
	do {
		x = fg_rng_next(rng);
	} while (x < reject_below);
	return x % bound;
}

double fg_rng_uniform(struct fg_rng *rng)
{
	/* 53 bits and a half step, so that neither 0 nor 1 comes out. */
	return ((double)(fg_rng_next(rng) >> 12) + 0.5) * 0x1.0p-52;
}

double fg_rng_normal(struct fg_rng *rng)
{
	double radius = sqrt(-2.0 * log(fg_rng_uniform(rng)));

	return radius * cos(6.283185307179586476925 * fg_rng_uniform(rng));
}
