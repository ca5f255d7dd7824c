/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of a matrix in bytes. */
#ifndef FG_STORE_MATRIX_LAYOUT_H
#define FG_STORE_MATRIX_LAYOUT_H

#include "base/base.h"
#include "store/bytes.h"
#include "store/matrix.h"

#include <math.h>

enum {
	FG_FRACTIONS = 32,
	FG_MATRIX_LAYOUT = 2,   /* follows a zero, where the first layout had its number of rows */
	FG_MATRIX_MEASURES = 3, /* on the wire: named measures follow, each with a matrix */
	FG_CLASSES = 48,        /* of nodes, by their number of entries */
	FG_CLASS_EXACT_POWER = 3,
	/* Up to here each number is its own class, then there are two for each power of two. */
	FG_CLASS_EXACT = 1 << FG_CLASS_EXACT_POWER,
	FG_BREAK_MIN =
		/*
		 * bytes that are worth being packed by themselves: fewer, and the codes take what
		 * they save
		 */
		8192,
};

/* Without branches: they would mispredict. */
static inline uint8_t fg_class_of(size_t entries)
{
	const size_t large = entries > FG_CLASS_EXACT ? entries : FG_CLASS_EXACT;
	const unsigned power = 63 - (unsigned)__builtin_clzll(large);
	const unsigned class = FG_CLASS_EXACT + 2 * (power - FG_CLASS_EXACT_POWER) +
			       (unsigned)(large >> (power - 1) & 1);
	const unsigned bounded = class < FG_CLASSES ? class : FG_CLASSES - 1;

	return (uint8_t)(entries < FG_CLASS_EXACT ? entries : bounded);
}

/* The part before the ids. */
struct fg_matrix_heads {
	struct fg_matrix_row *rows;
	size_t row_count;
	size_t id_count;
	size_t entry_count;
	/*
	 * rows and samples are in the order of in_classes(); false: in node order, the first
	 * layout
	 */
	bool has_classes;
};

/* An entry's weight: samples × the row's unit, plus this many fractions of it. */
static inline double fg_matrix_weight(const struct fg_matrix_row *row, uint32_t samples,
				      int64_t fraction)
{
	const double unit = (double)row->unit;
	const double whole = unit * samples;

	return fraction ? round(whole + (double)fraction * unit / FG_FRACTIONS) : whole;
}

#endif
