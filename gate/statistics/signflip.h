/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the nodes that changed among thousands of nodes measured by one set of pairs.
 *
 * Each row holds the differences (candidate - baseline) of one node over the pairs. If nothing
 * changed, swapping the arms of a pair changes nothing, so every pattern of signs over the pairs is
 * equally likely. All rows get the same random patterns; the largest statistic among the rows that
 * are still in question is noted for each pattern, and a row's adjusted p is the share of patterns
 * whose largest statistic reaches the row's own statistic (max-T with step-down, Westfall and Young
 * 1993). This bounds the chance of *any* false flag, however strongly rows depend on each other, as
 * nested call paths do.
 *
 * The statistic is sum(x) / sqrt(sum(x^2)): for a given row it grows with Student's t, and its
 * denominator does not depend on the signs. Patterns come with their opposites, which is also exact
 * (cosets of {+1, -1}: Hemerik and Goeman 2018) and halves the work. The pattern "as observed"
 * counts, so p is never 0.
 */
#ifndef FG_STATS_SIGNFLIP_H
#define FG_STATS_SIGNFLIP_H

#include <stddef.h>
#include <stdint.h>

/*
 * Sparse rows, as in CSR: row r owns columns[start[r]] ... columns[start[r + 1] - 1] and the values
 * at the same indices. Pairs that are not listed hold 0. The caller owns the arrays.
 */
struct fg_sparse_rows {
	size_t row_count;
	size_t column_count; /* pairs */
	const size_t *start; /* row_count + 1 */
	const uint32_t *columns;
	const float *values;
	/*
	 * Per row, subtracted from its statistic before rows are compared; may be NULL. A smaller
	 * handicap gives a row more of alpha (weighted testing). The bound holds as long as the
	 * handicap does not depend on the signs of the values.
	 */
	const float *handicap;
};

#define FG_SIGNFLIP_COLUMNS_MAX 10000

/*
 * Computes the adjusted p of each row, for "grew" in p_up and for "shrank" in p_down, over at most
 * `patterns` sign patterns, the opposite of each included. A row without a value other than 0 gets
 * 1. Values are finite, and there are at most FG_SIGNFLIP_COLUMNS_MAX columns.
 */
void fg_signflip_max_t(const struct fg_sparse_rows *rows, size_t patterns, uint64_t seed,
		       double *p_up, double *p_down);

#endif
