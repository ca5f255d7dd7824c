// SPDX-License-Identifier: Apache-2.0
/* The number of pairs that an undecided measurement lacks. */
#include "gate/rule.h"
#include "model/run.h"
#include "tests/support/fg_test.h"

#include <math.h>

enum {
	TEN = 10,
	TWELVE = 12,
};

static const struct fg_rule usual = {.alpha = 0.01,
				     .min_effect = 0.01,
				     .margin = 0.02,
				     .min_pairs = 10,
				     .max_pairs = 10,
				     .is_drawn = true};

/*
 * Returns the number of pairs needed after ten pairs that scatter by six per cent around `middle`.
 */
static size_t needed_around(double middle)
{
	double difference[TEN];

	for (size_t i = 0; i < TEN; i++)
		difference[i] = middle + 0.06 * ((double)(i * 7 % 11) / 5 - 1);
	return fg_rule_pairs_needed(&usual, difference, TEN);
}

FG_TEST(the_weaker_the_change_the_more_pairs_up_to_four_times_as_many)
{
	static const struct {
		double middle;
		size_t needed;
	} rows[] = {
		{0.0500, 15},
		{0.0300, 35},
		{0.0100, 0},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++)
		assert_int_equal(needed_around(rows[i].middle), rows[i].needed);
}

/* Every fourth pair has the same layout, and the next pairs continue this order. */
FG_TEST(pairs_of_several_layouts_continue_in_turn)
{
	struct fg_rule rule = usual;
	double difference[TWELVE];
	uint8_t layout[TWELVE];

	for (size_t i = 0; i < TWELVE; i++) {
		layout[i] = (uint8_t)(i % FG_LINE_PLACES);
		difference[i] = 0.03 + 0.2 * ((double)layout[i] - 1.5) +
				0.06 * ((double)(i * 7 % 11) / 5 - 1);
	}
	assert_int_equal(fg_rule_pairs_needed(&rule, difference, TWELVE), 0);
	rule.layout = layout;
	rule.layouts = FG_LINE_PLACES;
	assert_int_equal(fg_rule_pairs_needed(&rule, difference, TWELVE), 23);
}

FG_TEST(pairs_above_the_tolerated_change_are_slower)
{
	const struct fg_rule rule = {.tolerated = 0.01};
	const double at = log1p(0.01);
	const double difference[] = {0.02, at, -0.5, 0.0099, 0.011, 0};

	assert_int_equal(fg_rule_count_slower(&rule, difference, FG_ARRAY_SIZE(difference)), 2);
	assert_int_equal(fg_rule_count_slower(&usual, difference, FG_ARRAY_SIZE(difference)), 4);
	assert_int_equal(fg_rule_count_slower(&usual, difference, 0), 0);
}
