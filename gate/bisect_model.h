/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hidden Markov model behind gate/bisect.c, and the information in a measurement. Private to
 * gate/.
 */
#ifndef FG_GATE_BISECT_MODEL_H
#define FG_GATE_BISECT_MODEL_H

#include "gate/bisect.h"

enum {
	/* cells of the grid of levels, from the good end's to the bad end's */
	FG_BISECT_CELLS = 16,
	FG_BISECT_ZERO = 16, /* level of the good end */
	FG_BISECT_LEVELS = FG_BISECT_ZERO + 40 + 1,
	FG_BISECT_SEEN = 45,      /* grid of measured values: twice as coarse, and wider */
	FG_BISECT_THRESHOLDS = 8, /* levels between the ends whose last crossing is searched */
};

/* Commits that are inseparable: unmeasured ones, one that is measured, those with its code. */
struct fg_bisect_place {
	size_t first;   /* commit; the unmeasured ones come first */
	size_t own;     /* the first one that can be measured */
	size_t visited; /* the one to measure: a built one, if there is any */
	bool is_built;
	size_t pair_count;
	double jump; /* prior probability that the level jumps here */
	double like[FG_BISECT_LEVELS];
	double before[FG_BISECT_LEVELS]; /* filtered: given all up to here, sums to 1 */
	double scale;
	/* [0]: probability of each level; [i]: and of none below threshold i from here on */
	double levels[FG_BISECT_THRESHOLDS + 1][FG_BISECT_LEVELS];
	/* results */
	double share;   /* share of the whole change that is expected here */
	double largest; /* probability that one of the levels was passed here for good */
	double surest;  /* the second largest: a single level may be sure by chance */
};

struct fg_bisect_model {
	struct fg_bisect_place *places; /* [0] is the good end */
	size_t count;
	double whole; /* ln */
	double noise; /* standard deviation of a pair */
	double cell;  /* width of a cell, ln */
	/* of the measurement asked about last: chances of what is seen, by level */
	double seen[FG_BISECT_LEVELS][FG_BISECT_SEEN];
	double seen_error;
	double drift; /* standard deviation of a build around its level, caused by code placement */
};

/* FG_EINVAL: the bad end is not worse. */
int fg_bisect_model_make(const struct fg_bisect *bisect, struct fg_bisect_model *model,
			 struct fg_error *err) FG_NODISCARD;
void fg_bisect_model_solve(struct fg_bisect_model *model);
/* A cheap guess at the next figure: how evenly a place divides the histories. */
double fg_bisect_promise(const struct fg_bisect_model *model, size_t place);
/*
 * Nats that so many more pairs at a place yield about the side of it on which the program rose
 * above each threshold, on average over the thresholds.
 */
double fg_bisect_information(struct fg_bisect_model *model, size_t place, unsigned pairs);
void fg_bisect_model_release(struct fg_bisect_model *model);

#endif
