// SPDX-License-Identifier: Apache-2.0
#include "stats/rng.h"
#include "tests/support/fg_test.h"

#include <math.h>
#include <string.h>

/* The outputs of the authors' reference programs for the state {1, 2, 3, 4} and for the seed 1234567. */
static void sequences_are_those_of_the_published_generators(void **state)
{
	static const uint64_t xoshiro[] = {UINT64_C(11520), UINT64_C(0), UINT64_C(1509978240),
					   UINT64_C(1215971899390074240)};
	static const uint64_t splitmix[] = {UINT64_C(6457827717110365317),
					    UINT64_C(3203168211198807973),
					    UINT64_C(9817491932198370423)};
	struct fg_rng rng = {
		.state = {1, 2, 3, 4}
        };
	uint64_t seed = 1234567;

	(void)state;
	for (size_t i = 0; i < sizeof(xoshiro) / sizeof(xoshiro[0]); i++)
		assert_true(fg_rng_next(&rng) == xoshiro[i]);
	for (size_t i = 0; i < sizeof(splitmix) / sizeof(splitmix[0]); i++)
		assert_true(fg_splitmix64(&seed) == splitmix[i]);
}

static void same_seed_same_sequence_and_another_seed_another(void **state)
{
	struct fg_rng a;
	struct fg_rng b;
	struct fg_rng c;

	(void)state;
	fg_rng_seed(&a, 5);
	fg_rng_seed(&b, 5);
	fg_rng_seed(&c, 6);
	assert_memory_equal(&a, &b, sizeof(a));
	assert_true(fg_rng_next(&a) == fg_rng_next(&b));
	assert_true(fg_rng_next(&a) != fg_rng_next(&c));
}

static void bounded_draws_stay_in_bounds_and_reach_all_values(void **state)
{
	unsigned seen[7] = {0};
	struct fg_rng rng;

	(void)state;
	fg_rng_seed(&rng, 1);
	for (int i = 0; i < 7000; i++) {
		uint64_t x = fg_rng_below(&rng, 7);

		assert_true(x < 7);
		seen[x]++;
	}
	for (size_t i = 0; i < 7; i++)
		assert_in_range(seen[i], 850, 1150);
	assert_true(fg_rng_below(&rng, 1) == 0);
}

static void uniform_and_normal_draws_have_their_moments(void **state)
{
	double sum = 0.0;
	double normal = 0.0;
	double squares = 0.0;
	struct fg_rng rng;

	(void)state;
	fg_rng_seed(&rng, 2);
	for (int i = 0; i < 20000; i++) {
		double u = fg_rng_uniform(&rng);
		double z = fg_rng_normal(&rng);

		assert_true(u > 0.0 && u < 1.0);
		sum += u;
		normal += z;
		squares += z * z;
	}
	assert_true(fabs(sum / 20000 - 0.5) < 0.01);
	assert_true(fabs(normal / 20000) < 0.03);
	assert_true(fabs(squares / 20000 - 1.0) < 0.05);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sequences_are_those_of_the_published_generators),
		cmocka_unit_test(same_seed_same_sequence_and_another_seed_another),
		cmocka_unit_test(bounded_draws_stay_in_bounds_and_reach_all_values),
		cmocka_unit_test(uniform_and_normal_draws_have_their_moments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
