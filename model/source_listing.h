/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source of one function on both sides, merged: common lines, lines of one side, and the cost
 * of each. Only lines with a cost, changed lines and a few lines around them are listed; gaps show
 * as jumps in the line numbers.
 */
#ifndef FG_MODEL_SOURCE_LISTING_H
#define FG_MODEL_SOURCE_LISTING_H

#include "base/arena.h"
#include "model/line_costs.h"

enum {
	FG_SOURCE_ROWS_MAX = 40,
	FG_SOURCE_TEXT_MAX = 160, /* bytes of a line */
};

struct fg_source_row {
	unsigned line[2]; /* baseline, candidate; 0: not on this side */
	double cost[2];   /* NaN: not on this side, or no samples */
	const char *text;
};

struct fg_source_listing {
	const char *file; /* file of the candidate, or of the only known side */
	bool has_side[2]; /* false: this side's source is unknown */
	struct fg_source_row *rows;
	size_t row_count;
	/* row with the highest cost on the candidate's side, or on the only known side */
	size_t hottest;
};

struct fg_source_side {
	const char *text;                 /* the whole file; NULL: unknown */
	const struct fg_line_cost *costs; /* sorted by line */
	size_t cost_count;
	unsigned first; /* line where the function begins; 0: unknown */
	unsigned last;  /* line where the function ends; 0: unknown */
	double scale;   /* factor for costs */
};

/* Lists both sides in the arena. NULL: no line to show, or no side with both text and costs. */
const struct fg_source_listing *fg_source_listing_make(const struct fg_source_side sides[2],
						       const char *file, struct fg_arena *arena);
/*
 * Returns the candidate's line to look at first: the hottest new line, else the hottest line; 0:
 * only the baseline has that line.
 */
unsigned fg_source_listing_line(const struct fg_source_listing *listing);

#endif
