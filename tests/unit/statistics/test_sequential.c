// SPDX-License-Identifier: Apache-2.0
/*
 * Reference values of the spending function: R 4.2.2, 2 - 2 * pnorm(qnorm(1 - alpha / 2) /
 * sqrt(t)).
 */
#include "base/base.h"
#include "base/random.h"
#include "gate/statistics/sequential.h"
#include "tests/unit/statistics/close.h"

static const size_t looks[] = {10, 16, 24, 36, 54, 80};
#define LOOK_COUNT (sizeof(looks) / sizeof(looks[0]))

/* What is spent of 0.005 up to each look. */
static const double spent[LOOK_COUNT] = {0,
					 3.4579361596343006e-10,
					 2.9766560971644651e-07,
					 2.8582101658569670e-05,
					 6.3405413659212151e-04,
					 5e-3};

static void obrien_fleming_is_the_published_function(void **state)
{
	static const double outside[] = {-0.5, 0.0, 1.0, 1.5};

	(void)state;
	for (size_t i = 1; i < LOOK_COUNT; i++)
		assert_close(fg_obrien_fleming(0.005, (double)looks[i] / 80.0), spent[i], 1e-6);
	assert_near(fg_obrien_fleming(0.005, 0.0), 0.0, 0.0);
	assert_close(fg_obrien_fleming(0.005, 1.5), 0.005, 1e-15);
	assert_close(fg_obrien_fleming(0.005, 2.0), 0.005, 1e-15);
	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++)
		assert_true(isnan(fg_obrien_fleming(outside[i], 0.5)));
	assert_true(isnan(fg_obrien_fleming(0.005, -0.5)));
}

static void shares_sum_to_alpha_and_none_is_empty(void **state)
{
	/* no room beyond the last: a sanitizer sees who goes there */
	double *shares = fg_xcalloc(LOOK_COUNT, sizeof(shares[0]));
	double sum = 0.0;

	(void)state;
	fg_spending_shares(looks, LOOK_COUNT, 0.01, shares);
	for (size_t i = 0; i < LOOK_COUNT; i++) {
		assert_true(shares[i] >= 0.005 / LOOK_COUNT);
		sum += shares[i];
		if (i > 0)
			assert_close(shares[i], spent[i] - spent[i - 1] + 0.005 / LOOK_COUNT, 1e-6);
	}
	assert_close(sum, 0.01, 1e-12);
	fg_spending_shares(looks, 1, 0.01, shares);
	assert_close(shares[0], 0.01, 1e-12);
	free(shares);
}

/* By hand: after one win each bettor holds 1 + stake, and the stakes average 0.5. */
static void wealth_is_the_mean_of_the_bettors(void **state)
{
	struct fg_eprocess process = {0};

	(void)state;
	assert_near(fg_eprocess_log_wealth(&process), 0.0, 1e-15);
	fg_eprocess_push(&process, 3.0);
	assert_close(fg_eprocess_log_wealth(&process), log(1.5), 1e-13);
	fg_eprocess_push(&process, 0.0);
	assert_int_equal(process.ties, 1);
	fg_eprocess_push(&process, -1.0);
	/* mean of 1 - stake^2 over 0.1 ... 0.9 = 1 - 2.85 / 9 */
	assert_close(fg_eprocess_log_wealth(&process), log(1.0 - 2.85 / 9.0), 1e-12);
	assert_int_equal(process.bets, 2);
}

static void who_loses_for_long_has_little_and_not_nothing(void **state)
{
	struct fg_eprocess process = {0};

	(void)state;
	for (int i = 0; i < 20000; i++)
		fg_eprocess_push(&process, -1.0);
	/* the most careful of nine has more than all others together */
	assert_close(fg_eprocess_log_wealth(&process), 20000 * log(0.9) - log(9.0), 1e-10);
}

static void a_steady_winner_is_recognised_soon(void **state)
{
	struct fg_eprocess process = {0};
	int wins = 0;

	(void)state;
	while (fg_eprocess_log_wealth(&process) < log(100.0)) {
		fg_eprocess_push(&process, 1.0);
		wins++;
	}
	assert_in_range(wins, 7, 12);
}

static void a_fair_coin_rarely_makes_anyone_rich_however_long_one_looks(void **state)
{
	struct fg_random rng;
	int rich = 0;

	(void)state;
	fg_random_seed(&rng, 11);
	for (int run = 0; run < 1000; run++) {
		struct fg_eprocess process = {0};

		for (int i = 0; i < 200; i++) {
			fg_eprocess_push(&process, fg_random_next(&rng) >> 63 ? 1.0 : -1.0);
			if (fg_eprocess_log_wealth(&process) >= log(20.0)) {
				rich++;
				break;
			}
		}
	}
	/* At most 5 % in expectation; 1000 runs stay below 7 % but once in 500. */
	assert_in_range(rich, 1, 70);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(obrien_fleming_is_the_published_function),
		cmocka_unit_test(shares_sum_to_alpha_and_none_is_empty),
		cmocka_unit_test(wealth_is_the_mean_of_the_bettors),
		cmocka_unit_test(who_loses_for_long_has_little_and_not_nothing),
		cmocka_unit_test(a_steady_winner_is_recognised_soon),
		cmocka_unit_test(a_fair_coin_rarely_makes_anyone_rich_however_long_one_looks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
