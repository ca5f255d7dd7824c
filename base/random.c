// SPDX-License-Identifier: Apache-2.0
/*
 * xoshiro256** by D. Blackman and S. Vigna (2018), seeded through splitmix64 as its authors advise;
 * implemented from the published recurrence.
 */
#include "base/random.h"

#include "base/clock.h"

#include <errno.h>
#include <math.h>
#include <sys/random.h>

void fg_random_seed(struct fg_random *random, uint64_t seed)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(random->state); i++) {
		uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);

		z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
		z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
		random->state[i] = z ^ (z >> 31);
	}
}

static uint64_t rotl(uint64_t x, unsigned n)
{
	return (x << n) | (x >> (64 - n));
}

uint64_t fg_random_next(struct fg_random *random)
{
	uint64_t *s = random->state;
	const uint64_t result = rotl(s[1] * 5, 7) * 9;
	const uint64_t shifted = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= shifted;
	s[3] = rotl(s[3], 45);
	return result;
}

uint64_t fg_random_below(struct fg_random *random, uint64_t bound)
{
	const uint64_t threshold = (0 - bound) % bound;
	uint64_t value = 0;

	FG_ASSERT(bound > 0);
	do {
		value = fg_random_next(random);
	} while (value < threshold);
	return value % bound;
}

double fg_random_uniform(struct fg_random *random)
{
	return (double)(fg_random_next(random) >> 11) * 0x1p-53;
}

double fg_random_normal(struct fg_random *random)
{
	/*
	 * Box–Muller; the second value of the pair is dropped, so that the four words are the whole
	 * state.
	 */
	const double radius = sqrt(-2.0 * log(1.0 - fg_random_uniform(random)));

	return radius * cos(2.0 * 3.14159265358979323846 * fg_random_uniform(random));
}

int fg_random_bytes(void *data, size_t size, struct fg_error *err)
{
	uint8_t *bytes = data;

	while (size > 0) {
		const ssize_t got = getrandom(bytes, size, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return fg_error_errno(err, FG_EIO,
					      "cannot get random bytes from the kernel");
		bytes += got;
		size -= (size_t)got;
	}
	return FG_OK;
}

int fg_random_uuid(char text[37], struct fg_error *err)
{
	const uint64_t ms = (uint64_t)(fg_clock_wall_ns() / FG_NS_PER_MS);
	uint8_t b[16];

	FG_TRY(fg_random_bytes(b, sizeof(b), err));
	for (size_t i = 0; i < 6; i++)
		b[i] = (uint8_t)(ms >> (40 - 8 * i));
	b[6] = (uint8_t)((b[6] & 0x0f) | 0x70);
	b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
	(void)snprintf(text, 37,
		       "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
		       b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12],
		       b[13], b[14], b[15]);
	return FG_OK;
}
