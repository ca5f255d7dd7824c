// SPDX-License-Identifier: Apache-2.0
#include "gate/looks.h"

#include "gate/finding.h"
#include "gate/statistics/sequential.h"

#include <math.h>

#define GROWTH 1.5
/* The looks after the usual ones share so much of alpha: those hardly notice. */
#define LATE_SHARE 0.2

/* Looks from `at` to `last` come after the `count` that there are. */
static size_t add_looks(size_t at, size_t last, size_t count, size_t looks[FG_GATE_LOOKS_MAX])
{
	const size_t first = count;

	while (at < last && count + 1 < FG_GATE_LOOKS_MAX) {
		looks[count++] = at;
		at = (size_t)ceil((double)at * GROWTH);
		/* Even numbers only: a block of two pairs starts once with either arm. */
		at += at % 2;
	}
	/* A last step that gains little replaces the look before it. */
	if (count > first + 1 && (double)last < 1.15 * (double)looks[count - 1])
		count--;
	looks[count++] = last;
	return count;
}

size_t fg_gate_looks(unsigned min_pairs, unsigned max_pairs, size_t looks[FG_GATE_LOOKS_MAX])
{
	const size_t last = fg_max_size(max_pairs, FG_PAIRS_MIN);
	const size_t first = fg_max_size(min_pairs, FG_PAIRS_MIN);
	size_t count;

	if (last <= FG_GATE_PAIRS_USUAL || first >= FG_GATE_PAIRS_USUAL)
		return add_looks(first, last, 0, looks);
	count = add_looks(first, FG_GATE_PAIRS_USUAL, 0, looks);
	return add_looks((size_t)(GROWTH * FG_GATE_PAIRS_USUAL), last, count, looks);
}

void fg_gate_shares(const size_t *looks, size_t count, double alpha, double *shares)
{
	size_t usual = 0;

	while (usual < count && looks[usual] <= FG_GATE_PAIRS_USUAL)
		usual++;
	if (usual == 0 || usual == count) {
		fg_spending_shares(looks, count, alpha, shares);
		return;
	}
	fg_spending_shares(looks, usual, (1.0 - LATE_SHARE) * alpha, shares);
	fg_spending_shares(looks + usual, count - usual, LATE_SHARE * alpha, shares + usual);
}
