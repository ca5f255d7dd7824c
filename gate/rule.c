// SPDX-License-Identifier: Apache-2.0
/*
 * The rule that decides when a build fails.
 *
 * The data are the differences d of pairs, ln(candidate / baseline), positive for worse. At each
 * look (gate/looks.h) they give one interval, which is printed. The rule depends on nothing else:
 *
 *   REGRESSION  low > ln(1 + tolerated)  and  estimate >= ln(1 + min_effect)
 *   PASS        high < ln(1 + margin)
 *   else the next look; after the last one: inconclusive.
 *
 * A PASS whose whole interval lies below zero, with an estimate of -min_effect or less, is an
 * improvement.
 *
 * The interval is valid by design. A coin flip decides for each pair which side starts first
 * (runner/schedule/schedule.c), so for equal sides the sign of d is that coin flip, whatever the
 * host did: drift, two modes, busy neighbours, pairs that resemble earlier pairs. The signed-rank
 * test, which computes how often random signs would look like this, is therefore exact. The
 * interval is the set of all changes that it does not reject, so 12 pairs that are all slower by
 * enough are a regression, and a mean that depends on a few outliers is not. The shares of the
 * looks sum to alpha: the probability of failing a candidate whose slowdown is tolerated stays
 * below alpha, and so does the probability of passing a candidate that is slower than the margin.
 *
 * Pairs can share two things, and the interval accounts for both:
 *
 * Places. A build that was measured in several layouts (runner/build/layouts.h) is slower in some
 * layouts and faster in others. All places within a cache line, 16 bytes apart, are measured: pairs
 * are compared within each place, and the effect of these places adds nothing to the interval.
 * Places within the page are a sample, and more pairs at one place give no information about other
 * places: the interval is at least as wide as the interval of the layouts' means.
 *
 * State that outlives a pair (a server that `setup` started): a pair may resemble the pairs before
 * it more than chance allows. n pairs of an AR(1) series with lag-1 autocorrelation r are worth n
 * (1 - r) / (1 + r) independent pairs, and the interval is widened for the largest r that is
 * compatible with the pairs.
 *
 * A measurement that ends (at max_pairs, or because the budget is used up) has one last look, which
 * may spend all remaining alpha. Swapping the sides changes neither the size of a pair's difference
 * nor the duration of the pair, so the end does not depend on the coins. With `until_sure` and
 * after an interrupt, more sessions may follow, so the result of the last planned look stands.
 *
 * Example: alpha is 0.1 %. The first look may spend a quarter of it, and 2^-12 = 0.024 % is less:
 * it comes after 12 pairs, and its interval reaches from the smallest to the largest of them. If
 * the measurement ends after 10 pairs, all of alpha is left, and 2^-10 = 0.098 % is less.
 *
 * When `auto` gives up a schedule in mid-run, its pairs are set aside and counting starts over. The
 * alpha that its looks have spent stays spent.
 */
#include "gate/rule.h"

#include "gate/layout_scatter.h"
#include "gate/statistics/distributions.h"
#include "gate/statistics/location.h"
#include "gate/statistics/sample.h"
#include "gate/statistics/signed_rank.h"
#include "model/run.h"

#include <limits.h>
#include <math.h>

#define TRIM              0.2
#define CORRELATION_LIMIT 0.95

static const double one_sigma = 0.1587; /* probability beyond one standard deviation, on one side */

/* Limits of the search in fg_rule_pairs_needed(). */
enum {
	MAX_TIMES = 4,
	MAX_PAIRS = 1000,
};

/*
 * Returns the largest lag-1 autocorrelation that is compatible with the pairs: two standard errors
 * above the estimate.
 */
static double highest_correlation(const double *difference, size_t count)
{
	const double n = (double)count;
	double *drawn_in = fg_xcalloc(count + 1, sizeof(drawn_in[0]));
	double r;

	fg_winsorise(difference, count, TRIM, drawn_in);
	r = fg_autocorrelation(drawn_in, count, 1);
	free(drawn_in);
	if (isnan(r))
		return 0.0;
	/* The estimate from a short series is too small by (1 + 3 r) / n (Kendall 1954). */
	r += (1.0 + 3.0 * r) / n + 2.0 * sqrt(fmax(0.0, 1.0 - r * r) / n);
	return fmin(fmax(r, 0.0), CORRELATION_LIMIT);
}

/*
 * Returns the differences as if all places in a cache line were equally fast. The caller frees
 * them.
 */
static double *level_of(const struct fg_rule *rule, const double *difference, size_t count)
{
	double *level = fg_xcalloc(count + 1, sizeof(level[0]));

	if (rule->layout)
		fg_layout_scatter_remove(difference, rule->layout, count, level);
	else
		memcpy(level, difference, count * sizeof(level[0]));
	return level;
}

static double places_degrees(const struct fg_rule *rule)
{
	return (double)(rule->layouts - FG_LINE_PLACES);
}

/*
 * Returns the error that the places in the page cause; 0 if there is one layout, or if the layouts
 * do not sample these places.
 */
static double places_error(const struct fg_rule *rule, const double *level, size_t count)
{
	return rule->layout && rule->layouts > FG_LINE_PLACES
		       ? fg_layout_places_error(level, rule->layout, count, rule->layouts)
		       : 0.0;
}

/*
 * Computes the step that a run contributes to a chain of many runs. A run that ends because the
 * candidate looks fast overstates, on average, how fast it is, and a chain would add up these
 * errors. So the step is based on the pairs of the first look, whose number is fixed in advance.
 * Its standard error is half of a 68 % interval, with all allowances that the printed interval
 * makes.
 */
static void take_step(const struct fg_rule *rule, const double *difference, size_t count,
		      struct fg_rule_finding *finding)
{
	size_t looks[FG_GATE_LOOKS_MAX];
	struct fg_rank_interval middle;
	double *level = NULL;

	(void)fg_gate_looks(rule->alpha, rule->min_pairs, UINT_MAX, looks);
	count = looks[0] < count ? looks[0] : count;
	level = level_of(rule, difference, count);
	middle = fg_signed_rank_interval(level, count, one_sigma);
	finding->step = middle.estimate;
	finding->step_error = fmax(finding->wider * (middle.high - middle.low) / 2,
				   places_error(rule, level, count));
	free(level);
}

static double places_width(const struct fg_rule *rule, const double *level, size_t count)
{
	const double error = places_error(rule, level, count);

	return error > 0.0 ? -fg_t_quantile(rule->alpha, places_degrees(rule)) * error : 0.0;
}

/* Returns the factor that widens the interval for dependence between pairs. */
static double wider_by(const struct fg_rule *rule, const double *level, size_t count)
{
	const double r = rule->is_drawn ? 0.0 : highest_correlation(level, count);

	return sqrt((1.0 + r) / (1.0 - r));
}

/* Computes the interval of the first `count` pairs, with an error of `share` per side. */
static void estimate(const struct fg_rule *rule, const double *difference, size_t count,
		     double share, struct fg_rule_finding *finding)
{
	double *level = level_of(rule, difference, count);
	const struct fg_rank_interval found = fg_signed_rank_interval(level, count, share);
	const double places = places_width(rule, level, count);

	finding->pairs = count;
	finding->estimate = found.estimate;
	finding->wider = wider_by(rule, level, count);
	finding->is_by_places = places > finding->wider * (found.estimate - found.low);
	finding->low = found.estimate - fmax(finding->wider * (found.estimate - found.low), places);
	finding->high =
		found.estimate + fmax(finding->wider * (found.high - found.estimate), places);
	free(level);
	if (isnan(found.low))
		finding->low = finding->high = (double)NAN;
}

enum fg_outcome fg_rule_outcome(const struct fg_rule *rule, double estimate, double low,
				double high)
{
	if (low > log1p(rule->tolerated) && estimate >= log1p(rule->min_effect))
		return FG_OUTCOME_REGRESSION;
	if (!(high < log1p(rule->margin)))
		return FG_OUTCOME_INCONCLUSIVE;
	return high < 0.0 && estimate <= -log1p(rule->min_effect) ? FG_OUTCOME_IMPROVEMENT
								  : FG_OUTCOME_PASS;
}

double fg_rule_smallest_seen(const struct fg_rule *rule, const struct fg_rule_finding *finding)
{
	if (isnan(finding->low))
		return (double)INFINITY;
	return fmax(log1p(rule->tolerated) + finding->estimate - finding->low,
		    log1p(rule->min_effect));
}

/*
 * An end of the interval at error `share` lies beyond `center` exactly if both parts of its width
 * are smaller than the distance, so the error is the larger of two tail probabilities, or the
 * smaller if `center` is above the estimate.
 */
double fg_rule_probability(const struct fg_rule *rule, const double *difference, size_t count,
			   double center)
{
	double *level = level_of(rule, difference, count);
	const double estimate = fg_signed_rank_interval(level, count, 0.0).estimate;
	const double distance = estimate - center;
	const double places = places_error(rule, level, count);
	double p = fg_signed_rank_error(level, count,
					estimate - distance / wider_by(rule, level, count));

	free(level);
	if (places > 0.0) {
		const double of_places = fg_t_cdf(-distance / places, places_degrees(rule));

		p = distance > 0.0 ? fmax(p, of_places) : fmin(p, of_places);
	}
	return 1.0 - p;
}

/* Returns the number of looks already spent on pairs of a schedule that was given up. */
static size_t count_paid(const struct fg_rule *rule)
{
	size_t looks[FG_GATE_LOOKS_MAX];
	const size_t count = fg_gate_looks(rule->alpha, rule->min_pairs, UINT_MAX, looks);
	size_t paid = 0;

	while (paid < count && looks[paid] <= rule->given_up)
		paid++;
	return paid;
}

static void apply_looks(const struct fg_rule *rule, const double *difference, size_t count,
			bool final, struct fg_rule_finding *finding)
{
	size_t looks[FG_GATE_LOOKS_MAX];
	const size_t look_count = fg_gate_looks(
		rule->alpha, rule->min_pairs, rule->until_sure ? UINT_MAX : rule->max_pairs, looks);
	const size_t paid = count_paid(rule);

	for (size_t i = 0; i < look_count && !finding->decided; i++) {
		const bool is_early = looks[i] > count;
		const bool is_last = is_early || i + 1 == look_count;

		if (is_early && (!final || rule->until_sure || count == 0)) {
			finding->next_look = looks[i];
			return;
		}
		finding->looks = i + 1;
		estimate(rule, difference, is_early ? count : looks[i],
			 is_last ? fg_gate_share_left(rule->alpha, paid + i)
				 : fg_gate_share(rule->alpha, paid + i),
			 finding);
		finding->outcome =
			fg_rule_outcome(rule, finding->estimate, finding->low, finding->high);
		finding->decided = finding->outcome != FG_OUTCOME_INCONCLUSIVE;
		if (is_last)
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
					    .step = (double)NAN,
					    .step_error = (double)NAN,
					    .wider = 1.0};
	apply_looks(rule, difference, count, final, finding);
	/* Before the first look an estimate can be shown, but nothing can be decided. */
	if (isnan(finding->estimate))
		finding->estimate = fg_signed_rank_interval(difference, count, 0.0).estimate;
	if (final && finding->pairs >= FG_PAIRS_MIN)
		take_step(rule, difference, finding->pairs, finding);
}

/* Repeats the pairs so far and applies the rule until it decides. */
size_t fg_rule_pairs_needed(const struct fg_rule *rule, const double *difference, size_t count)
{
	const size_t most = fg_min_size(MAX_TIMES * count, MAX_PAIRS);
	double *longer = fg_xcalloc(most + 1, sizeof(longer[0]));
	uint8_t *layout = fg_xcalloc(most + 1, sizeof(layout[0]));
	struct fg_rule planned = *rule;
	struct fg_rule_finding finding;

	for (size_t i = 0; i < most; i++) {
		longer[i] = difference[i % count];
		if (rule->layout)
			layout[i] = rule->layout[i % count];
	}
	planned.layout = rule->layout ? layout : NULL;
	planned.max_pairs = UINT_MAX;
	fg_rule_apply(&planned, longer, most, false, &finding);
	free(layout);
	free(longer);
	return finding.outcome == FG_OUTCOME_REGRESSION && finding.pairs > count ? finding.pairs
										 : 0;
}

size_t fg_rule_count_slower(const struct fg_rule *rule, const double *difference, size_t count)
{
	size_t slower = 0;

	for (size_t i = 0; i < count; i++)
		slower += difference[i] > log1p(rule->tolerated);
	return slower;
}
