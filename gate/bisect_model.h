/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hidden Markov model of gate/bisect.c, and the information that a measurement gives. Private
 * to gate/.
 */
#ifndef FG_GATE_BISECT_MODEL_H
#define FG_GATE_BISECT_MODEL_H

#include "gate/bisect.h"

enum {
	/* grid cells between the good end's level and the bad end's */
	FG_BISECT_CELLS = 16,
	FG_BISECT_ZERO = 16, /* grid index of the good end's level */
	FG_BISECT_LEVELS = FG_BISECT_ZERO + 40 + 1,
	/*
	 * number of cells in the grid of measured values, which is wider than the grid of levels
	 * and half as fine
	 */
	FG_BISECT_SEEN = 45,
	/*
	 * number of thresholds between the ends; the model locates the last crossing of each
	 * threshold
	 */
	FG_BISECT_THRESHOLDS = 8,
};

/*
 * Successive commits that cannot be distinguished: commits that cannot be measured, a commit that
 * can be measured, and later commits with the same code.
 */
struct fg_bisect_place {
	size_t first;   /* first commit; commits that cannot be measured come first */
	size_t own;     /* the first commit that can be measured */
	size_t visited; /* the commit to measure, a built commit if possible */
	bool is_built;
	size_t pair_count;
	double jump; /* prior probability that the level jumps here */
	double likelihood[FG_BISECT_LEVELS];
	/* probability of each level given all places up to here; the sum is 1 */
	double before[FG_BISECT_LEVELS];
	double scale;
	/*
	 * [0]: probability of each level; [i]: joint probability of each level and of no later
	 * level below threshold i
	 */
	double levels[FG_BISECT_THRESHOLDS + 1][FG_BISECT_LEVELS];
	/* results */
	double share; /* expected share of the whole change that happened here */
	/* highest probability, over the thresholds, that a threshold was passed here for good */
	double largest;
	/* second highest of the thresholds' probabilities: `largest` may be near 1 by chance */
	double second_largest;
};

struct fg_bisect_model {
	struct fg_bisect_place *places; /* [0] is the good end */
	size_t count;
	double whole; /* change from good to bad end, as a logarithm */
	double noise; /* standard deviation of a pair */
	double cell;  /* width of a cell, as a logarithm */
	/* probability of each measured value, by level, if its error is `seen_error` */
	double seen[FG_BISECT_LEVELS][FG_BISECT_SEEN];
	double seen_error;
	double drift; /* standard deviation of a build around its level, caused by code placement */
};

/* FG_EINVAL: the bad end is not worse. */
int fg_bisect_model_make(const struct fg_bisect *bisect, struct fg_bisect_model *model,
			 struct fg_error *err) FG_NODISCARD;
void fg_bisect_model_solve(struct fg_bisect_model *model);
/*
 * Returns a cheap substitute for fg_bisect_information(): a value that is largest if a place
 * divides the histories evenly.
 */
double fg_bisect_promise(const struct fg_bisect_model *model, size_t place);
/*
 * Returns the information, in nats, that `pairs` more pairs at a place give about whether the
 * program rose above a threshold before or after it; the mean over all thresholds.
 */
double fg_bisect_information(struct fg_bisect_model *model, size_t place, unsigned pairs);
void fg_bisect_model_release(struct fg_bisect_model *model);

#endif
