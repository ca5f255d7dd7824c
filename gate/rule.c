// SPDX-License-Identifier: Apache-2.0
/*
 * When a build fails.
 *
 * The data are the differences d of pairs, ln(candidate / baseline), positive for worse.  A pair is measured side by side
 * or in mirrored order, so drift of the host is in both its halves and cancels; the pairs are then as good as
 * independent, which repetitions of one binary after the other are not.
 *
 * At each look the 20 % trimmed mean m of all d so far is computed, with its winsorised standard error s and t quantile q of
 * the share of alpha that this look may spend (stats/sequential.h).  With it:
 *
 *   FAIL   m - q s > ln(1 + tolerated)  and  m >= ln(1 + min_effect)  and  the sign test agrees at 5 times the share
 *   PASS   m + q s < ln(1 + margin)
 *   else the next look; after the last one: inconclusive.
 *
 * The shares sum to alpha, so both errors, FAIL for a candidate that is no slower than tolerated and PASS for one that is
 * slower than margin, stay below alpha whatever the number of looks.  The sign test is a veto against a mean that a few
 * strange pairs carry.  A PASS whose whole interval lies below zero, by min_effect or more, is an improvement.
 *
 * Where the differences are autocorrelated after all, beyond what chance explains, the standard error is multiplied by
 * sqrt((1 + r) / (1 - r)), that of an AR(1) series.
 *
 * When the measurement ends between two looks (the budget is used up), the next look is taken early: its share belongs
 * to it whenever it falls.
 *
 * Example: ten pairs around +2.4 % with s = 0.3 % at the first of six looks, alpha 1 %: the share is 0.083 %, q = 6.1 for 5
 * degrees of freedom (trimming leaves 6 of 10), the interval +0.6 ... +4.2 %; ten positive signs of ten have p = 0.1 %,
 * below 5 x 0.083 %: FAIL with tolerated = 0 and min_effect = 2 %.
 *
 * With `until_sure` a bettor on signs replaces the looks: evidence that is valid at any time, so that a re-run goes on where
 * the last one stopped.
 */
#include "gate/rule.h"

#include "gate/gate.h"
#include "stats/distributions.h"
#include "stats/location.h"
#include "stats/rank_tests.h"
#include "stats/sample.h"
#include "stats/sequential.h"

#include <math.h>

#define TRIM              0.2
#define SIGN_VETO_FACTOR  5.0
#define LOOK_GROWTH       1.5
#define POWER_QUANTILE    0.8416212335729143 /* normal quantile of 80 % */
#define CORRELATION_FLOOR 0.2
#define CORRELATION_TOP   0.9

size_t fg_gate_looks(unsigned min_pairs, unsigned max_pairs, size_t looks[FG_GATE_LOOKS_MAX])
{
	size_t last = max_pairs > FG__PAIRS_MIN ? max_pairs : FG__PAIRS_MIN;
	size_t at = min_pairs > FG__PAIRS_MIN ? min_pairs : FG__PAIRS_MIN;
	size_t count = 0;

	while (at < last && count + 1 < FG_GATE_LOOKS_MAX) {
		looks[count++] = at;
		at = (size_t)ceil((double)at * LOOK_GROWTH);
		/* 10, 15, 23 ... would leave odd numbers; blocks of two pairs swap the order of start. */
		at += at % 2;
	}
	/* A last step that is hardly one is joined with the look before. */
	if (count > 1 && (double)last < 1.15 * (double)looks[count - 1])
		count--;
	looks[count++] = last;
	return count;
}

static double widening(const double *difference, size_t count, struct fg__finding *finding)
{
	double n = (double)count;
	double found = fg_autocorrelation(difference, count, 1);
	/* In short series it comes out too small by (1 + 3 r) / n (Kendall 1954). */
	double r = found + (1.0 + 3.0 * found) / n;
	double chance = 2.0 / sqrt(n);

	finding->autocorrelation = r;
	finding->widened = r > fmax(CORRELATION_FLOOR, chance);
	if (!finding->widened)
		return 1.0;
	r = fmin(r, CORRELATION_TOP);
	return sqrt((1.0 + r) / (1.0 - r));
}

/* Estimate, interval and sign test of the first `count` pairs at error `share` a side. */
static void estimate(const struct fg__rule *rule, const double *difference, size_t count,
		     double share, struct fg__finding *finding)
{
	struct fg_trimmed trimmed = fg_trimmed_mean(difference, count, TRIM);
	double error = trimmed.standard_error * widening(difference, count, finding);
	double q = -fg_t_quantile(share, trimmed.degrees_of_freedom);

	finding->pairs = count;
	finding->estimate = trimmed.mean;
	finding->low = trimmed.mean - q * error;
	finding->high = trimmed.mean + q * error;
	finding->smallest_detectable = (q + POWER_QUANTILE) * error;
	finding->p = fg_sign_test(difference, count, log1p(rule->tolerated)).p_greater;
}

static bool is_improvement(const struct fg__rule *rule, const struct fg__finding *finding)
{
	return finding->high < 0.0 && finding->estimate <= -log1p(rule->min_effect);
}

static void judge(const struct fg__rule *rule, double share, struct fg__finding *finding)
{
	bool is_worse = finding->low > log1p(rule->tolerated) &&
			finding->estimate >= log1p(rule->min_effect);

	if (is_worse && finding->p <= SIGN_VETO_FACTOR * share) {
		finding->outcome = FG_OUTCOME_REGRESSION;
		finding->decided = true;
	} else if (finding->high < log1p(rule->margin)) {
		finding->outcome =
			is_improvement(rule, finding) ? FG_OUTCOME_IMPROVEMENT : FG_OUTCOME_PASS;
		finding->decided = true;
	}
}

static void apply_looks(const struct fg__rule *rule, const double *difference, size_t count,
			bool final, struct fg__finding *finding)
{
	double shares[FG_GATE_LOOKS_MAX];

	fg_spending_shares(rule->looks, rule->look_count, rule->alpha, shares);
	for (size_t i = 0; i < rule->look_count && !finding->decided; i++) {
		size_t pairs = rule->looks[i];
		bool early = pairs > count;

		if (early && !(final && count > (i > 0 ? rule->looks[i - 1] : 0))) {
			finding->next_look = final ? 0 : pairs;
			return;
		}
		estimate(rule, difference, early ? count : pairs, shares[i], finding);
		finding->looks = i + 1;
		judge(rule, shares[i], finding);
		if (early)
			return;
	}
}

/* Wealth of the bettors against "slower than tolerated" and "not slower than margin", pair by pair. */
static void apply_bets(const struct fg__rule *rule, const double *difference, size_t count,
		       struct fg__finding *finding)
{
	double enough = -log(rule->alpha);
	struct fg_eprocess worse;
	struct fg_eprocess fine;

	fg_eprocess_init(&worse);
	fg_eprocess_init(&fine);
	for (size_t i = 0; i < count && !finding->decided; i++) {
		bool is_worse;

		fg_eprocess_push(&worse, difference[i] - log1p(rule->tolerated));
		fg_eprocess_push(&fine, log1p(rule->margin) - difference[i]);
		if (i + 1 < FG__PAIRS_MIN)
			continue;
		estimate(rule, difference, i + 1, rule->alpha, finding);
		is_worse = fg_eprocess_log_wealth(&worse) >= enough &&
			   finding->estimate >= log1p(rule->min_effect);
		finding->decided = is_worse || fg_eprocess_log_wealth(&fine) >= enough;
		if (is_worse)
			finding->outcome = FG_OUTCOME_REGRESSION;
		else if (finding->decided)
			finding->outcome = is_improvement(rule, finding) ? FG_OUTCOME_IMPROVEMENT
									 : FG_OUTCOME_PASS;
		finding->looks = i + 1;
	}
	finding->next_look = finding->decided ? 0 : count + 1;
}

void fg__rule_apply(const struct fg__rule *rule, const double *difference, size_t count, bool final,
		    struct fg__finding *finding)
{
	*finding = (struct fg__finding){.outcome = FG_OUTCOME_INCONCLUSIVE,
					.pairs = count,
					.estimate = (double)NAN,
					.low = (double)NAN,
					.high = (double)NAN,
					.p = (double)NAN,
					.smallest_detectable = (double)NAN,
					.autocorrelation = (double)NAN};
	if (count < FG__PAIRS_MIN) {
		finding->next_look = final || rule->look_count == 0 ? 0 : rule->looks[0];
		return;
	}
	if (rule->until_sure)
		apply_bets(rule, difference, count, finding);
	else
		apply_looks(rule, difference, count, final, finding);
	/* Before the first look there is an estimate to show, though nothing to decide. */
	if (isnan(finding->estimate))
		estimate(rule, difference, count, rule->alpha, finding);
}
