/* SPDX-License-Identifier: Apache-2.0 */
/* The sequential rule over the differences of one metric; see rule.c. Private to gate/. */
#ifndef FG_GATE_RULE_H
#define FG_GATE_RULE_H

#include "gate/looks.h"
#include "model/verdict.h"

struct fg_rule {
	double alpha;
	/* min_effect, margin and tolerated are relative changes, as in the policy */
	double min_effect;
	double margin;
	double tolerated;
	unsigned min_pairs;
	unsigned max_pairs;
	bool until_sure;       /* planned looks only, however the measurement ends */
	bool is_drawn;         /* pairs are independent: both sides start anew in random order */
	const uint8_t *layout; /* layout of each pair; NULL: one layout */
	unsigned layouts;      /* number of layouts, which pairs take in turn */
	size_t given_up; /* pairs of a schedule that was given up: looks at them have spent alpha */
};

/*
 * All figures are logarithms (or shares of the level); positive is worse. The interval decides: see
 * fg_rule_outcome().
 */
struct fg_rule_finding {
	bool decided;
	enum fg_outcome outcome; /* inconclusive while not decided */
	size_t pairs;            /* pairs used for this finding */
	size_t looks;            /* looks taken */
	size_t next_look;        /* pairs at the next look; 0: none */
	double estimate;         /* NaN: too few pairs */
	double low;              /* NaN: no look was taken */
	double high;
	double step;       /* estimate from the pairs of the first look; NaN if not final */
	double step_error; /* standard error of `step` */
	double wider; /* factor by which possible dependence widens the interval; 1: not widened */
	bool is_by_places; /* the few places in the page, not the pairs, determine `low` */
};

/* Minimum number of pairs for any decision. */
#define FG_PAIRS_MIN 5

/* `final`: no more pairs will come, so the next look is taken early, unless `until_sure`. */
void fg_rule_apply(const struct fg_rule *rule, const double *difference, size_t count, bool final,
		   struct fg_rule_finding *finding);

/* Returns the outcome that an interval stands for; inconclusive if it decides nothing. */
enum fg_outcome fg_rule_outcome(const struct fg_rule *rule, double estimate, double low,
				double high);

/*
 * Returns the smallest change at which pairs with this scatter would have failed; smaller changes
 * may be missed. The result is a logarithm; it is infinite without a look.
 */
double fg_rule_smallest_seen(const struct fg_rule *rule, const struct fg_rule_finding *finding);

/*
 * Returns the probability that the change is above `center`: one minus the smallest error at which
 * a single look at these pairs, with all allowances of the rule, gives an interval above `center`.
 */
double fg_rule_probability(const struct fg_rule *rule, const double *difference, size_t count,
			   double center);

/*
 * Returns the total number of pairs that would make this a regression if further pairs resemble the
 * measured pairs; 0 if four times as many (at most 1,000) are not enough.
 */
size_t fg_rule_pairs_needed(const struct fg_rule *rule, const double *difference, size_t count);
/* Returns the number of pairs that are slower than tolerated. */
size_t fg_rule_count_slower(const struct fg_rule *rule, const double *difference, size_t count);

#endif
