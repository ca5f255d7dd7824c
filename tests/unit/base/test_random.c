// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"
#include "tests/support/fg_test.h"

#include <math.h>

/*
 * The first outputs of splitmix64 from 1234567 seed the state. Published test vector of splitmix64:
 * 6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431 (Rosetta
 * Code).
 */
FG_TEST(seeding_follows_splitmix64)
{
	struct fg_random random;

	fg_random_seed(&random, 1234567);
	assert_true(random.state[0] == UINT64_C(6457827717110365317));
	assert_true(random.state[1] == UINT64_C(3203168211198807973));
	assert_true(random.state[2] == UINT64_C(9817491932198370423));
	assert_true(random.state[3] == UINT64_C(4593380528125082431));
}

FG_TEST(same_seed_same_numbers)
{
	struct fg_random a;
	struct fg_random b;
	struct fg_random c;

	fg_random_seed(&a, 42);
	fg_random_seed(&b, 42);
	fg_random_seed(&c, 43);
	for (int i = 0; i < 100; i++)
		assert_true(fg_random_next(&a) == fg_random_next(&b));
	assert_true(fg_random_next(&a) != fg_random_next(&c));
}

FG_TEST(numbers_below_a_bound_are_even)
{
	enum {
		N = 60000
	};
	struct fg_random random;
	unsigned counts[6] = {0};

	fg_random_seed(&random, 7);
	for (int i = 0; i < N; i++)
		counts[fg_random_below(&random, 6)]++;
	for (size_t i = 0; i < 6; i++)
		assert_true(fabs((double)counts[i] - N / 6.0) < 5.0 * sqrt(N / 6.0));
}

FG_TEST(normal_numbers_have_mean_zero_and_variance_one)
{
	enum {
		N = 40000
	};
	struct fg_random random;
	double sum = 0.0;
	double squares = 0.0;

	fg_random_seed(&random, 11);
	for (int i = 0; i < N; i++) {
		const double x = fg_random_normal(&random);

		sum += x;
		squares += x * x;
	}
	assert_true(fabs(sum / N) < 0.02);
	assert_true(fabs(squares / N - 1.0) < 0.03);
}

FG_TEST(ids_are_unique_and_ordered_by_time)
{
	char a[37];
	char b[37];

	assert_int_equal(fg_random_uuid(a, NULL), FG_OK);
	assert_int_equal(fg_random_uuid(b, NULL), FG_OK);
	assert_int_equal(strlen(a), 36);
	assert_int_equal(a[14], '7');
	assert_string_not_equal(a, b);
	assert_true(strncmp(a, b, 8) <= 0);
}
