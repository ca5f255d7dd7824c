// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"
#include "base/random.h"
#include "gate/statistics/changepoint.h"
#include "tests/unit/statistics/close.h"

#define VALUES 60

/* Draws autocorrelated noise with mean zero and unit variance. */
static void draw_noise(struct fg_random *rng, double r, double *values, size_t count)
{
	double x = fg_random_normal(rng);

	for (size_t i = 0; i < count; i++) {
		values[i] = x;
		x = r * x + sqrt(1.0 - r * r) * fg_random_normal(rng);
	}
}

static size_t find_count(const double *values, size_t count, uint64_t seed)
{
	struct fg_changepoint_options options = {.alpha = 0.05, .simulations = 99, .seed = seed};
	struct fg_changepoints points;
	size_t found;

	assert_int_equal(fg_changepoints_find(values, count, &options, &points, NULL), FG_OK);
	found = points.count;
	fg_changepoints_release(&points);
	return found;
}

FG_TEST(a_lasting_step_is_found_where_it_is)
{
	struct fg_changepoint_options options = {.seed = 1};
	struct fg_changepoints points;
	double values[VALUES];
	struct fg_random rng;

	fg_random_seed(&rng, 5);
	draw_noise(&rng, 0.0, values, VALUES);
	for (size_t i = 0; i < VALUES; i++)
		values[i] = 100.0 + values[i] + (i >= 35 ? 5.0 : 0.0);
	values[10] += 60.0;
	assert_int_equal(fg_changepoints_find(values, VALUES, &options, &points, NULL), FG_OK);
	assert_int_equal(points.count, 1);
	assert_int_equal(points.items[0].at, 35);
	assert_near(points.items[0].before, 100.0, 0.6);
	assert_near(points.items[0].after, 105.0, 0.6);
	assert_true(points.items[0].p <= 0.01);
	assert_near(points.noise, 1.0, 0.4);
	fg_changepoints_release(&points);
}

/*
 * The largest change is found first, and is the last one; smaller changes are inserted before it.
 */
FG_TEST(changes_of_any_size_are_found_in_order)
{
	static const size_t changes[] = {30, 60, 90};
	static const double levels[] = {0.0, 4.0, 9.0, 40.0};
	struct fg_changepoint_options options = {.seed = 1};
	struct fg_changepoints points;
	double values[120];
	struct fg_random rng;

	fg_random_seed(&rng, 7);
	draw_noise(&rng, 0.0, values, FG_ARRAY_SIZE(values));
	for (size_t i = 0; i < FG_ARRAY_SIZE(values); i++)
		values[i] += levels[i / 30];
	assert_int_equal(
		fg_changepoints_find(values, FG_ARRAY_SIZE(values), &options, &points, NULL),
		FG_OK);
	assert_int_equal(points.count, FG_ARRAY_SIZE(changes));
	for (size_t i = 0; i < points.count; i++) {
		assert_int_equal(points.items[i].at, changes[i]);
		assert_near(points.items[i].before, levels[i], 0.7);
		assert_near(points.items[i].after, levels[i + 1], 0.7);
	}
	fg_changepoints_release(&points);
}

/* Sums of equal values are rounded; the rounding error is not a change. */
FG_TEST(equal_values_are_one_level_before_and_after_a_change)
{
	static const struct {
		size_t count;
		size_t step; /* number of values up to the change; 0: no change */
		double before;
		double after;
	} rows[] = {
		{20, 20, 11.7235, 0},
		{40, 40, 5.0106352940962555, 0},
		{99, 99, 1.9459101490553132, 0},
		{20, 5, 5.7037824746562, 5.0106352940962555},
		{30, 10, 0, -1.2039728043259361},
		{60, 41, 0.1, 0.3},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const struct fg_changepoint_options options = {.seed = 1};
		const size_t found = rows[i].step < rows[i].count;
		struct fg_changepoints points;
		double values[99];

		for (size_t k = 0; k < rows[i].count; k++)
			values[k] = k < rows[i].step ? rows[i].before : rows[i].after;
		assert_int_equal(
			fg_changepoints_find(values, rows[i].count, &options, &points, NULL),
			FG_OK);
		assert_int_equal(points.count, found);
		if (found) {
			assert_int_equal(points.items[0].at, rows[i].step);
			assert_near(points.items[0].before, rows[i].before, 0);
			assert_near(points.items[0].after, rows[i].after, 0);
		}
		fg_changepoints_release(&points);
	}
}

/*
 * At the nominal 5 %, 4 of 80 series of each kind are expected; the binomial distribution reaches
 * 10 once in 100 tests.
 */
FG_TEST(drift_and_outliers_are_not_changes)
{
	struct fg_random rng;
	size_t iid = 0;
	size_t correlated = 0;
	size_t wild = 0;

	fg_random_seed(&rng, 17);
	for (uint64_t i = 0; i < 80; i++) {
		double values[VALUES];

		draw_noise(&rng, 0.0, values, VALUES);
		iid += find_count(values, VALUES, i) > 0;
		draw_noise(&rng, 0.5, values, VALUES);
		correlated += find_count(values, VALUES, i) > 0;
		draw_noise(&rng, 0.0, values, VALUES);
		for (size_t k = 0; k < VALUES; k++)
			values[k] = exp(0.02 * values[k]) *
				    (fg_random_uniform(&rng) < 0.02 ? 1.3 : 1.0);
		wild += find_count(values, VALUES, i) > 0;
	}
	assert_in_range(iid, 0, 9);
	assert_in_range(correlated, 0, 13);
	assert_in_range(wild, 0, 9);
}

/*
 * Two outliers are not a level, although the mean of the last five follows them: without the
 * medians, 39 of 40 would be changes.
 */
FG_TEST(two_wild_values_at_the_end_are_hardly_ever_a_change)
{
	struct fg_random rng;
	size_t changed = 0;

	fg_random_seed(&rng, 23);
	for (uint64_t i = 0; i < 40; i++) {
		double values[VALUES];

		draw_noise(&rng, 0.0, values, VALUES);
		values[VALUES - 2] += 50.0;
		values[VALUES - 1] += 50.0;
		changed += find_count(values, VALUES, i) > 0;
	}
	assert_in_range(changed, 0, 16);
}

/* An outlier at 12, a step at 25; the figures were computed separately from the description. */
FG_TEST(noise_and_autocorrelation_are_read_from_neighbours_without_outliers)
{
	static const double values[] = {
		5.54,  3.94,  5.31,  4.46,  3.94,  2.75,  2.26,  2.0,   2.12,  4.21,
		4.3,   4.81,  33.64, 3.78,  3.03,  4.76,  4.38,  5.89,  5.77,  4.82,
		5.29,  5.39,  5.66,  4.53,  3.38,  24.41, 23.15, 24.75, 24.08, 23.66,
		22.56, 22.13, 21.91, 22.06, 24.17, 24.27, 24.79, 23.62, 23.76, 23.03,
	};
	struct fg_changepoint_options options = {.alpha = 0.05, .seed = 1};
	struct fg_changepoints points;

	assert_int_equal(
		fg_changepoints_find(values, FG_ARRAY_SIZE(values), &options, &points, NULL),
		FG_OK);
	assert_close(points.autocorrelation, 0.7823346255990717, 1e-12);
	assert_close(points.noise, 1.293151444299433, 1e-12);
	assert_int_equal(points.count, 1);
	assert_int_equal(points.items[0].at, 25);
	assert_near(points.items[0].before, 4.46, 1e-12);
	assert_near(points.items[0].after, 23.66, 1e-12);
	fg_changepoints_release(&points);
}

/* Finds the changes in `count` values that alternate around 0, and around 100 from `step` on. */
static struct fg_changepoints find_step(size_t step, size_t count,
					struct fg_changepoint_options options)
{
	struct fg_changepoints points;
	double values[VALUES];

	for (size_t i = 0; i < count; i++)
		values[i] = (i % 2 ? 1.0 : -1.0) + (i < step ? 0.0 : 100.0);
	assert_int_equal(fg_changepoints_find(values, count, &options, &points, NULL), FG_OK);
	return points;
}

FG_TEST(a_step_is_a_change_where_values_and_simulations_suffice)
{
	static const struct {
		size_t step;
		size_t count;
		struct fg_changepoint_options options;
		bool is_found;
	} rows[] = {
		{5, 40, {.alpha = 0.1}, true},
		{35, 40, {.alpha = 0.1}, true},
		{4, 40, {.min_segment = 4, .alpha = 0.1}, true},
		{34, 40, {.min_segment = 6, .alpha = 0.1}, true},
		{36, 40, {.min_segment = 4, .alpha = 0.1}, true},
		{5, 10, {.alpha = 0.1}, true},
		{4, 8, {.min_segment = 4, .alpha = 0.1}, true},
		{4, 9, {.alpha = 0.5}, false},
		{20, 40, {.min_segment = 1}, false}, /* one value is not a level */
		{20, 40, {.min_segment = 2}, true},
		{20, 40, {.simulations = 0}, true},
		{20, 40, {.simulations = 199}, true},
		{20, 40, {.simulations = 98}, false}, /* one in a hundred needs 99 */
		{20, 40, {.simulations = 99}, true},
		{20, 40, {.simulations = 49, .alpha = 0.02}, true},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const size_t simulations = rows[i].options.simulations;
		struct fg_changepoints points =
			find_step(rows[i].step, rows[i].count, rows[i].options);

		if (points.count != rows[i].is_found)
			fail_msg("row %zu: %zu changes", i, points.count);
		if (points.count > 0)
			assert_int_equal(points.items[0].at, rows[i].step);
		/* p is the share of simulated series with as large a step. */
		if (points.count > 0 && rows[i].count == 40)
			assert_near(points.items[0].p,
				    simulations ? 1.0 / (double)(simulations + 1) : 0.001, 1e-15);
		fg_changepoints_release(&points);
		assert_null(points.items);
	}
}

FG_TEST(no_change_is_nearer_to_an_end_than_a_segment)
{
	struct fg_changepoints points = find_step(4, 40, (struct fg_changepoint_options){0});

	for (size_t i = 0; i < points.count; i++)
		assert_in_range(points.items[i].at, 5, 35);
	fg_changepoints_release(&points);
}

/*
 * Differences of 2 have a scale of 1.4826 * 2, and four scales are 11.86: three of seven values
 * that deviate by less remain, and form a level.
 */
FG_TEST(values_within_four_scales_of_the_median_around_them_are_not_outliers)
{
	static const struct {
		double sign;
		double stray;
		bool stays;
	} rows[] = {{1, 11.8, true}, {1, 11.9, false}, {-1, 11.8, true}, {-1, 11.9, false}};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const struct fg_changepoint_options options = {.alpha = 0.1, .simulations = 99};
		struct fg_changepoints points;
		double values[45];

		for (size_t k = 0; k < FG_ARRAY_SIZE(values); k++)
			values[k] = k % 2 ? rows[i].sign : -rows[i].sign;
		for (size_t k = 35; k < 38; k++)
			values[k] = rows[i].sign * (1.0 + rows[i].stray);
		assert_int_equal(fg_changepoints_find(values, FG_ARRAY_SIZE(values), &options,
						      &points, NULL),
				 FG_OK);
		assert_int_equal(points.count > 0, rows[i].stays);
		fg_changepoints_release(&points);
	}
}

FG_TEST(the_longest_series_is_searched)
{
	double *values = fg_xcalloc(FG_CHANGEPOINT_VALUES_MAX, sizeof(values[0]));

	assert_int_equal(find_count(values, FG_CHANGEPOINT_VALUES_MAX, 1), 0);
	free(values);
}

FG_TEST(short_and_constant_series_have_no_changes)
{
	static const double step[] = {1, 1, 1, 9, 9, 9, 9};
	double equal[40] = {0};

	assert_int_equal(find_count(step, 7, 1), 0);
	assert_int_equal(find_count(NULL, 0, 1), 0);
	assert_int_equal(find_count(equal, 40, 1), 0);
}

FG_TEST(anything_but_a_number_is_refused)
{
	struct fg_changepoint_options options = {0};
	struct fg_changepoints points = {.count = 77};
	double values[20] = {0};
	struct fg_error err;

	values[7] = (double)NAN;
	assert_int_equal(fg_changepoints_find(values, 20, &options, &points, &err), FG_EINVAL);
	assert_int_equal(fg_changepoints_find(values, FG_CHANGEPOINT_VALUES_MAX + 1, &options,
					      &points, &err),
			 FG_ELIMIT);
	assert_int_equal(points.count, 77);
}

/* ---- figure by figure ---- */

enum {
	STEPS_MAX = 5,
};

/* Uniform numbers of a small generator through an AR(1) filter, with steps. */
struct made {
	size_t count;
	double r;
	size_t seed;
	struct {
		size_t at;
		double rise;
	} steps[STEPS_MAX];
	size_t min_segment;
	double autocorrelation;
	double noise;
	size_t found; /* number of changes */
};

/* Every p is above 0.01; all figures were computed separately from the description. */
static const struct made all_made[] = {
	{40, 0.4, 4, {{33, 0.6}}, 0, 0.0824625323962211, 0.19376456670584, 3},
	{40, 0, 2, {{33, 0.6}}, 0, 0.150032256552351, 0.320090270714791, 3},
	{60, 0, 2, {{20, 0.5}, {41, -0.45}}, 0, 0, 0.281894951213901, 3},
	{60, 0.4, 2, {{20, 0.5}, {41, -0.45}}, 0, 0.213629876231965, 0.270453990793782, 3},
	{30, 0.4, 2, {{12, 0.5}}, 0, 0.074508294623258, 0.249594123485435, 2},
	{23, 0, 1, {{9, 0.55}}, 0, 0.239917481485651, 0.282274290730681, 1},
	{60, 0, 3, {{15, 0.4}, {30, 0.4}, {45, -0.6}}, 0, 0.0142406826694903, 0.254912359166748, 4},
	{60,
	 0.4,
	 4,
	 {{15, 0.4}, {30, 0.4}, {45, -0.6}},
	 0,
	 0.232582891164017,
	 0.238990496863441,
	 2},
	{30, 0, 1, {{12, 0.5}}, 4, 0.100943632833192, 0.239270943469169, 2},
	{30, 0, 1, {{12, 0.5}}, 7, 0.100943632833192, 0.239270943469169, 2},
	{40, 0, 1, {{17, 0.45}, {0, 9}, {1, -9}}, 0, 0.0871396428805107, 0.252213502212445, 1},
	{40, 0, 1, {{17, 0.45}, {39, -9}}, 0, 0.0572971082266496, 0.252967463012005, 1},
	{40, 0, 4, {{17, 0.45}, {20, 9}, {21, -9}, {3, -9}, {4, 9}}, 0, 0, 0.223452871828969, 1},
	{12, 0, 2, {{6, 0.9}}, 0, 0, 0.359128848202288, 1},
	{40, 0.9, 2, {{20, 0.5}}, 0, 0.498493659572621, 0.329227418872178, 2},
};

/* The changes of all these series in turn. */
static const struct fg_changepoint all_found[] = {
	{14, 0.072258651338, -0.284505435344, 0.35}, {21, -0.284505435344, 0.211328670019, 0.3},
	{33, 0.211328670019, 0.644947553686, 0.87},  {11, -0.192765113974, 0.269078295342, 0.88},
	{21, 0.269078295342, -0.218533201189, 0.86}, {33, -0.218533201189, 0.728344895937, 0.51},
	{11, -0.192765113974, 0.267096134787, 0.09}, {30, 0.267096134787, 0.628344895937, 0.72},
	{41, 0.628344895937, 0.0633795837463, 0.07}, {12, -0.102347353816, 0.376775018147, 0.17},
	{36, 0.376775018147, 0.902609716891, 0.65},  {41, 0.902609716891, 0.0198070928446, 0.87},
	{12, -0.102347353816, 0.90784019419, 0.39},  {21, 0.90784019419, 0.178554143927, 0.3},
	{9, -0.135282457879, 0.655550049554, 0.44},  {8, 0.228939544103, -0.233399405352, 0.8},
	{15, -0.233399405352, 0.512487611497, 0.07}, {34, 0.512487611497, 1.04727452924, 0.75},
	{45, 1.04727452924, 0.141030723489, 0.72},   {21, 0.111806103469, 0.795988010271, 0.19},
	{45, 0.795988010271, -0.126481948906, 0.06}, {14, -0.0614469772052, 0.824578790882, 0.89},
	{18, 0.824578790882, 0.306243805748, 0.42},  {11, -0.131318136769, 0.665014866204, 0.36},
	{18, 0.665014866204, 0.306243805748, 0.66},  {14, -0.133300297324, 0.256243805748, 0.6},
	{14, -0.133300297324, 0.256243805748, 0.59}, {18, -0.0332011892963, 0.563974231913, 0.03},
	{6, -0.168483647175, 0.766699702676, 0.14},  {13, -0.237797324083, 0.948365391123, 0.71},
	{26, 0.948365391123, 0.0375423684881, 0.46},
};

static void make(const struct made *made, double *values)
{
	double x = 0;

	for (size_t i = 0; i < made->count; i++) {
		const size_t drawn = (i + 1) * (i + 1) * 7919 + made->seed * 104729;
		double rise = 0;

		x = made->r * x + (double)(drawn % 1009) / 1009 - 0.5;
		for (size_t k = 0; k < STEPS_MAX; k++)
			rise += i >= made->steps[k].at ? made->steps[k].rise : 0;
		values[i] = x + rise;
	}
}

FG_TEST(changes_and_their_p_are_those_of_the_description)
{
	const struct fg_changepoint *wanted = all_found;

	for (size_t i = 0; i < FG_ARRAY_SIZE(all_made); i++) {
		const struct made *made = &all_made[i];
		const struct fg_changepoint_options options = {.alpha = 0.9,
							       .min_segment = made->min_segment,
							       .simulations = 99,
							       .seed = 1};
		struct fg_changepoints points;
		double values[VALUES];

		make(made, values);
		assert_int_equal(fg_changepoints_find(values, made->count, &options, &points, NULL),
				 FG_OK);
		assert_near(points.autocorrelation, made->autocorrelation, 1e-10);
		assert_close(points.noise, made->noise, 1e-10);
		assert_int_equal(points.count, made->found);
		for (size_t k = 0; k < points.count; k++, wanted++) {
			assert_int_equal(points.items[k].at, wanted->at);
			assert_near(points.items[k].before, wanted->before, 1e-9);
			assert_near(points.items[k].after, wanted->after, 1e-9);
			assert_near(points.items[k].p, wanted->p, 1e-9);
		}
		fg_changepoints_release(&points);
	}
}
