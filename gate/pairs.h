/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From repetitions to pairs: the differences on which the decision about a metric is based. Private
 * to gate/.
 */
#ifndef FG_GATE_PAIRS_H
#define FG_GATE_PAIRS_H

#include "model/run.h"

/* Pair numbers from this one on are ignored, because a stored run may contain arbitrary numbers. */
#define FG_PAIR_NUMBERS_MAX 1000000

struct fg_pairs {
	size_t count;
	/* one entry per pair, in order of pair numbers */
	double *difference; /* ln(candidate / baseline), negated if needed: positive is worse */
	/* the arm's level: geometric mean of its repetitions, arithmetic mean if `linear` */
	double *baseline;
	double *candidate;
	uint8_t *layout;  /* layout of each pair; NULL: all pairs ran as linked */
	unsigned layouts; /* number of layouts; layout k is at place k % FG_LINE_PLACES of a line */
	size_t set_aside; /* pairs left out for a reason that was fixed in advance */
	size_t given_up;  /* pairs of `set_aside` that counted until their schedule was given up */
	size_t unpaired;  /* pairs in which an arm lacks repetitions */
	size_t no_number; /* pairs in which a value is not a number */
	size_t no_ratio;  /* pairs in which a value is zero or negative */
	/*
	 * Zero is a normal value, so differences are relative to the mean level instead of
	 * logarithms.
	 */
	bool linear;
};

/* Collects the pairs of metric number `metric`. Release with fg_pairs_release(). */
void fg_pairs_collect(const struct fg_series *series, size_t metric, struct fg_pairs *pairs);
void fg_pairs_release(struct fg_pairs *pairs);

/* Returns one more than the largest pair number that is not ignored. */
size_t fg_pair_end(const struct fg_series *series);

/*
 * Numbers of pairs of a series, whatever the metric: pairs that should have counted (`meant`), and
 * those among them that were set aside.
 */
struct fg_set_aside {
	unsigned meant;
	unsigned all;
	unsigned apart;     /* duet pairs with too short an overlap */
	unsigned disturbed; /* duet pairs in which one program left processes running */
	unsigned stolen;    /* pairs during which the host took the CPU away */
};

struct fg_set_aside fg_count_set_aside(const struct fg_series *series);

#endif
