/* SPDX-License-Identifier: Apache-2.0 */
/* When a sequential decision may fall. */
#ifndef FG_GATE_LOOKS_H
#define FG_GATE_LOOKS_H

#include <stddef.h>

#define FG_GATE_LOOKS_MAX 40

/*
 * The numbers of pairs after which a decision may fall, ascending; the last is max_pairs.  Returns
 * how many.
 */
size_t fg_gate_looks(unsigned min_pairs, unsigned max_pairs, size_t looks[FG_GATE_LOOKS_MAX]);

#endif
