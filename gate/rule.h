/* SPDX-License-Identifier: Apache-2.0 */
/* The sequential rule over the differences of one metric; see rule.c.  Private to gate/. */
#ifndef FG_GATE_RULE_H
#define FG_GATE_RULE_H

#include "gate/looks.h"
#include "model/verdict.h"

struct fg_rule {
	double alpha;
	double min_effect; /* ratios, as in the policy */
	double margin;
	double tolerated;
	unsigned min_pairs;
	unsigned max_pairs;
	bool until_sure;       /* only planned looks, however the measurement ends */
	bool is_drawn;         /* all differences between the sides are random for each pair */
	const uint8_t *layout; /* layout of each pair; NULL: one for all */
	unsigned layouts;      /* places that pairs take in turn */
	size_t given_up; /* pairs of a schedule that was given up: the looks at them are paid for */
};

/*
 * All figures are logarithms (or shares of the level), positive is worse.  The interval decides:
 * see fg_rule_outcome().
 */
struct fg_rule_finding {
	bool decided;
	enum fg_outcome outcome; /* inconclusive while not decided */
	size_t pairs;            /* number used for this finding */
	size_t looks;            /* taken */
	size_t next_look;        /* 0: none */
	double estimate;         /* NaN: too few pairs */
	double low;              /* NaN: no look was taken */
	double high;
	double step;       /* estimate by the pairs of the first look; NaN: not final */
	double step_error; /* its standard error */
	double wider; /* factor by which a doubt about dependence widens the interval; 1: none */
};

/* Fewer pairs than this say nothing. */
#define FG_PAIRS_MIN 5

/* `final`: no more pairs will come; the next look is then taken early. */
void fg_rule_apply(const struct fg_rule *rule, const double *difference, size_t count, bool final,
		   struct fg_rule_finding *finding);

/* The outcome that an interval stands for; inconclusive if it decides nothing. */
enum fg_outcome fg_rule_outcome(const struct fg_rule *rule, double estimate, double low,
				double high);

/*
 * The least change at which pairs with this scatter would have failed: smaller ones may go unseen.
 * A logarithm; infinite without a look.
 */
double fg_rule_smallest_seen(const struct fg_rule *rule, const struct fg_rule_finding *finding);

/*
 * The probability that the change is above `center`: one minus the least error at which the
 * interval of one look at these pairs lies above it, including the interval's doubts.
 */
double fg_rule_probability(const struct fg_rule *rule, const double *difference, size_t count,
			   double center);

/*
 * The total number of pairs that would make this a regression if the next ones are like those so
 * far; 0: not within four times as many.
 */
size_t fg_rule_pairs_needed(const struct fg_rule *rule, const double *difference, size_t count);
/* Pairs that are slower than tolerated. */
size_t fg_rule_count_slower(const struct fg_rule *rule, const double *difference, size_t count);

#endif
