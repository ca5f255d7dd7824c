// SPDX-License-Identifier: Apache-2.0
/* What an undecided measurement lacks, to the pair. */
#include "gate/outlook.h"
#include "model/run.h"
#include "tests/support/fg_test.h"

#include <math.h>

enum {
	TEN = 10,
	TWELVE = 12,
	MANY = 1000,
};

static const struct fg_rule usual = {.alpha = 0.01, .min_effect = 0.01, .margin = 0.02};

/* Ten pairs that scatter by six per cent around `middle`. */
static size_t needed_around(double middle, unsigned min_pairs)
{
	double difference[TEN];

	for (size_t i = 0; i < TEN; i++)
		difference[i] = middle + 0.06 * ((double)(i * 7 % 11) / 5 - 1);
	return fg_outlook_pairs_needed(&usual, min_pairs, difference, TEN);
}

static void the_weaker_the_change_the_more_pairs_up_to_four_times_as_many(void **state)
{
	static const struct {
		double middle;
		size_t needed;
	} rows[] = {
		{0.0595, 13}, {0.054, 14}, {0.050, 15}, {0.0365, 18}, {0.0345, 20},
		{0.030, 25},  {0.026, 30}, {0.023, 35}, {0.020, 40},  {0.0195, 0},
	};

	(void)state;
	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++)
		assert_int_equal(needed_around(rows[i].middle, 10), rows[i].needed);
}

/* Nothing is asked for that one more pair would tell, nor more than a thousand. */
static void it_looks_from_the_next_pair_to_the_thousandth(void **state)
{
	double *difference = fg_xcalloc(MANY, sizeof(difference[0]));

	(void)state;
	for (size_t i = 0; i < MANY; i++)
		difference[i] = 0.2 + 0.001 * (double)(i * 7 % 11);
	assert_int_equal(fg_outlook_pairs_needed(&usual, TWELVE, difference, TEN), TEN + 1);
	assert_int_equal(fg_outlook_pairs_needed(&usual, MANY, difference, MANY - 1), MANY);
	assert_int_equal(fg_outlook_pairs_needed(&usual, MANY, difference, MANY), 0);
	free(difference);
}

/* Every fourth pair was measured in the same layout, and so it goes on. */
static void pairs_of_several_layouts_go_on_in_turn(void **state)
{
	struct fg_rule rule = usual;
	double difference[TWELVE];
	uint8_t layout[TWELVE];

	(void)state;
	for (size_t i = 0; i < TWELVE; i++) {
		layout[i] = (uint8_t)(i % FG_LINE_PLACES);
		difference[i] = 0.03 + 0.2 * ((double)layout[i] - 1.5) +
				0.02 * ((double)(i * 7 % 11) / 5 - 1);
	}
	assert_int_equal(fg_outlook_pairs_needed(&rule, TEN, difference, TWELVE), 0);
	rule.layout = layout;
	assert_int_equal(fg_outlook_pairs_needed(&rule, TEN, difference, TWELVE), 13);
}

static void a_clear_slowdown_needs_more_pairs_the_surer_one_wants_to_be(void **state)
{
	static const struct {
		double alpha;
		unsigned min_pairs;
		unsigned least;
	} rows[] = {
		{0.1, 5, 5},         {0.0464, 5, 8},      {0.0464, 10, 7},     {0.0215, 5, 8},
		{0.0215, 10, 10},    {0.01, 5, 10},       {0.01, 10, 14},      {1e-6, 10, 19},
		{1e-6, 20, 18},      {1e-9, 10, 29},      {1e-11, 10, 35},     {1.317e-15, 10, 48},
		{8.779e-16, 10, 49}, {1.156e-16, 10, 52}, {2.284e-17, 10, 54}, {6.766e-18, 10, 56},
		{2.005e-18, 10, 58}, {5.94e-19, 10, 59},  {3.96e-19, 10, 60},  {2.64e-19, 10, 0},
	};

	(void)state;
	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		struct fg_rule rule = usual;

		rule.alpha = rows[i].alpha;
		assert_int_equal(fg_outlook_least_pairs(&rule, rows[i].min_pairs), rows[i].least);
	}
}

static void the_least_pairs_follow_the_rest_of_the_policy(void **state)
{
	struct fg_rule rule = usual;

	(void)state;
	rule.alpha = 1e-6;
	rule.tolerated = 0.05; /* the slowdown is as clear above that */
	assert_int_equal(fg_outlook_least_pairs(&rule, 10), 19);
	rule.tolerated = 0;
	rule.alpha = 0.01;
	rule.min_effect = 0.1;
	assert_int_equal(fg_outlook_least_pairs(&rule, 10), 15);
	rule.min_effect = 0.01;
	rule.until_sure = true;
	assert_int_equal(fg_outlook_least_pairs(&rule, 10), 16);
	/* What passes at once never fails. */
	rule = (struct fg_rule){.alpha = 0.01, .min_effect = 0.3, .margin = 0.5};
	assert_int_equal(fg_outlook_least_pairs(&rule, 10), 0);
}

static void slower_is_what_lies_above_the_tolerated(void **state)
{
	const struct fg_rule rule = {.tolerated = 0.01};
	const double at = log1p(0.01);
	const double difference[] = {0.02, at, -0.5, 0.0099, 0.011, 0};

	(void)state;
	assert_int_equal(fg_outlook_slower(&rule, difference, FG_ARRAY_SIZE(difference)), 2);
	assert_int_equal(fg_outlook_slower(&usual, difference, FG_ARRAY_SIZE(difference)), 4);
	assert_int_equal(fg_outlook_slower(&usual, difference, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_weaker_the_change_the_more_pairs_up_to_four_times_as_many),
		cmocka_unit_test(it_looks_from_the_next_pair_to_the_thousandth),
		cmocka_unit_test(pairs_of_several_layouts_go_on_in_turn),
		cmocka_unit_test(a_clear_slowdown_needs_more_pairs_the_surer_one_wants_to_be),
		cmocka_unit_test(the_least_pairs_follow_the_rest_of_the_policy),
		cmocka_unit_test(slower_is_what_lies_above_the_tolerated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
