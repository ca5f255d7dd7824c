// SPDX-License-Identifier: Apache-2.0
/*
 * Many functions: 216 small functions with about 0.4 % of the time each, `hot` with about 9 %, and
 * `shared`, which two callers use.  VARIANT changes one thing:
 *	0 nothing
 *	1 hot takes 10 % longer
 *	2 shared takes 30 % longer when caller_b calls it
 *	3 half of hot is extracted into a new function
 *	4 hot has a different name
 */
#include <stdint.h>
#include <stdio.h>

#ifndef VARIANT
# define VARIANT 0
#endif

#define ROUNDS 40
#define SMALL  4000
#define HOT    90000
#define SHARED 40000
#ifdef __clang__ /* clang creates no clones */
# define NOINLINE __attribute__((noinline))
#else
# define NOINLINE __attribute__((noinline, noclone))
#endif

/* Works for a time in proportion to `steps`; the result depends on `salt`. */
static inline uint64_t spin(uint64_t x, long steps, uint64_t salt)
{
	for (long i = 0; i < steps; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		x += salt;
	}
	return x;
}

#define ONE(n)                                  \
 NOINLINE static uint64_t small_##n(uint64_t x) \
 {                                              \
  return spin(x, SMALL, 0x##n##u);              \
 }
#define SIX(n)        ONE(n##0) ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) ONE(n##5)
#define THIRTY_SIX(n) SIX(n##0) SIX(n##1) SIX(n##2) SIX(n##3) SIX(n##4) SIX(n##5)
THIRTY_SIX(0)
THIRTY_SIX(1)
THIRTY_SIX(2)
THIRTY_SIX(3)
THIRTY_SIX(4)
THIRTY_SIX(5)

#define NAME(n)     small_##n,
#define NAME_SIX(n) NAME(n##0) NAME(n##1) NAME(n##2) NAME(n##3) NAME(n##4) NAME(n##5)
#define NAME_MANY(n) \
 NAME_SIX(n##0) NAME_SIX(n##1) NAME_SIX(n##2) NAME_SIX(n##3) NAME_SIX(n##4) NAME_SIX(n##5)

static uint64_t (*const small[])(uint64_t) = {NAME_MANY(0) NAME_MANY(1) NAME_MANY(2) NAME_MANY(3)
						      NAME_MANY(4) NAME_MANY(5)};

#if VARIANT == 4
# define hot renamed
#endif

#if VARIANT == 3
NOINLINE static uint64_t extracted(uint64_t x)
{
	return spin(x, HOT / 2, 77);
}
#endif

NOINLINE static uint64_t hot(uint64_t x)
{
#if VARIANT == 3
	return extracted(spin(x, HOT / 2, 77));
#else
	return spin(x, VARIANT == 1 ? HOT + HOT / 10 : HOT, 77);
#endif
}

NOINLINE static uint64_t shared(uint64_t x, long steps)
{
	return spin(x, steps, 99);
}

/*
 * Hidden from the compiler, which would compile `shared` differently if both callers passed the
 * same value.
 */
static volatile long shared_steps = SHARED;

NOINLINE static uint64_t caller_a(uint64_t x)
{
	return shared(x, shared_steps) + 1;
}

NOINLINE static uint64_t caller_b(uint64_t x)
{
	return shared(x, VARIANT == 2 ? shared_steps * 13 / 10 : shared_steps) + 2;
}

int main(void)
{
	uint64_t x = 88172645463325252U;

	for (int round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < sizeof(small) / sizeof(small[0]); i++)
			x = small[i](x) | 1;
		x = caller_b(caller_a(hot(x) | 1) | 1) | 1;
	}
	printf("%llu\n", (unsigned long long)x);
	return 0;
}
