// SPDX-License-Identifier: Apache-2.0
/*
 * The cost is rows x pairs x patterns additions, so this file is built around that loop: the signs
 * of BLOCK patterns are stored contiguously, a row keeps BLOCK sums in registers, and the compiler
 * turns the inner loop into vector instructions. The step-down after it is one pass over rows x
 * patterns.
 */
#include "gate/statistics/signflip.h"

#include "base/base.h"
#include "base/random.h"
#include "base/sort.h"

#include <math.h>

#define BLOCK 32
/*
 * Sums of the same numbers in another order may differ in the last bits of a float; count them as
 * equal.
 */
#define TIE 1e-5F

struct plan {
	const struct fg_sparse_rows *rows;
	size_t blocks;
	size_t cosets;     /* patterns without their opposites; the first is the observed one */
	float *signs;      /* [block][column][BLOCK] */
	float *statistics; /* [row][cosets], cosets rounded up to whole blocks */
	size_t *order;     /* rows by observed statistic in the current direction, ascending */
};

/*
 * Draws the signs. Pattern 0 is "as observed"; each sign of the other patterns is a fair coin, 32
 * coins per draw.
 */
static void draw_signs(struct plan *plan, uint64_t seed)
{
	size_t columns = plan->rows->column_count;
	struct fg_random rng;

	fg_random_seed(&rng, seed);
	for (size_t block = 0; block < plan->blocks; block++) {
		for (size_t column = 0; column < columns; column++) {
			float *sign = plan->signs + (block * columns + column) * BLOCK;
			uint64_t coins = fg_random_next(&rng);

			for (size_t i = 0; i < BLOCK; i++)
				sign[i] = (coins >> (i + 16)) & 1 ? 1.0F : -1.0F;
			if (block == 0)
				sign[0] = 1.0F;
		}
	}
}

/* Takes four pairs at a time, so that the sums are loaded and stored once for four additions. */
static void sum_block(const struct fg_sparse_rows *rows, size_t row, const float *signs,
		      float *sums)
{
	const uint32_t *columns = rows->columns;
	const float *values = rows->values;
	size_t end = rows->start[row + 1];
	size_t i = rows->start[row];
	float total[BLOCK] = {0.0F};

	for (; i + 4 <= end; i += 4) {
		const float *a = signs + (size_t)columns[i] * BLOCK;
		const float *b = signs + (size_t)columns[i + 1] * BLOCK;
		const float *c = signs + (size_t)columns[i + 2] * BLOCK;
		const float *d = signs + (size_t)columns[i + 3] * BLOCK;

		for (size_t k = 0; k < BLOCK; k++)
			total[k] += (values[i] * a[k] + values[i + 1] * b[k]) +
				    (values[i + 2] * c[k] + values[i + 3] * d[k]);
	}
	for (; i < end; i++) {
		const float *a = signs + (size_t)columns[i] * BLOCK;

		for (size_t k = 0; k < BLOCK; k++)
			total[k] += values[i] * a[k];
	}
	memcpy(sums, total, sizeof(total));
}

static void fill_statistics(struct plan *plan)
{
	const struct fg_sparse_rows *rows = plan->rows;
	size_t width = plan->blocks * BLOCK;

	for (size_t row = 0; row < rows->row_count; row++) {
		float *statistic = plan->statistics + row * width;
		double squares = 0.0;
		float scale;

		for (size_t i = rows->start[row]; i < rows->start[row + 1]; i++)
			squares += (double)rows->values[i] * (double)rows->values[i];
		scale = squares > 0.0 ? (float)(1.0 / sqrt(squares)) : 0.0F;
		for (size_t block = 0; block < plan->blocks; block++)
			sum_block(rows, row, plan->signs + block * rows->column_count * BLOCK,
				  statistic + block * BLOCK);
		for (size_t i = 0; i < width; i++)
			statistic[i] *= scale;
	}
}

struct observed {
	float statistic;
	size_t row;
};

FG_ORDER_BY(compare_observed, struct observed, FG_UP(statistic))

static float handicap_of(const struct plan *plan, size_t row)
{
	return plan->rows->handicap ? plan->rows->handicap[row] : 0.0F;
}

static void order_rows(struct plan *plan, float direction)
{
	size_t count = plan->rows->row_count;
	struct observed *items = fg_xcalloc(count + 1, sizeof(items[0]));

	for (size_t row = 0; row < count; row++) {
		items[row].statistic = direction * plan->statistics[row * plan->blocks * BLOCK] -
				       handicap_of(plan, row);
		items[row].row = row;
	}
	qsort(items, count, sizeof(items[0]), compare_observed);
	for (size_t i = 0; i < count; i++)
		plan->order[i] = items[i].row;
	free(items);
}

/*
 * Updates the running maxima of both signs with this row, and counts the maxima that reach the
 * row's own statistic.
 */
static size_t raise_and_count(const struct plan *plan, size_t row, float direction, float *maxima)
{
	const float *statistic = plan->statistics + row * plan->blocks * BLOCK;
	float handicap = handicap_of(plan, row);
	float own = direction * statistic[0] - handicap - TIE;
	float *opposite = maxima + plan->cosets;
	unsigned reached = 0;

	for (size_t i = 0; i < plan->cosets; i++) {
		float value = direction * statistic[i];
		float up = value - handicap;
		float down = -value - handicap;

		maxima[i] = up > maxima[i] ? up : maxima[i];
		opposite[i] = down > opposite[i] ? down : opposite[i];
		reached += (unsigned)(maxima[i] >= own) + (unsigned)(opposite[i] >= own);
	}
	return reached;
}

static bool is_empty(const struct fg_sparse_rows *rows, size_t row)
{
	size_t i = rows->start[row];

	while (i < rows->start[row + 1] && !(fabsf(rows->values[i]) > 0.0F))
		i++;
	return i == rows->start[row + 1];
}

/*
 * Goes from the least to the most suspicious row, then makes the adjusted p monotone from the top
 * down.
 */
static void step_down(struct plan *plan, float direction, double *p)
{
	size_t count = plan->rows->row_count;
	size_t patterns = 2 * plan->cosets;
	float *maxima = fg_xcalloc(patterns, sizeof(maxima[0]));
	double most = 0.0;

	for (size_t i = 0; i < patterns; i++)
		maxima[i] = -HUGE_VALF;
	order_rows(plan, direction);
	for (size_t i = 0; i < count; i++) {
		size_t row = plan->order[i];
		size_t reached = raise_and_count(plan, row, direction, maxima);

		p[row] = (double)reached / (double)patterns;
	}
	for (size_t i = count; i-- > 0;) {
		size_t row = plan->order[i];

		most = fmax(most, p[row]);
		p[row] = is_empty(plan->rows, row) ? 1.0 : most;
	}
	free(maxima);
}

void fg_signflip_max_t(const struct fg_sparse_rows *rows, size_t patterns, uint64_t seed,
		       double *p_up, double *p_down)
{
	struct plan plan = {.rows = rows, .cosets = (patterns + 1) / 2};
	size_t width;

	plan.blocks = (plan.cosets + BLOCK - 1) / BLOCK;
	width = plan.blocks * BLOCK;
	plan.signs = fg_xcalloc(width * (rows->column_count + 1), sizeof(plan.signs[0]));
	plan.statistics = fg_xcalloc(rows->row_count * width + 1, sizeof(plan.statistics[0]));
	plan.order = fg_xcalloc(rows->row_count + 1, sizeof(plan.order[0]));
	draw_signs(&plan, seed);
	fill_statistics(&plan);
	step_down(&plan, 1.0F, p_up);
	step_down(&plan, -1.0F, p_down);
	free(plan.signs);
	free(plan.statistics);
	free(plan.order);
}
