/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source of one function on both sides, as one text: lines that both have, lines that only one
 * has, and what each costs there.  Only lines that cost something, lines that changed, and a few
 * around them are listed; where lines are left out, their numbers jump.
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
	double cost[2];   /* NaN: not on this side, or nothing was seen there */
	const char *text;
};

struct fg_source_listing {
	const char *file; /* of the candidate, or of the only side that is known */
	bool has_side[2]; /* false: nothing is known about that side's source */
	struct fg_source_row *rows;
	size_t row_count;
	size_t hottest; /* row that costs most, the candidate's if there is one */
};

struct fg_source_side {
	const char *text;                 /* of the whole file; NULL: it is not known */
	const struct fg_line_cost *costs; /* by line */
	size_t cost_count;
	unsigned first; /* line where the function begins; 0: unknown */
	unsigned last;  /* line where it ends; 0: unknown */
	double scale;   /* what a cost is multiplied by */
};

/* NULL: neither side has a line that costs something.  Lives in the arena. */
const struct fg_source_listing *fg_source_listing_make(const struct fg_source_side sides[2],
						       const char *file, struct fg_arena *arena);
/* The line of the candidate to look at first: the hottest that changed, or the hottest; 0: none. */
unsigned fg_source_listing_line(const struct fg_source_listing *listing);

#endif
