// SPDX-License-Identifier: Apache-2.0
/*
 * When a build fails.
 *
 * The data are the differences d of pairs, ln(candidate / baseline), positive for worse.  A pair is
 * measured side by side or in mirrored order, so drift of the host is in both its halves and
 * cancels; the pairs are then as good as independent, which repetitions of one binary after the
 * other are not.
 *
 * At each look the 20 % trimmed mean m of all d so far is computed, with its winsorised standard
 * error s and t quantile q of the share of alpha that this look may spend
 * (gate/statistics/sequential.h). With it:
 *
 *   FAIL   m - q s > ln(1 + tolerated)  and  m >= ln(1 + min_effect)  and  the signed-rank test
 *          agrees at 5 times the share
 *   PASS   m + q s < ln(1 + margin)
 *   else the next look; after the last one: inconclusive.
 *
 * The shares sum to alpha, so both errors, FAIL for a candidate that is no slower than tolerated
 * and PASS for one that is slower than margin, stay below alpha whatever the number of looks.  The
 * signed-rank test is a veto against a mean that a few strange pairs carry; it is exact where
 * exchanging the arms changes nothing.  A sign test in its place says the same of peaked
 * differences, but blocks a third of the true slowdowns of programs whose differences have no peak:
 * memory-bound ones, whose time depends on the pages they got.  A PASS whose whole interval lies
 * below zero, by min_effect or more, is an improvement.
 *
 * Memory of the past.  Pairs should not depend on those before them.  Where they do, n pairs are
 * worth as little as n (1 - r) / (1 + r) independent ones, for an AR(1) series with lag-1
 * autocorrelation r: the standard error grows accordingly and the degrees of freedom shrink.  r is
 * read from the winsorised differences, plus the (1 + 3 r) / n that a short series hides (Kendall
 * 1954).  It is used twice: the interval is widened where r is evident, beyond 0.2 and beyond its
 * error of 1 / sqrt(n). That is not enough for a FAIL, which would be at its likeliest where r
 * happens to look small.  So the lower bound must hold for the largest r that the data leave room
 * for, too: r raised by DOUBT_PAIRS / n and by DOUBT_ERRORS errors, unless it is still small then.
 * This defers a FAIL by a look or two, and leaves a PASS alone.  Neither widens the interval by
 * more than MEMORY_MOST: slow changes of a host move the difference of a pair by some percent,
 * never further, so that a program which became twice as slow is known after ten pairs.
 *
 * When the measurement ends between two looks (the budget is used up), the next look is taken
 * early: its share belongs to it whenever it falls.
 *
 * Example: ten pairs around +2.4 % with s = 0.3 % at the first of six looks, alpha 1 %: the share
 * is 0.083 %, q = 6.1 for 5 degrees of freedom (trimming leaves 6 of 10), the interval +0.6 ...
 * +4.2 %; ten positive differences of ten have p = 0.1 %, below 5 x 0.083 %: FAIL with tolerated =
 * 0 and min_effect = 1 %.  With r above -0.1, though, ten pairs leave too much room for
 * autocorrelation, and the next look decides.
 *
 * When `auto` gives up a schedule in mid-run, its pairs are set aside and the looks begin anew with
 * the first pair of the next.  What the looks at the old pairs were allowed to spend is spent; the
 * new ones share the rest of alpha, so the sum stays below alpha.
 *
 * A build that was measured in several layouts (runner/build/layouts.h) is slower in some and
 * faster in others by more than pairs differ otherwise.  The layouts cover every position within a
 * cache line and are not a sample: their effect on the mean is known, so only the scatter within
 * each counts.  Those within the page are a sample, and pairs that share one do not tell more of it
 * the more of them there are: the lower bound must also hold for the means of the layouts.
 *
 * With `until_sure` a bettor on signs replaces the looks: until_sure.c.
 */
#include "gate/rule.h"

#include "gate/layout_scatter.h"
#include "gate/looks.h"
#include "gate/statistics/distributions.h"
#include "gate/statistics/signed_rank.h"
#include "gate/until_sure.h"
#include "model/run.h"

#include <math.h>

#define RANK_VETO_FACTOR 5.0
#define PLACES_ERROR     0.0075 /* once for all looks, which see the same places */

static double rank_test(const struct fg_rule *rule, const double *difference, size_t count)
{
	return fg_signed_rank_test(difference, count, log1p(rule->tolerated)).p_greater;
}

/* `difference` has finding->pairs pairs. */
static void judge(const struct fg_rule *rule, const double *difference, double share,
		  struct fg_rule_finding *finding)
{
	bool looks_worse = finding->low > log1p(rule->tolerated) &&
			   finding->estimate >= log1p(rule->min_effect);

	finding->placed = finding->places_low <= log1p(rule->tolerated);
	if (looks_worse && !finding->placed && finding->doubtful_low > log1p(rule->tolerated) &&
	    rank_test(rule, difference, finding->pairs) <= RANK_VETO_FACTOR * share) {
		finding->outcome = FG_OUTCOME_REGRESSION;
		finding->decided = true;
	} else if (finding->high < log1p(rule->margin)) {
		finding->outcome = fg_finding_is_improvement(rule, finding) ? FG_OUTCOME_IMPROVEMENT
									    : FG_OUTCOME_PASS;
		finding->decided = true;
	}
	finding->vetoed = looks_worse && !finding->decided;
}

/* What looks at pairs of a schedule that was given up have left of alpha. */
static double alpha_left(const struct fg_rule *rule)
{
	double shares[FG_GATE_LOOKS_MAX];
	double left = rule->alpha;

	fg_gate_shares(rule->looks, rule->look_count, rule->alpha, shares);
	for (size_t i = 0; i < rule->look_count && rule->looks[i] <= rule->given_up; i++)
		left -= shares[i];
	return left;
}

/* At a look, pairs of each layout are compared with others of that layout. */
static void look(const struct fg_rule *rule, const double *difference, size_t pairs, double share,
		 struct fg_rule_finding *finding)
{
	double *level = NULL;

	if (rule->layout) {
		level = fg_xcalloc(pairs + 1, sizeof(level[0]));
		fg_layout_scatter_remove(difference, rule->layout, pairs, level);
		difference = level;
	}
	fg_finding_estimate(difference, pairs, share, finding);
	finding->places_low = finding->low;
	if (rule->layout && rule->layouts > FG_LINE_PLACES)
		finding->places_low =
			finding->estimate +
			fg_t_quantile(PLACES_ERROR, (double)(rule->layouts - FG_LINE_PLACES)) *
				fg_layout_places_error(difference, rule->layout, pairs,
						       rule->layouts);
	judge(rule, difference, share, finding);
	free(level);
}

static void apply_looks(const struct fg_rule *rule, const double *difference, size_t count,
			bool final, struct fg_rule_finding *finding)
{
	double shares[FG_GATE_LOOKS_MAX];

	fg_gate_shares(rule->looks, rule->look_count, alpha_left(rule), shares);
	for (size_t i = 0; i < rule->look_count && !finding->decided; i++) {
		size_t pairs = rule->looks[i];
		bool early = pairs > count;

		if (early && !(final && count > (i > 0 ? rule->looks[i - 1] : 0))) {
			finding->next_look = final ? 0 : pairs;
			return;
		}
		finding->looks = i + 1;
		look(rule, difference, early ? count : pairs, shares[i], finding);
		if (early)
			return;
	}
}

void fg_rule_apply(const struct fg_rule *rule, const double *difference, size_t count, bool final,
		   struct fg_rule_finding *finding)
{
	*finding = (struct fg_rule_finding){.outcome = FG_OUTCOME_INCONCLUSIVE,
					    .pairs = count,
					    .estimate = (double)NAN,
					    .low = (double)NAN,
					    .high = (double)NAN,
					    .p = (double)NAN,
					    .smallest_detectable = (double)NAN,
					    .autocorrelation = (double)NAN};
	if (count < FG_PAIRS_MIN) {
		finding->next_look = final || rule->look_count == 0 ? 0 : rule->looks[0];
		return;
	}
	if (rule->until_sure)
		fg_until_sure_apply(rule, difference, count, finding);
	else
		apply_looks(rule, difference, count, final, finding);
	/* Before the first look there is an estimate to show, though nothing to decide. */
	if (isnan(finding->estimate))
		fg_finding_estimate(difference, count, rule->alpha, finding);
	finding->p = rank_test(rule, difference, finding->pairs);
}
