/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An optimization loop with many attempts: each is a new build, measured as `fastgate run
 * --receipt` measures it and claimed in the ledger.  All attempts but the last are neutral; an
 * attempt whose verdict is not proven is measured again, as an assistant would.
 */
#ifndef FG_BENCH_REFEREE_LOOP_H
#define FG_BENCH_REFEREE_LOOP_H

#include "base/random.h"
#include "bench/recorded.h"
#include "gate/ledger.h"
#include "gate/rule.h"
#include "gate/statistics/evidence.h"
#include "model/metric.h"

#include <math.h>

enum {
	LOOP_PAIRS_MAX = 400,
	LOOP_LOOKS_FROM = 12,
	LOOP_MEASUREMENTS = 3, /* maximum number of measurements per build */
};

struct loop {
	size_t attempts;
	double spread;       /* standard deviation of a pair */
	double neighbours;   /* share of the pairs that are disturbed, ten times as noisy */
	const char *program; /* draw recorded pairs of this program; NULL: simulate pairs */
	double last;         /* change of the last attempt */
	struct fg_random random;
	size_t claims;
	/* results */
	bool has_false;   /* a neutral attempt was proven faster */
	bool has_claimed; /* a neutral attempt had an improvement as its verdict */
	bool has_proven;  /* the last attempt was proven faster */
	size_t pairs;
};

static inline double loop_draw(struct loop *loop, struct stretch *stretch, double change)
{
	const double noisy = fg_random_uniform(&loop->random) < loop->neighbours ? 10 : 1;

	if (loop->program)
		return change + stretch_next(stretch, &loop->random);
	return change + noisy * loop->spread * fg_random_normal(&loop->random);
}

/* Measures until the rule has decided; adds the evidence for "faster". */
static inline enum fg_outcome loop_measure(struct loop *loop, double change, double *evidence)
{
	const struct fg_metric *metric = fg_metric_find_builtin("cpu_time");
	const unsigned least = fg_claim_pairs(loop->claims);
	const struct fg_rule rule = {.alpha = 0.001,
				     .min_effect = metric->min_effect,
				     .margin = metric->margin,
				     .min_pairs = least > LOOP_LOOKS_FROM ? least : LOOP_LOOKS_FROM,
				     .max_pairs = LOOP_PAIRS_MAX,
				     .is_drawn = true};
	struct fg_rule_finding finding = {.next_look = rule.min_pairs};
	struct stretch stretch = {0};
	double pairs[LOOP_PAIRS_MAX];
	double faster[LOOP_PAIRS_MAX];
	size_t count = 0;

	if (loop->program)
		stretch_begin(&stretch, loop->program, &loop->random);
	while (!finding.decided && finding.next_look > count &&
	       finding.next_look <= LOOP_PAIRS_MAX) {
		while (count < finding.next_look) {
			pairs[count] = loop_draw(loop, &stretch, change);
			faster[count] = -pairs[count];
			count++;
		}
		fg_rule_apply(&rule, pairs, count, false, &finding);
	}
	fg_rule_apply(&rule, pairs, count, true, &finding);
	loop->pairs += count;
	*evidence += fg_evidence(faster, count);
	return finding.outcome;
}

static inline bool loop_attempt(struct loop *loop, double change)
{
	size_t number = loop->claims + 1;
	double evidence = 0;

	loop->claims += FG_CLAIM_COUNT;
	for (size_t i = 0; i < LOOP_MEASUREMENTS; i++) {
		const bool said = fg_claim_is_confirmed(FG_CLAIM_FASTER,
							loop_measure(loop, change, &evidence));

		loop->has_claimed = loop->has_claimed || (said && !(change < 0));
		if (said && evidence >= fg_claim_needed(number))
			return true;
	}
	return false;
}

static inline void loop_run(struct loop *loop, uint64_t seed)
{
	fg_random_seed(&loop->random, seed);
	loop->claims = loop->pairs = 0;
	loop->has_false = loop->has_claimed = loop->has_proven = false;
	for (size_t i = 0; i + 1 < loop->attempts; i++)
		loop->has_false = loop_attempt(loop, 0) || loop->has_false;
	loop->has_proven = loop_attempt(loop, loop->last);
	if (!(loop->last < 0))
		loop->has_false = loop->has_false || loop->has_proven;
}

#endif
