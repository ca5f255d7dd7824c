// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"
#include "gate/layout_scatter.h"
#include "gate/statistics/sample.h"
#include "model/run.h"
#include "tests/support/fg_test.h"

#include <math.h>

#define PAIRS 16
#define NEAR  1e-12

static const double offsets[FG_LINE_PLACES] = {0.00, 0.16, 0.24, 0.32};

static uint8_t layout[PAIRS];
static double difference[PAIRS];
static double level[PAIRS];

/* Draws pairs, which use the layouts in turn. */
static void draw(struct fg_random *random, double scatter)
{
	for (size_t i = 0; i < PAIRS; i++) {
		layout[i] = (uint8_t)(i % FG_LINE_PLACES);
		difference[i] = offsets[layout[i]] + scatter * fg_random_normal(random);
	}
}

FG_TEST(differences_between_layouts_do_not_count_as_scatter)
{
	struct fg_random random;

	fg_random_seed(&random, 1);
	draw(&random, 0);
	fg_layout_scatter_remove(difference, layout, PAIRS, level);
	for (size_t i = 0; i < PAIRS; i++)
		assert_true(fabs(level[i] - 0.18) < NEAR);
}

FG_TEST(a_change_that_all_layouts_share_is_kept)
{
	struct fg_random random;
	double before[PAIRS];
	double after[PAIRS];

	fg_random_seed(&random, 2);
	draw(&random, 0.01);
	fg_layout_scatter_remove(difference, layout, PAIRS, before);
	for (size_t i = 0; i < PAIRS; i++)
		difference[i] += 0.02;
	fg_layout_scatter_remove(difference, layout, PAIRS, after);
	for (size_t i = 0; i < PAIRS; i++)
		assert_true(fabs(after[i] - before[i] - 0.02) < NEAR);
}

/* Each layout's mean is estimated: a variance that ignored this would be a fifth too small. */
FG_TEST(pairs_scatter_as_they_do_within_a_layout)
{
	enum {
		RUNS = 4000
	};
	struct fg_random random;
	double variance = 0;

	fg_random_seed(&random, 3);
	for (size_t run = 0; run < RUNS; run++) {
		draw(&random, 1);
		fg_layout_scatter_remove(difference, layout, PAIRS, level);
		variance += fg_variance(level, PAIRS) / RUNS;
	}
	assert_true(variance > 0.96 && variance < 1.04);
}

FG_TEST(too_few_pairs_of_a_layout_are_left_as_they_are)
{
	static const double differences[] = {0.1, 0.2, 0.3, 0.4, 0.1, 0.2, 0.3};
	double levels[FG_ARRAY_SIZE(differences)];
	uint8_t layouts[FG_ARRAY_SIZE(differences)];

	for (size_t lacking = 0; lacking < FG_LINE_PLACES; lacking++) {
		for (size_t i = 0; i < FG_ARRAY_SIZE(layouts); i++)
			layouts[i] = (uint8_t)((lacking + 1 + i) % FG_LINE_PLACES);
		fg_layout_scatter_remove(differences, layouts, FG_ARRAY_SIZE(differences), levels);
		assert_memory_equal(levels, differences, sizeof(differences));
	}
	fg_layout_scatter_remove(differences, layouts, 0, levels);
	assert_memory_equal(levels, differences, sizeof(differences));
}

FG_TEST(a_layout_without_pairs_has_no_middle)
{
	static const double differences[] = {0.1, 0.3, 0.7};
	static const uint8_t layouts[] = {1, 1, 3};
	double middles[FG_LINE_PLACES];

	fg_layout_middles(differences, layouts, FG_ARRAY_SIZE(differences), middles);
	assert_true(isnan(middles[0]) && isnan(middles[2]));
	assert_true(fabs(middles[1] - 0.2) < NEAR);
	assert_true(fabs(middles[3] - 0.7) < NEAR);
}

FG_TEST(one_wild_pair_does_not_move_the_middle)
{
	static const double differences[] = {0.1, 0.1, 0.1, 0.1, 9.0};
	static const uint8_t layouts[] = {2, 2, 2, 2, 2};
	double middles[FG_LINE_PLACES];

	fg_layout_middles(differences, layouts, FG_ARRAY_SIZE(differences), middles);
	assert_true(fabs(middles[2] - 0.1) < NEAR);
}

/* Two pairs per layout, 0.1 above and below its mean: their variance is scaled by 7 / 4. */
FG_TEST(two_pairs_of_each_layout_are_enough)
{
	const size_t count = 2 * (size_t)FG_LINE_PLACES;

	for (size_t i = 0; i < count; i++) {
		layout[i] = (uint8_t)(i / 2);
		difference[i] = offsets[layout[i]] + (i % 2 ? -0.1 : 0.1);
	}
	fg_layout_scatter_remove(difference, layout, count, level);
	for (size_t i = 0; i < count; i++)
		assert_true(fabs(level[i] - 0.18 - (i % 2 ? -0.1 : 0.1) * sqrt(7.0 / 4)) < NEAR);
}

/* 0, 1, 2 and 3 have the variance 5 / 3. */
FG_TEST(the_error_is_that_of_a_mean_of_four)
{
	static const double middles[FG_LINE_PLACES] = {3, 0, 2, 1};
	static const double lacking[FG_LINE_PLACES] = {3, (double)NAN, 2, 1};

	assert_true(fabs(fg_layout_error(middles) - sqrt(5.0 / 12)) < NEAR);
	assert_true(fabs(fg_layout_error(lacking)) < NEAR);
}

/*
 * The layouts' means lie 0.1 above and below the centre, whatever their pairs do. A trimmed mean
 * drops a fifth of the pairs at each end, so each remaining pair has more weight.
 */
FG_TEST(more_pairs_of_a_layout_add_nothing_about_its_place)
{
	enum {
		LAYOUTS = 8,
		EACH = 40
	};
	uint8_t layouts[LAYOUTS * EACH];
	double levels[LAYOUTS * EACH];
	const double error = sqrt(LAYOUTS * 0.01 / (LAYOUTS - FG_LINE_PLACES) / LAYOUTS) / 0.6;

	for (size_t i = 0; i < FG_ARRAY_SIZE(levels); i++) {
		layouts[i] = (uint8_t)(i % LAYOUTS);
		levels[i] = 1 + (layouts[i] < LAYOUTS / 2 ? 0.1 : -0.1) +
			    (i / LAYOUTS % 2 ? 0.5 : -0.5);
	}
	assert_true(fabs(fg_layout_places_error(levels, layouts, FG_ARRAY_SIZE(levels), LAYOUTS) -
			 error) < NEAR);
	assert_true(fabs(fg_layout_places_error(levels, layouts, LAYOUTS * 2, LAYOUTS) - error) <
		    NEAR);
	levels[LAYOUTS] = 1e6; /* one extreme value */
	assert_true(fabs(fg_layout_places_error(levels, layouts, FG_ARRAY_SIZE(levels), LAYOUTS) -
			 error) < NEAR);
}

FG_TEST(layouts_that_are_not_a_sample_have_no_error)
{
	static const double levels[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
	static const uint8_t four[] = {0, 1, 2, 3, 0, 1, 2, 3};
	static const uint8_t eight[] = {0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4, 5, 6};

	assert_true(fabs(fg_layout_places_error(levels, four, FG_ARRAY_SIZE(four), 4)) < NEAR);
	assert_true(fabs(fg_layout_places_error(levels, eight, FG_ARRAY_SIZE(eight), 8)) < NEAR);
	assert_true(fabs(fg_layout_places_error(levels, eight, 0, 8)) < NEAR);
}
