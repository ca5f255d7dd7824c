// SPDX-License-Identifier: Apache-2.0
/* Repetitions that form pairs, and their sums per entity. */
#include "gate/matrix.h"
#include "gate/pairs.h"
#include "tests/unit/gate/made_run.h"
#include "tests/unit/statistics/close.h"

enum {
	NODES = 3,
};

#define MS 1e6

static struct fg_profile_set set;
static uint32_t nodes[NODES];
static struct fg_profile_pairs pairs;
static struct fg_pair_matrix matrix;

static int begin(void **state)
{
	static const char *const names[NODES] = {"a", "b", "c"};

	(void)state;
	fg_profile_set_init(&set, "app");
	for (size_t i = 0; i < NODES; i++)
		nodes[i] = fg_made_call_path(&set, 0, "app", names[i]);
	return 0;
}

static int end(void **state)
{
	(void)state;
	fg_pair_matrix_release(&matrix);
	fg_profile_pairs_release(&pairs);
	fg_profile_set_release(&set);
	return 0;
}

/* Finds the pairs of a measure, and sums them per entity of each node. */
static void build(uint16_t measure, const uint32_t *entity, uint32_t count)
{
	fg_pair_matrix_release(&matrix);
	fg_profile_pairs_release(&pairs);
	fg_profile_pairs_find(&set, measure, &pairs);
	fg_pair_matrix_build(&set, &pairs, entity, count, &matrix);
}

/* Adds a row with these values, ten samples each; zero values are left out. */
static struct fg_profile_row *add(uint32_t pair, uint8_t arm, double a, double b, double c)
{
	const double values[NODES] = {a, b, c};
	struct fg_profile_row *row = fg_profile_set_add_row(&set, NODES);

	row->pair = pair;
	row->arm = arm;
	row->count = 0;
	for (size_t i = 0; i < NODES; i++) {
		if (!(values[i] > 0))
			continue;
		row->nodes[row->count] = nodes[i];
		row->values[row->count] = values[i];
		row->samples[row->count++] = 10;
	}
	return row;
}

FG_TEST_IN(pairs_have_as_many_repetitions_of_both_arms, begin, end)
{
	static const struct {
		uint32_t pair;
		uint8_t arm;
		uint32_t expected;
	} rows[] = {
		{7, 1, 1},
		{7, 0, 1}, /* a later pair that is first in the file */
		{2, 0, 0},
		{2, 1, 0},
		{2, 1, 0},
		{2, 0, 0},            /* a block of four */
		{3, 0, FG_NO_ENTITY}, /* one arm only */
		{4, 0, FG_NO_ENTITY},
		{4, 1, FG_NO_ENTITY},
		{4, 1, FG_NO_ENTITY},
		{5, 1, FG_NO_ENTITY},
		{6, 0, FG_NO_ENTITY},
		{FG_PAIR_NUMBERS_MAX - 1, 0, 2},
		{FG_PAIR_NUMBERS_MAX - 1, 1, 2},
		{FG_PAIR_NUMBERS_MAX, 0, FG_NO_ENTITY},
		{FG_PAIR_NUMBERS_MAX, 1, FG_NO_ENTITY},
	};
	static const uint32_t order[] = {2, 3, 4, 5, 0, 1, 12, 13};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++)
		(void)add(rows[i].pair, rows[i].arm, MS, 0, 0);
	fg_profile_pairs_find(&set, 0, &pairs);
	assert_int_equal(pairs.count, 3);
	assert_float_equal(pairs.scale, 1e-6, 0);
	assert_int_equal(pairs.fold, FG_FOLD_SUM);
	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++)
		assert_int_equal(pairs.pair_of_row[i], rows[i].expected);
	assert_int_equal(pairs.row_count, FG_ARRAY_SIZE(order));
	assert_memory_equal(pairs.rows, order, sizeof(order));
	assert_float_equal(pairs.per_arm[0], 2, 0);
	assert_float_equal(pairs.per_arm[1], 1, 0);
}

FG_TEST_IN(only_rows_of_the_measure_that_count_make_pairs, begin, end)
{
	const struct fg_measure bytes = fg_measure_describe("alloc_space", "bytes");

	add(1, 0, MS, 0, 0)->aside = FG_ASIDE_WARMUP;
	(void)add(1, 0, MS, 0, 0);
	(void)add(1, 1, MS, 0, 0);
	add(1, 0, MS, 0, 0)->measure = fg_profile_set_measure(&set, &bytes);
	add(1, 0, MS, 0, 0)->aside = FG_ASIDE_WARMUP;
	(void)add(1, 2, MS, 0, 0);
	fg_profile_pairs_find(&set, 0, &pairs);
	assert_int_equal(pairs.count, 1);
	assert_int_equal(pairs.row_count, 2);
	assert_int_equal(pairs.pair_of_row[0], FG_NO_ENTITY);
	assert_float_equal(pairs.per_arm[0], 1, 0);
	(void)end(state);
	(void)begin(state);
	fg_profile_pairs_find(&set, 0, &pairs);
	assert_int_equal(pairs.count, 0);
}

/*
 * The first counts of both arms form a pair, whatever their numbers; a third count has no partner.
 */
FG_TEST_IN(counts_are_paired_in_their_order, begin, end)
{
	const struct fg_measure bytes = fg_measure_describe("alloc_space", "bytes");
	const uint16_t id = fg_profile_set_measure(&set, &bytes);
	static const uint32_t expected[] = {0, 1, 0, FG_NO_ENTITY, 1};
	static const uint8_t arms[] = {0, 0, 1, 0, 1};

	for (size_t i = 0; i < FG_ARRAY_SIZE(arms); i++)
		add(FG_PAIR_NUMBERS_MAX + 7, arms[i], 5, 0, 0)->measure = id;
	fg_profile_pairs_find(&set, id, &pairs);
	assert_int_equal(pairs.count, 2);
	assert_float_equal(pairs.scale, 1, 0);
	assert_memory_equal(pairs.pair_of_row, expected, sizeof(expected));
}

static void check_entity(const struct fg_entity *entity, double baseline, double candidate,
			 double error, uint64_t samples)
{
	assert_near(entity->baseline, baseline, 1e-9);
	assert_near(entity->candidate, candidate, 1e-9);
	assert_near(entity->delta, candidate - baseline, 1e-9);
	if (isnan(error))
		assert_true(isnan(entity->error));
	else
		assert_near(entity->error, error, 1e-9);
	assert_int_equal(entity->samples, samples);
}

/*
 * Three pairs, one of them a block of four; a and b are one entity, c is another, the root belongs
 * to no entity.
 */
FG_TEST_IN(differences_are_those_of_means_of_an_arm_in_each_pair, begin, end)
{
	uint32_t entity[] = {FG_NO_ENTITY, 0, 0, 1};

	(void)add(1, 0, 10 * MS, 0, 0);
	(void)add(1, 1, 12 * MS, 2 * MS, 0);
	(void)add(2, 0, 20 * MS, 0, 0);
	(void)add(2, 1, 20 * MS, 4 * MS, 0);
	(void)add(2, 1, 20 * MS, 0, 2 * MS);
	(void)add(2, 0, 20 * MS, 0, 8 * MS);
	(void)add(9, 0, 0, 0, 0);
	(void)add(9, 1, 1 * MS, 5 * MS, 3 * MS);
	build(0, entity, 2);
	assert_int_equal(matrix.count, 2);
	assert_int_equal(matrix.pair_count, 3);
	/* 4, 2 and 6: the variance is 4, over three pairs. */
	check_entity(&matrix.entities[0], 10, 14, 2 / sqrt(3), 100);
	/* 0, -3 and 3: the variance is 9. */
	check_entity(&matrix.entities[1], 4.0 / 3, 4.0 / 3, 3 / sqrt(3), 30);
}

FG_TEST_IN(a_pair_without_a_difference_counts_and_is_not_stored, begin, end)
{
	const uint32_t entity[] = {FG_NO_ENTITY, 0, 0, 0};

	for (uint32_t pair = 0; pair < 2; pair++) {
		(void)add(pair, 0, 5 * MS, 0, 0);
		(void)add(pair, 1, pair ? 7 * MS : 5 * MS, 0, 0);
	}
	build(0, entity, 1);
	assert_int_equal(matrix.start[1], 1);
	assert_int_equal(matrix.columns[0], 1);
	check_entity(&matrix.entities[0], 5, 6, 1, 40);
}

FG_TEST_IN(one_pair_has_no_error_and_without_pairs_there_is_no_level, begin, end)
{
	uint32_t entity[] = {FG_NO_ENTITY, 0, FG_NO_ENTITY, FG_NO_ENTITY};

	build(0, entity, 1);
	check_entity(&matrix.entities[0], 0, 0, (double)NAN, 0);
	(void)add(0, 0, 10 * MS, MS, 0);
	(void)add(0, 1, 13 * MS, 0, MS);
	build(0, entity, 1);
	check_entity(&matrix.entities[0], 10, 13, (double)NAN, 20);
}

/* Maxima of parts are not added: the larger maximum is that of the whole. */
FG_TEST_IN(parts_of_a_largest_value_are_not_added_up, begin, end)
{
	const struct fg_measure largest = {
		.name = "largest", .label = "largest", .unit = "bytes", .fold = FG_FOLD_MAX};
	uint32_t entity[] = {FG_NO_ENTITY, 0, 0, FG_NO_ENTITY};
	const uint16_t id = fg_profile_set_measure(&set, &largest);

	add(0, 0, 10, 4, 99)->measure = id;
	add(0, 1, 10, 14, 99)->measure = id;
	build(id, entity, 1);
	assert_int_equal(pairs.fold, FG_FOLD_MAX);
	check_entity(&matrix.entities[0], 10, 14, (double)NAN, 40);
}

static void add_region(uint32_t region, uint32_t pair, uint8_t arm, double cpu_ms, uint16_t aside)
{
	*fg_profile_set_add_region_row(&set) = (struct fg_profile_region_row){
		.region = region, .pair = pair, .arm = arm, .cpu_ns = cpu_ms * MS, .aside = aside};
}

FG_TEST_IN(regions_follow_the_pairs_of_the_samples, begin, end)
{
	uint32_t outer = fg_profile_set_region(&set, "event");
	uint32_t inner = fg_profile_set_region(&set, "event/fit");

	/* The second pair of samples is a block of four; the pair before it has only one arm. */
	for (uint8_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		(void)add(1, arm, MS, 0, 0);
		(void)add(5, arm, MS, 0, 0);
		(void)add(5, arm, MS, 0, 0);
	}
	(void)add(3, 0, MS, 0, 0);
	add_region(inner, 5, 1, 9, 0);
	add_region(outer, 1, 0, 10, 0);
	add_region(outer, 1, 1, 14, 0);
	add_region(outer, 1, 1, 500, FG_ASIDE_WARMUP);
	add_region(outer, 5, 0, 10, 0);
	add_region(outer, 5, 0, 20, 0);
	add_region(outer, 5, 1, 20, 0);
	add_region(outer, 5, 1, 22, 0);
	add_region(outer, 3, 0, 500, 0);
	add_region(outer, 4, 0, 500, 0);
	add_region(outer, 9, 0, 500, 0);
	add_region(inner, 1, 0, 5, 0);
	fg_pair_matrix_build_regions(&set, &matrix);
	assert_int_equal(matrix.count, 2);
	assert_int_equal(matrix.pair_count, 2);
	/* +4 and +6 ms: the variance is 2, over two pairs. */
	check_entity(&matrix.entities[outer], 12.5, 17.5, 1, 6);
	/* -5 and +4.5 ms */
	check_entity(&matrix.entities[inner], 2.5, 2.25, 4.75, 2);
}

/* A program without samples, which reported the times of its regions. */
FG_TEST_IN(regions_without_any_sample_are_in_no_pair, begin, end)
{
	const uint32_t region = fg_profile_set_region(&set, "event");

	for (uint8_t arm = 0; arm < FG_ARM_COUNT; arm++)
		add_region(region, 0, arm, 10, 0);
	fg_pair_matrix_build_regions(&set, &matrix);
	assert_int_equal(matrix.pair_count, 0);
	check_entity(&matrix.entities[region], 0, 0, (double)NAN, 0);
}
