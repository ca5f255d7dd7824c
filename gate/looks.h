/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans the looks at which a decision may be made, and the error that each look may spend. A look
 * spends a quarter of the alpha that earlier looks left, and the last look spends all that is left,
 * so the shares sum to alpha. By Boole's inequality the total error is bounded, whatever the
 * dependence between the looks.
 */
#ifndef FG_GATE_LOOKS_H
#define FG_GATE_LOOKS_H

#include <stddef.h>

#define FG_GATE_LOOKS_MAX 40

/* Number of pairs within which most comparisons are decided. */
#define FG_GATE_PAIRS_USUAL 120

/*
 * Returns the minimum number of pairs that can decide at the first of many looks, if every pair is
 * slower.
 */
size_t fg_gate_min_pairs_first_look(double alpha);
/*
 * Returns the minimum number of pairs that can decide at a look that is both the first and the
 * last.
 */
size_t fg_gate_min_pairs_only_look(double alpha);
/*
 * Lists the numbers of pairs after which a decision may be made, ascending. The list begins with
 * `min_pairs` or the minimum number of pairs that can decide, whichever is larger; each further
 * number is 1.5 times the previous number, rounded up. The last number, perhaps the only one, is
 * `max_pairs`. Returns the length of the list.
 */
size_t fg_gate_looks(double alpha, unsigned min_pairs, unsigned max_pairs,
		     size_t looks[FG_GATE_LOOKS_MAX]);
/*
 * Returns the share of alpha that look number `look` (from 0) may spend if more looks may follow.
 */
double fg_gate_share(double alpha, size_t look);
/*
 * Returns the share of alpha that look number `look` may spend if it is the last: all that is left.
 */
double fg_gate_share_left(double alpha, size_t look);

#endif
