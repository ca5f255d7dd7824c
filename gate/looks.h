/* SPDX-License-Identifier: Apache-2.0 */
/* When a sequential decision may fall. */
#ifndef FG_GATE_LOOKS_H
#define FG_GATE_LOOKS_H

#include <stddef.h>

#define FG_GATE_LOOKS_MAX 40

/* Most questions are settled by then. */
#define FG_GATE_PAIRS_USUAL 120

/*
 * The numbers of pairs after which a decision may fall, ascending; the last is max_pairs.  Returns
 * how many.
 */
size_t fg_gate_looks(unsigned min_pairs, unsigned max_pairs, size_t looks[FG_GATE_LOOKS_MAX]);
/*
 * What each of these looks may spend of alpha.  Where there are more pairs than the usual number,
 * nearly all of it is for the looks up to that: that one may go on costs those who need not little.
 */
void fg_gate_shares(const size_t *looks, size_t count, double alpha, double *shares);

#endif
