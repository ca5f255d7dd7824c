// SPDX-License-Identifier: Apache-2.0
/*
 * Measuring until the answer is sure, however long that takes and however often one looks.
 *
 * Two bettors bet on the sign of each difference: one against "no slower than tolerated", one
 * against "slower than margin".  A bettor whose wealth has grown by a factor of 1/alpha is believed
 * (gate/statistics/sequential.h).  A second run appends its pairs to those of the first, and the
 * bettors go on with the wealth they have.
 *
 * This holds while the sign of a difference is a fair coin, given all earlier ones.  Where pairs
 * depend on each other it is not: one slow pair makes another likely, and at autocorrelation 0.6
 * every eighth run of identical programs would fail within 80 pairs at alpha 1 %.  Therefore the
 * bet is on what is new in a pair: the sign of d[t] - r d[t-1].  In an AR(1) series with that r the
 * new part depends on nothing before it, so the coin is fair again; with too large an r, wins and
 * losses alternate, which is safe.  Only (1 - r) of a slowdown shows in it, so it is seen later.
 *
 * r is not known.  There is a pair of bettors for each of 0, 0.1 ... 0.9, all betting from the
 * first pair on.  The one that counts has an r at or above the largest that the data leave room for
 * (fg_finding_highest_correlation()): 0.9 after ten pairs, 0 after some dozens without dependence.
 *
 * Example: 30 pairs around +3 % with a scatter of 1 % and no dependence.  r = -0.02 was found; with
 * 3 / 30 for what a short series hides it stays below 0.2, which counts as independent: bettor 0
 * decides.  It lost 2 of 30 bets and owns more than 100 times its stake: FAIL.
 */
#include "gate/until_sure.h"

#include "gate/statistics/sequential.h"

#include <math.h>

#define NEGLIGIBLE     0.4  /* r surely below this counts as independent */
#define STEP           0.1  /* of r between two bettors */
#define RECHECK_GROWTH 1.05 /* r is estimated again when the pairs have grown by this factor */

enum {
	BETTORS = 10
};

struct bettors {
	struct fg_eprocess at[BETTORS];
};

static void push(struct bettors *bettors, double now, double before)
{
	for (int i = 0; i < BETTORS; i++)
		fg_eprocess_push(&bettors->at[i], now - STEP * i * before);
}

static bool is_believed(const struct bettors *bettors, int bettor, double enough)
{
	return fg_eprocess_log_wealth(&bettors->at[bettor]) >= enough;
}

/* The bettor that is safe for an autocorrelation of up to r. */
static int bettor_for(double r)
{
	int bettor = (int)ceil(r / STEP);

	if (r <= NEGLIGIBLE)
		return 0;
	return bettor < BETTORS ? bettor : BETTORS - 1;
}

static void judge(const struct fg_rule *rule, bool is_worse, bool is_fine,
		  struct fg_rule_finding *finding)
{
	is_worse = is_worse && finding->estimate >= log1p(rule->min_effect);
	/*
	 * Signs alone know nothing of the size: no pass while the interval reaches over the margin.
	 */
	is_fine = is_fine && finding->high < log1p(rule->margin);
	finding->decided = is_worse || is_fine;
	if (is_worse)
		finding->outcome = FG_OUTCOME_REGRESSION;
	else if (is_fine)
		finding->outcome = fg_finding_is_improvement(rule, finding) ? FG_OUTCOME_IMPROVEMENT
									    : FG_OUTCOME_PASS;
}

void fg_until_sure_apply(const struct fg_rule *rule, const double *difference, size_t count,
			 struct fg_rule_finding *finding)
{
	const double tolerated = log1p(rule->tolerated);
	const double margin = log1p(rule->margin);
	const double enough = -log(rule->alpha);
	struct bettors worse = {0};
	struct bettors fine = {0};
	size_t recheck = FG_PAIRS_MIN;
	int bettor = BETTORS - 1;

	for (size_t i = 0; i < count && !finding->decided; i++) {
		double before = difference[i > 0 ? i - 1 : 0];
		bool is_worse;
		bool is_fine;

		push(&worse, difference[i] - tolerated, i > 0 ? before - tolerated : 0.0);
		push(&fine, margin - difference[i], i > 0 ? margin - before : 0.0);
		finding->looks = i + 1;
		if (i + 1 < FG_PAIRS_MIN)
			continue;
		if (i + 1 >= recheck) {
			bettor = bettor_for(fg_finding_highest_correlation(difference, i + 1));
			recheck = (size_t)ceil((double)(i + 1) * RECHECK_GROWTH);
		}
		is_worse = is_believed(&worse, bettor, enough);
		is_fine = is_believed(&fine, bettor, enough);
		if (!is_worse && !is_fine)
			continue;
		fg_finding_estimate(difference, i + 1, rule->alpha, finding);
		judge(rule, is_worse, is_fine, finding);
	}
	if (!finding->decided)
		fg_finding_estimate(difference, count, rule->alpha, finding);
	finding->next_look = finding->decided ? 0 : count + 1;
}
