/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From repetitions to pairs: the differences on which the decision about one metric rests. Private
 * to gate/.
 */
#ifndef FG_GATE_PAIRS_H
#define FG_GATE_PAIRS_H

#include "model/run.h"

/* Pair numbers come from stored runs too; larger ones are ignored. */
#define FG_PAIR_NUMBERS_MAX 1000000

struct fg_pairs {
	size_t count;
	/* One each per pair, in order of pair numbers. */
	double *difference; /* ln(candidate / baseline), turned so that positive is worse */
	/* level of the arm: geometric mean of its repetitions, or mean where `linear` */
	double *baseline;
	double *candidate;
	uint8_t *layout;  /* of `layouts`; NULL: all pairs ran as it was linked */
	unsigned layouts; /* places, of which each FG_LINE_PLACES are those in a cache line */
	size_t set_aside; /* pairs left out for a reason fixed beforehand */
	size_t given_up;  /* of those: pairs that counted until their schedule was given up */
	size_t unpaired;  /* pairs without a partner */
	size_t no_number; /* pairs in which a value is not a number */
	size_t no_ratio;  /* pairs in which a value is zero or negative */
	/*
	 * zeros are normal for this metric: differences relative to the mean level instead of
	 * logarithms
	 */
	bool linear;
};

/* Pairs of metric number `metric`.  Release with fg_pairs_release(). */
void fg_pairs_collect(const struct fg_series *series, size_t metric, struct fg_pairs *pairs);
void fg_pairs_release(struct fg_pairs *pairs);

/* One past the largest pair number that is looked at. */
size_t fg_pair_end(const struct fg_series *series);

/* Pairs of this series that were meant to count and were set aside, whatever the metric. */
struct fg_set_aside {
	unsigned meant;
	unsigned all;
	unsigned apart;     /* a duet's: the overlap was too short */
	unsigned disturbed; /* a duet's: one of the two left processes running */
	unsigned stolen;    /* the host took the CPU away */
};

struct fg_set_aside fg_count_set_aside(const struct fg_series *series);

#endif
