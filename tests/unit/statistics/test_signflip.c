// SPDX-License-Identifier: Apache-2.0
/* Reference values: all 256 sign patterns of 8 pairs, enumerated with NumPy 1.24. */
#include "base/random.h"
#include "gate/statistics/signflip.h"
#include "tests/unit/statistics/close.h"

#include <stdbool.h>

#define ROWS  5
#define PAIRS 8

static const float dense[ROWS][PAIRS] = {
	{1.0F, 2.0F, 1.5F, 0.5F, 1.2F, 0.8F, 1.9F, 1.1F},
	{0.3F, -0.2F, 0.5F, 0.1F, -0.4F, 0.6F, 0.2F, 0.1F},
	{0.0F, 0.0F, 2.0F, 0.0F, 0.0F, 1.0F, 0.0F, 0.5F},
	{-1.0F, -0.5F, -0.7F, -0.2F, -0.9F, -1.1F, -0.4F, -0.6F},
	{0.9F, 0.7F, 0.8F, -0.1F, 1.0F, 0.4F, 0.6F, 0.2F},
};

struct matrix {
	size_t start[ROWS + 1];
	uint32_t columns[ROWS * PAIRS];
	float values[ROWS * PAIRS];
	struct fg_sparse_rows rows;
};

static void pack(struct matrix *m)
{
	size_t used = 0;

	for (size_t row = 0; row < ROWS; row++) {
		m->start[row] = used;
		for (uint32_t pair = 0; pair < PAIRS; pair++) {
			if (fabsf(dense[row][pair]) > 0.0F) {
				m->columns[used] = pair;
				m->values[used++] = dense[row][pair];
			}
		}
	}
	m->start[ROWS] = used;
	m->rows = (struct fg_sparse_rows){.row_count = ROWS,
					  .column_count = PAIRS,
					  .start = m->start,
					  .columns = m->columns,
					  .values = m->values};
}

FG_TEST(adjusted_p_approach_those_of_all_patterns)
{
	static const double up[] = {0.00390625, 0.2578125, 0.2265625, 1.0, 0.01953125};
	static const double down[] = {1.0, 0.984375, 1.0, 0.0078125, 1.0};
	struct matrix m;
	double p_up[ROWS];
	double p_down[ROWS];

	pack(&m);
	fg_signflip_max_t(&m.rows, 40000, 3, p_up, p_down);
	for (size_t i = 0; i < ROWS; i++) {
		assert_near(p_up[i], up[i], 4.0 * sqrt(up[i] * (1.0 - up[i]) / 20000.0) + 1e-4);
		assert_near(p_down[i], down[i],
			    4.0 * sqrt(down[i] * (1.0 - down[i]) / 20000.0) + 1e-4);
	}
}

/* The row's position does not matter; an empty row is never evidence. */
FG_TEST(the_p_of_a_row_does_not_depend_on_its_position)
{
	static const float values[3][PAIRS] = {
		{0.1F, -0.1F, 0.2F, -0.2F, 0.3F, -0.3F, 0.1F, -0.1F}, /* noise */
		{1.0F, 1.1F, 0.9F, 1.2F, 1.0F, 0.8F, 1.0F, 1.1F},     /* a change */
		{0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F, 0.0F},
	};
	static const size_t orders[][3] = {{0, 1, 2}, {1, 0, 2}, {2, 0, 1}, {0, 2, 1}};
	double first = 0;

	for (size_t i = 0; i < FG_ARRAY_SIZE(orders); i++) {
		size_t start[4];
		uint32_t columns[3 * PAIRS];
		float all[3 * PAIRS];
		float handicap[3]; /* favours rows without evidence */
		const struct fg_sparse_rows rows = {.row_count = 3,
						    .column_count = PAIRS,
						    .start = start,
						    .columns = columns,
						    .values = all,
						    .handicap = handicap};
		double p[2][3];

		for (size_t row = 0; row < 3; row++) {
			start[row] = row * PAIRS;
			handicap[row] = orders[i][row] == 2 ? -0.5F : 0.0F;
			memcpy(&all[row * PAIRS], values[orders[i][row]], sizeof(values[0]));
			for (uint32_t pair = 0; pair < PAIRS; pair++)
				columns[row * PAIRS + pair] = pair;
		}
		start[3] = sizeof(all) / sizeof(all[0]);
		fg_signflip_max_t(&rows, 2000, 5, p[0], p[1]);
		for (size_t row = 0; row < 3; row++) {
			if (orders[i][row] == 2) {
				assert_near(p[0][row], 1, 0);
				assert_near(p[1][row], 1, 0);
			} else if (orders[i][row] == 1 && i > 0) {
				assert_near(p[0][row], first, 0);
			} else if (orders[i][row] == 1) {
				first = p[0][row];
				assert_true(first < 0.02);
			}
		}
	}
}

enum {
	NODES = 40,
	COLUMNS = 20,
	ROUNDS = 400,
};

/*
 * Counts the rounds in which any row is flagged at 5 %: each of 40 rows is the sum of the previous
 * one and noise, as call paths nest.
 */
static int count_false_flags(const float *handicap)
{
	size_t start[NODES + 1];
	uint32_t columns[NODES * COLUMNS];
	float values[NODES * COLUMNS];
	double p[NODES];
	double down[NODES];
	struct fg_sparse_rows rows = {.row_count = NODES,
				      .column_count = COLUMNS,
				      .start = start,
				      .columns = columns,
				      .values = values,
				      .handicap = handicap};
	struct fg_random rng;
	int flagged = 0;

	fg_random_seed(&rng, 21);
	for (size_t i = 0; i <= NODES; i++)
		start[i] = i * COLUMNS;
	for (int round = 0; round < ROUNDS; round++) {
		bool any = false;

		for (size_t i = 0; i < NODES * (size_t)COLUMNS; i++) {
			columns[i] = (uint32_t)(i % COLUMNS);
			values[i] = (float)fg_random_normal(&rng);
			if (i >= COLUMNS)
				values[i] += values[i - COLUMNS];
		}
		fg_signflip_max_t(&rows, 200, (uint64_t)round, p, down);
		for (size_t i = 0; i < NODES; i++)
			any = any || p[i] <= 0.05;
		flagged += any;
	}
	return flagged;
}

FG_TEST(identical_programs_are_flagged_no_more_often_than_alpha)
{
	float handicap[NODES];

	/* 5 % of 400 is 20; 4 standard deviations are 17. */
	assert_in_range(count_false_flags(NULL), 6, 37);
	for (size_t i = 0; i < NODES; i++)
		handicap[i] = i % 7 == 0 ? -0.8F : 0.1F;
	assert_in_range(count_false_flags(handicap), 6, 37);
}

FG_TEST(rows_without_values_are_not_evidence)
{
	static const size_t start[] = {0, 0, 2};
	static const uint32_t columns[] = {0, 1};
	static const float values[] = {0.0F, 0.0F};
	struct fg_sparse_rows rows = {.row_count = 2,
				      .column_count = 2,
				      .start = start,
				      .columns = columns,
				      .values = values};
	double up[2] = {0};
	double down[2] = {0};

	fg_signflip_max_t(&rows, 1000, 0, up, down);
	for (int i = 0; i < 2; i++) {
		assert_near(up[i], 1.0, 0.0);
		assert_near(down[i], 1.0, 0.0);
	}
	rows.row_count = 0;
	fg_signflip_max_t(&rows, 1000, 0, up, down);
}

FG_TEST(a_row_that_begins_with_zeros_is_evidence)
{
	static const size_t start[] = {0, 8};
	static const uint32_t columns[] = {0, 1, 2, 3, 4, 5, 6, 7};
	static const float values[] = {0.0F, 1.0F, 1.1F, 0.9F, 1.2F, 0.8F, 1.0F, 1.1F};
	const struct fg_sparse_rows rows = {.row_count = 1,
					    .column_count = 8,
					    .start = start,
					    .columns = columns,
					    .values = values};
	double up = 1;
	double down = 1;

	fg_signflip_max_t(&rows, 1000, 0, &up, &down);
	assert_true(up < 0.05);
}

/* ---- to the pattern ---- */

enum {
	MADE_ROWS = 5,
	MADE_COLUMNS = 22,
};

/* Uniform numbers of a small generator, shifted by `shift` in each `every`th pair; 0: in none. */
struct made_row {
	double shift;
	size_t every;
};

static const struct made_row calm[MADE_ROWS] = {{0.05, 1}, {-0.02, 1}, {0.1, 2}, {0, 3}};
static const struct made_row up[MADE_ROWS] = {{0.35, 1}, {0, 1}, {0.2, 2}, {-0.1, 1}, {0.45, 3}};
static const struct made_row mix[MADE_ROWS] = {{-0.4, 1}, {0.25, 1}, {0.05, 2}, {0, 0}, {-0.2, 4}};
static const float handicaps[MADE_ROWS] = {0.3F, -0.2F, 0.5F, 0.1F, -0.4F};

/*
 * Computed separately from the description, with the same random signs: for each row, the number of
 * patterns, out of `all`, under which chance gives a statistic at least as large.
 */
static const struct {
	const struct made_row *rows;
	size_t columns;
	size_t patterns;
	double all;
	uint64_t seed;
	bool is_handicapped;
	double up[MADE_ROWS];
	double down[MADE_ROWS];
} all_made[] = {
	{calm, 13, 63, 64, 1, false, {64, 64, 64, 64}, {40, 41, 41, 41}},
	{calm, 13, 64, 64, 2, false, {63, 63, 63, 63}, {42, 42, 42, 42}},
	{calm, 13, 65, 66, 2, true, {64, 64, 64, 64}, {49, 49, 49, 49}},
	{calm, 22, 399, 400, 3, false, {317, 265, 317, 317}, {366, 366, 366, 348}},
	{calm, 22, 400, 400, 3, false, {317, 265, 317, 317}, {366, 366, 366, 348}},
	{up, 13, 63, 64, 1, false, {1, 51, 39, 51, 6}, {64, 60, 60, 50, 64}},
	{up, 13, 64, 64, 2, false, {2, 54, 42, 54, 8}, {64, 59, 59, 54, 64}},
	{up, 13, 65, 66, 2, true, {6, 50, 50, 50, 6}, {66, 62, 64, 62, 66}},
	{up, 22, 399, 400, 3, false, {1, 119, 114, 395, 7}, {400, 399, 399, 39, 400}},
	{up, 22, 400, 400, 3, false, {1, 119, 114, 395, 7}, {400, 399, 399, 39, 400}},
	{up, 22, 600, 600, 4, true, {1, 165, 169, 586, 2}, {600, 597, 597, 109, 600}},
	{up, 22, 1000, 1000, 5, false, {3, 282, 275, 978, 18}, {1000, 997, 997, 118, 1000}},
	{mix, 13, 63, 64, 1, false, {64, 4, 64, 64, 64}, {1, 64, 31, 64, 26}},
	{mix, 13, 64, 64, 2, false, {64, 4, 64, 64, 64}, {1, 64, 37, 64, 33}},
	{mix, 13, 65, 66, 2, true, {66, 2, 66, 66, 66}, {1, 66, 42, 66, 23}},
	{mix, 22, 399, 400, 3, false, {400, 2, 400, 400, 400}, {1, 400, 248, 400, 44}},
	{mix, 22, 400, 400, 3, false, {400, 2, 400, 400, 400}, {1, 400, 248, 400, 44}},
	{mix, 22, 600, 600, 4, true, {600, 1, 600, 600, 600}, {2, 600, 600, 600, 50}},
	{mix, 22, 1000, 1000, 5, false, {1000, 2, 1000, 1000, 1000}, {1, 1000, 607, 1000, 119}},
};

FG_TEST(adjusted_p_are_those_of_the_description)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(all_made); i++) {
		uint32_t columns[MADE_ROWS * MADE_COLUMNS];
		float values[MADE_ROWS * MADE_COLUMNS];
		size_t start[MADE_ROWS + 1] = {0};
		const struct fg_sparse_rows rows = {
			.row_count = all_made[i].rows == calm ? MADE_ROWS - 1 : MADE_ROWS,
			.column_count = all_made[i].columns,
			.start = start,
			.columns = columns,
			.values = values,
			.handicap = all_made[i].is_handicapped ? handicaps : NULL};
		double p[2][MADE_ROWS];
		size_t used = 0;

		for (size_t r = 0; r < rows.row_count; r++) {
			const struct made_row *row = &all_made[i].rows[r];

			for (size_t c = 0; row->every && c < rows.column_count; c += row->every) {
				const size_t drawn = (c + 1) * (c + 1) * 7919 + (r + 1) * 104729;

				columns[used] = (uint32_t)c;
				values[used++] =
					(float)(row->shift + (double)(drawn % 1009) / 1009 - 0.5);
			}
			start[r + 1] = used;
		}
		fg_signflip_max_t(&rows, all_made[i].patterns, all_made[i].seed, p[0], p[1]);
		for (size_t r = 0; r < rows.row_count; r++) {
			assert_near(p[0][r], all_made[i].up[r] / all_made[i].all, 1e-9);
			assert_near(p[1][r], all_made[i].down[r] / all_made[i].all, 1e-9);
		}
	}
}
