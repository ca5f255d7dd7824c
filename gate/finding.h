/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a sequential rule is given and what it finds, with the estimate under both rules (looks and
 * bets).  Private to gate/.
 */
#ifndef FG_GATE_FINDING_H
#define FG_GATE_FINDING_H

#include "model/verdict.h"

struct fg_rule {
	double alpha;
	double min_effect; /* ratios, as in the policy */
	double margin;
	double tolerated;
	const size_t *looks;
	size_t look_count;
	const uint8_t *layout; /* of each pair; NULL: one for all */
	unsigned layouts;      /* places that pairs take in turn */
	size_t given_up; /* pairs of a schedule that was given up: the looks at them are paid for */
	bool until_sure;
};

/* All figures are logarithms (or shares of the level), positive is worse. */
struct fg_rule_finding {
	bool decided;
	enum fg_outcome outcome; /* inconclusive while not decided */
	size_t pairs;            /* used for this finding */
	size_t looks;            /* taken */
	size_t next_look;        /* 0: none */
	double estimate;         /* NaN: too few pairs */
	double low;
	double high;
	double doubtful_low; /* low, if pairs depend on each other as much as they may */
	double places_low;   /* low, if a place is known as well as can be and others are as many */
	double p;            /* signed-rank test against "no worse than tolerated" */
	double smallest_detectable;
	double autocorrelation;
	bool vetoed;    /* the interval alone would say worse, */
	bool placed;    /* and it may be that the places of the code were bad ones */
	bool dependent; /* surely autocorrelated, which is worth a word */
};

/* Fewer pairs than this say nothing. */
#define FG_PAIRS_MIN 5

/* Estimate and interval of the first `count` pairs at error `share` a side. */
void fg_finding_estimate(const double *difference, size_t count, double share,
			 struct fg_rule_finding *finding);
/* The largest lag-1 autocorrelation that the pairs leave room for. */
double fg_finding_highest_correlation(const double *difference, size_t count);
bool fg_finding_is_improvement(const struct fg_rule *rule, const struct fg_rule_finding *finding);

#endif
