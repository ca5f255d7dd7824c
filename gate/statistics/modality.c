// SPDX-License-Identifier: Apache-2.0
/*
 * A unimodal distribution function is convex up to its mode and concave beyond.  The sample's own
 * function climbs from i to i + 1 (in counts) at its i-th value.  For a modal interval lo..hi the
 * nearest convex curve from below is the greatest convex minorant of the points (x_i, i), the
 * nearest concave one from above the least concave majorant of the points (x_i, i + 1).  The search
 * starts with the whole sample.  Where the two curves are furthest apart, the mode must lie: the
 * interval shrinks to the knots around that place, and what is left outside of it adds its own
 * distance to the account.  It ends when the gap inside is no larger than the account.
 */
#include "gate/statistics/modality.h"

#include "base/base.h"
#include "base/random.h"
#include "gate/statistics/sample.h"

#include <math.h>

#define SIMULATIONS_DEFAULT 1000
#define VALUES_MAX          1000
/*
 * This many samples of the null beyond the dip settle that it is not special (Besag and Clifford
 * 1991).
 */
#define ENOUGH 20

/* Work space for one dip over the sorted values x[0..n-1]. */
struct envelope {
	const double *x;
	size_t n;
	size_t first; /* of the interval that the mode lies in */
	size_t last;
	size_t *before; /* before[i]: the knot left of i on the minorant of x[0..i] */
	size_t *after;  /* after[i]: the knot right of i on the majorant of x[i..n-1] */
	double *low;    /* the minorant over the interval */
	double *high;   /* the majorant, one less than its height: both share the scale of i */
};

static bool bends_down(const double *x, size_t a, size_t b, size_t c)
{
	return (x[c] - x[b]) * (double)(b - a) >= (x[b] - x[a]) * (double)(c - b);
}

static bool bends_up(const double *x, size_t a, size_t b, size_t c)
{
	return (x[c] - x[b]) * (double)(b - a) <= (x[b] - x[a]) * (double)(c - b);
}

static void link_knots(struct envelope *e)
{
	size_t last = e->n - 1;

	for (size_t i = 1; i <= last; i++) {
		size_t knot = i - 1;

		while (knot > 0 && bends_down(e->x, e->before[knot], knot, i))
			knot = e->before[knot];
		e->before[i] = knot;
	}
	for (size_t i = last; i-- > 0;) {
		size_t knot = i + 1;

		while (knot < last && bends_up(e->x, i, knot, e->after[knot]))
			knot = e->after[knot];
		e->after[i] = knot;
	}
}

/* The straight line from (x_a, a) to (x_b, b), at every value between. */
static void draw_line(const double *x, size_t a, size_t b, double *line)
{
	double width = x[b] - x[a];

	for (size_t i = a; i <= b; i++) {
		double share = width > 0.0 ? (x[i] - x[a]) / width : 1.0;

		line[i] = (double)a + share * (double)(b - a);
	}
}

/* The next knots within the interval, whose ends are knots of both curves. */
static size_t knot_before(const struct envelope *e, size_t knot)
{
	return e->before[knot] > e->first ? e->before[knot] : e->first;
}

static size_t knot_after(const struct envelope *e, size_t knot)
{
	return fg_min_size(e->after[knot], e->last);
}

static void draw_envelopes(struct envelope *e)
{
	for (size_t knot = e->last; knot > e->first; knot = knot_before(e, knot))
		draw_line(e->x, knot_before(e, knot), knot, e->low);
	for (size_t knot = e->first; knot < e->last; knot = knot_after(e, knot))
		draw_line(e->x, knot, knot_after(e, knot), e->high);
}

static void look_at(const struct envelope *e, size_t knot, double *widest, size_t *at)
{
	const double gap = e->high[knot] + 1.0 - e->low[knot];

	if (gap > *widest) {
		*widest = gap;
		*at = knot;
	}
}

/*
 * At a knot inside the interval; at its ends the gap is 1.  Between parallel lines it is as wide at
 * values that are no knots: from those the interval would not shrink.
 */
static double widest_gap(const struct envelope *e, size_t *at)
{
	double widest = 1.0;

	for (size_t knot = knot_before(e, e->last); knot > e->first; knot = knot_before(e, knot))
		look_at(e, knot, &widest, at);
	for (size_t knot = knot_after(e, e->first); knot < e->last; knot = knot_after(e, knot))
		look_at(e, knot, &widest, at);
	return widest;
}

/* How far the sample strays from the curves that are now settled: below `first`, above `last`. */
static double settled_distance(const struct envelope *e, size_t first, size_t last)
{
	double most = 1.0;

	for (size_t i = e->first; i <= first; i++)
		most = fmax(most, (double)i + 1.0 - e->low[i]);
	for (size_t i = last; i <= e->last; i++)
		most = fmax(most, e->high[i] + 1.0 - (double)i);
	return most;
}

static double dip_of_sorted(struct envelope *e)
{
	size_t at = 0;
	double dip = 1.0;

	if (!(e->x[e->n - 1] > e->x[0]))
		return dip / (2.0 * (double)e->n);
	link_knots(e);
	e->first = 0;
	e->last = e->n - 1;
	draw_envelopes(e);
	while (widest_gap(e, &at) > dip) {
		size_t first = e->last;
		size_t last = e->first;

		while (first > at)
			first = knot_before(e, first);
		while (last < at)
			last = knot_after(e, last);
		dip = fmax(dip, settled_distance(e, first, last));
		e->first = first;
		e->last = last;
		draw_envelopes(e);
	}
	return dip / (2.0 * (double)e->n);
}

static void envelope_init(struct envelope *e, const double *sorted, size_t count)
{
	e->x = sorted;
	e->n = count;
	e->before = fg_xcalloc(count, sizeof(e->before[0]));
	e->after = fg_xcalloc(count, sizeof(e->after[0]));
	e->low = fg_xcalloc(count, sizeof(e->low[0]));
	e->high = fg_xcalloc(count, sizeof(e->high[0]));
}

static void envelope_release(struct envelope *e)
{
	free(e->before);
	free(e->after);
	free(e->low);
	free(e->high);
}

double fg_dip(const double *values, size_t count)
{
	struct envelope e;
	double *sorted;
	double dip;

	if (count == 0)
		return (double)NAN;
	sorted = fg_sorted_copy(values, count);
	envelope_init(&e, sorted, count);
	dip = dip_of_sorted(&e);
	envelope_release(&e);
	free(sorted);
	return dip;
}

/* Order statistics of the uniform distribution without sorting: sums of exponential gaps. */
static void draw_uniform_order(struct fg_random *rng, double *values, size_t count)
{
	double sum = 0.0;

	for (size_t i = 0; i < count; i++) {
		sum -= log1p(-fg_random_uniform(rng));
		values[i] = sum;
	}
}

/* The cut between order statistics that leaves the least squares inside both heaps. */
static void split_heaps(const double *sorted, size_t count, struct fg_modality *result)
{
	double total = fg_mean(sorted, count) * (double)count;
	double best = -1.0;
	double below = 0.0;

	for (size_t i = 1; i < count; i++) {
		double n1 = (double)i;
		double n2 = (double)(count - i);
		double between;

		below += sorted[i - 1];
		between = below / n1 - (total - below) / n2;
		between = between * between * n1 * n2;
		if (between > best) {
			best = between;
			result->cut = 0.5 * (sorted[i - 1] + sorted[i]);
			result->low_center = fg_sorted_quantile(sorted, i, 0.5);
			result->high_center = fg_sorted_quantile(sorted + i, count - i, 0.5);
			result->high_share = n2 / (double)count;
		}
	}
}

/* At most VALUES_MAX order statistics, evenly spaced: the shape stays, the cost does not grow. */
static size_t thin_out(double *sorted, size_t count)
{
	size_t kept = fg_min_size(count, VALUES_MAX);

	for (size_t i = 0; i < kept && kept < count; i++)
		sorted[i] = sorted[i * (count - 1) / (kept - 1)];
	return kept;
}

struct fg_modality fg_modality_test(const double *values, size_t count, size_t simulations,
				    uint64_t seed)
{
	struct fg_modality result = {.dip = (double)NAN, .p = 1.0};
	size_t rounds = simulations > 0 ? simulations : SIMULATIONS_DEFAULT;
	double *sorted = fg_sorted_copy(values, count);
	struct envelope e;
	struct fg_random rng;
	double *null;
	size_t reached = 0;
	size_t drawn = 0;

	if (!sorted)
		return result;
	count = thin_out(sorted, count);
	null = fg_xcalloc(count, sizeof(null[0]));
	envelope_init(&e, sorted, count);
	result.dip = dip_of_sorted(&e);
	split_heaps(sorted, count, &result);
	fg_random_seed(&rng, seed);
	e.x = null;
	while (drawn < rounds && reached < ENOUGH) {
		draw_uniform_order(&rng, null, count);
		reached += dip_of_sorted(&e) >= result.dip;
		drawn++;
	}
	result.p = reached == ENOUGH ? (double)ENOUGH / (double)drawn
				     : ((double)reached + 1.0) / ((double)rounds + 1.0);
	envelope_release(&e);
	free(null);
	free(sorted);
	return result;
}
