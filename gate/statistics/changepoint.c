// SPDX-License-Identifier: Apache-2.0
/*
 * 1. Cleaning. A value far off the median of the 7 values around it is replaced by that median (a
 *    Hampel filter). A single outlier disappears; a step stays, since its neighbours on one side
 *    support it.
 * 2. Noise. Steps touch few differences of neighbours, so the differences show the noise: with D_k
 *    the mean square of x[i+k] - x[i], an AR(1) process of variance v has D_1 = 2v(1 - r) and
 *    D_2 = 2v(1 - r^2), hence r = D_2/D_1 - 1. The largest squares belong to steps and are
 *    left out.
 * 3. Search. The statistic of a window is the largest CUSUM of a split that leaves min_segment
 *    values on either side, divided by the long-run standard deviation sqrt(v (1+r)/(1-r)). It is
 *    computed for windows of many lengths (seeded binary segmentation: Kovacs, Buehlmann, Li and
 *    Munk, Biometrika 110, 2023).
 * 4. Null. Steps 1 to 3 on simulated AR(1) series of the same length and autocorrelation give the
 *    distribution of the largest statistic when nothing changed. The estimate of r is uncertain,
 *    and too small an r would give false change points, so each simulated series draws its own r
 *    around the estimate.
 * 5. Choice. Among the windows above the critical value, the narrowest locates the change best.
 *    Windows that hold a change already found are set aside, until no window remains (narrowest
 *    over threshold: Baranowski, Chen and Fryzlewicz 2019).
 */
#include "gate/statistics/changepoint.h"

#include "base/base.h"
#include "base/random.h"
#include "base/sort.h"
#include "gate/statistics/sample.h"

#include <math.h>

#define ALPHA_DEFAULT       0.01
#define MEDIAN_ERROR        1.2533 /* error of a normal median / error of its mean */
#define MEDIAN_ERRORS       2.5    /* minimum change of the median, in standard errors */
#define SEGMENT_DEFAULT     5
#define SIMULATIONS_DEFAULT 999
#define NEIGHBOURS          3   /* values on either side that the cleaning uses */
#define HAMPEL_LIMIT        4.0 /* distance from the median, in robust standard deviations */
#define DROPPED_SHARE       0.05
#define CORRELATION_MAX     0.95
#define WINDOW_DECAY        0.70710678118654752440

struct window {
	size_t start;
	size_t end;
	size_t split;
	double statistic;
	bool used;
};

struct search {
	size_t count;
	size_t min_segment;
	double *clean;
	double *prefix;  /* prefix sums of `clean` less its first value; count + 1 entries */
	double *squares; /* work space for the noise */
	struct window *windows;
	size_t window_count;
	double correlation;
	double noise;
};

static double neighbour_median(const double *values, size_t count, size_t at)
{
	double near[2 * NEIGHBOURS + 1];
	size_t used = 0;
	size_t from = at > NEIGHBOURS ? at - NEIGHBOURS : 0;
	size_t to = fg_min_size(at + NEIGHBOURS, count - 1);

	for (size_t i = from; i <= to; i++)
		near[used++] = values[i];
	fg_sort(near, used);
	return fg_sorted_quantile(near, used, 0.5);
}

/*
 * Returns the scale that the cleaning compares with: the median absolute difference of neighbours.
 */
static double difference_scale(struct search *s, const double *values)
{
	for (size_t i = 0; i + 1 < s->count; i++)
		s->squares[i] = fabs(values[i + 1] - values[i]);
	fg_sort(s->squares, s->count - 1);
	return 1.4826 * fg_sorted_quantile(s->squares, s->count - 1, 0.5);
}

static void clean_outliers(struct search *s, const double *values)
{
	double limit = HAMPEL_LIMIT * difference_scale(s, values);

	for (size_t i = 0; i < s->count; i++) {
		double median = neighbour_median(values, s->count, i);

		s->clean[i] = fabs(values[i] - median) > limit ? median : values[i];
	}
}

/* Returns the mean square of the differences at `lag`, without the few largest differences. */
static double mean_square_difference(struct search *s, size_t lag)
{
	size_t total = s->count - lag;
	size_t kept = total - (size_t)ceil(DROPPED_SHARE * (double)total) - lag;

	for (size_t i = 0; i < total; i++) {
		double d = s->clean[i + lag] - s->clean[i];

		s->squares[i] = d * d;
	}
	fg_sort(s->squares, total);
	return fg_mean(s->squares, kept);
}

static void estimate_noise(struct search *s)
{
	double near = mean_square_difference(s, 1);
	double far = mean_square_difference(s, 2);
	double r = near > 0.0 ? far / near - 1.0 : 0.0;

	s->correlation = fmin(fmax(r, 0.0), CORRELATION_MAX);
	s->noise = sqrt(near / (2.0 * (1.0 - s->correlation)));
}

static void search_window(const struct search *s, struct window *w)
{
	w->statistic = 0.0;
	w->split = w->start;
	for (size_t k = w->start + s->min_segment; k + s->min_segment <= w->end; k++) {
		double left = (double)(k - w->start);
		double right = (double)(w->end - k);
		double gap = (s->prefix[w->end] - s->prefix[k]) / right -
			     (s->prefix[k] - s->prefix[w->start]) / left;
		double statistic = fabs(gap) * sqrt(left * right / (left + right));

		if (statistic > w->statistic) {
			w->statistic = statistic;
			w->split = k;
		}
	}
}

/*
 * In a series without noise (an exact metric) every change that survives the cleaning is certain.
 */
static double in_noise_units(double statistic, double scale)
{
	if (scale > 0.0)
		return statistic / scale;
	return statistic > 0.0 ? (double)INFINITY : 0.0;
}

/*
 * Cleans the values, estimates the noise and searches all windows; returns the largest statistic.
 */
static double run_search(struct search *s, const double *values)
{
	double largest = 0.0;
	double scale;

	clean_outliers(s, values);
	estimate_noise(s);
	for (size_t i = 0; i < s->count; i++)
		s->prefix[i + 1] = s->prefix[i] + (s->clean[i] - s->clean[0]);
	scale = s->noise * sqrt((1.0 + s->correlation) / (1.0 - s->correlation));
	for (size_t i = 0; i < s->window_count; i++) {
		search_window(s, &s->windows[i]);
		s->windows[i].statistic = in_noise_units(s->windows[i].statistic, scale);
		largest = fmax(largest, s->windows[i].statistic);
	}
	return largest;
}

/*
 * Lays out layers of overlapping windows, which get shorter by a constant factor from layer to
 * layer.
 */
static void lay_windows(struct search *s)
{
	double n = (double)s->count;
	double length = n;
	size_t capacity = 0;

	while (length >= 2.0 * (double)s->min_segment) {
		size_t steps = (size_t)ceil(2.0 * (n / length - 1.0) + 1e-9);

		for (size_t i = 0; i <= steps; i++) {
			double slack = n - length;
			double start = slack * (double)i / (double)steps;
			struct window w = {.start = (size_t)floor(start),
					   .end = (size_t)ceil(start + length - 1e-9)};

			w.end = fg_min_size(w.end, s->count);
			FG_APPEND(s->windows, s->window_count, capacity) = w;
		}
		length *= WINDOW_DECAY;
	}
}

static void search_init(struct search *s, size_t count, size_t min_segment)
{
	*s = (struct search){.count = count, .min_segment = min_segment};
	s->clean = fg_xcalloc(count, sizeof(s->clean[0]));
	s->squares = fg_xcalloc(count, sizeof(s->squares[0]));
	s->prefix = fg_xcalloc(count + 1, sizeof(s->prefix[0]));
	lay_windows(s);
}

static void search_release(struct search *s)
{
	free(s->clean);
	free(s->squares);
	free(s->prefix);
	free(s->windows);
}

static void simulate_ar1(struct fg_random *rng, double r, double *values, size_t count)
{
	double innovation = sqrt(1.0 - r * r);
	double x = fg_random_normal(rng);

	for (size_t i = 0; i < count; i++) {
		values[i] = x;
		x = r * x + innovation * fg_random_normal(rng);
	}
}

/*
 * The estimate has an error of about 1.5 (1 - r/2) / sqrt(n), and too small an r makes the
 * statistic too large. So the draws use the estimate plus one such error: short series yield fewer
 * changes, and fewer false ones.
 */
static double draw_correlation(struct fg_random *rng, double r, size_t count)
{
	double error = 1.5 * (1.0 - 0.5 * r) / sqrt((double)count);

	return fmin(fmax(r + error * (1.0 + fg_random_normal(rng)), 0.0), CORRELATION_MAX);
}

/* Simulates series without a change. Returns their largest statistics, ascending. */
static double *simulate_null(const struct search *s, size_t simulations, uint64_t seed)
{
	double *largest = fg_xcalloc(simulations, sizeof(largest[0]));
	double *values = fg_xcalloc(s->count, sizeof(values[0]));
	struct search null;
	struct fg_random rng;

	search_init(&null, s->count, s->min_segment);
	fg_random_seed(&rng, seed);
	for (size_t i = 0; i < simulations; i++) {
		simulate_ar1(&rng, draw_correlation(&rng, s->correlation, s->count), values,
			     s->count);
		largest[i] = run_search(&null, values);
	}
	fg_sort(largest, simulations);
	search_release(&null);
	free(values);
	return largest;
}

static double p_of(const double *null, size_t simulations, double statistic)
{
	size_t below = 0;

	while (below < simulations && null[below] < statistic)
		below++;
	return (double)(simulations - below + 1) / ((double)simulations + 1.0);
}

/*
 * Finds the narrowest window above the critical value without a known change; of equally narrow
 * windows, takes the window with the larger statistic.
 */
static struct window *narrowest(struct search *s, double critical)
{
	struct window *best = NULL;

	for (size_t i = 0; i < s->window_count; i++) {
		struct window *w = &s->windows[i];
		size_t length = w->end - w->start;

		if (w->used || !(w->statistic > critical))
			continue;
		if (!best || length < best->end - best->start ||
		    (length == best->end - best->start && w->statistic > best->statistic))
			best = w;
	}
	return best;
}

static void insert_point(struct fg_changepoints *points, struct fg_changepoint point)
{
	size_t at = points->count;

	points->items = fg_xreallocarray(points->items, points->count + 1, sizeof(point));
	while (at > 0 && points->items[at - 1].at > point.at) {
		points->items[at] = points->items[at - 1];
		at--;
	}
	points->items[at] = point;
	points->count++;
}

/*
 * Finds the best split between the changes on either side; returns `at` itself if no split stands
 * out.
 */
static size_t best_split(const struct search *s, const struct fg_changepoints *points, size_t at)
{
	struct window w = {.start = 0, .end = s->count};

	for (size_t i = 0; i < points->count; i++) {
		size_t other = points->items[i].at;

		if (other < at)
			w.start = other;
		else if (other > at && other < w.end)
			w.end = other;
	}
	search_window(s, &w);
	return w.statistic > 0.0 ? w.split : at;
}

static void choose_points(struct search *s, const double *null, size_t simulations, double alpha,
			  struct fg_changepoints *points)
{
	size_t allowed = (size_t)floor(alpha * ((double)simulations + 1.0) + 1e-9);
	double critical = allowed > 0 ? null[simulations - allowed] : (double)INFINITY;
	struct window *w;

	while ((w = narrowest(s, critical)) != NULL) {
		struct fg_changepoint point = {.p = p_of(null, simulations, w->statistic)};

		point.at = best_split(s, points, w->split);
		w->used = true;
		for (size_t i = 0; i < s->window_count; i++) {
			struct window *other = &s->windows[i];

			if (other->start < point.at && other->end > point.at)
				other->used = true;
		}
		insert_point(points, point);
	}
	/* Each change was placed before its neighbours were known; place it again. */
	for (size_t i = 0; i < points->count; i++)
		points->items[i].at = best_split(s, points, points->items[i].at);
}

static void fill_levels(const double *values, size_t count, struct fg_changepoints *points)
{
	for (size_t i = 0; i < points->count; i++) {
		struct fg_changepoint *point = &points->items[i];
		size_t from = i > 0 ? points->items[i - 1].at : 0;
		size_t to = i + 1 < points->count ? points->items[i + 1].at : count;

		point->before = fg_median(values + from, point->at - from);
		point->after = fg_median(values + point->at, to - point->at);
	}
}

/*
 * The search compares means, and two outliers at the end of a short segment can shift a mean. If
 * the level changed, so did the median; a point whose medians differ by less than MEDIAN_ERRORS
 * standard errors is dropped. A point whose medians are equal is also dropped: without noise, the
 * search mistakes the rounding of equal values for a change.
 */
static bool is_level_change(const struct fg_changepoints *points, size_t i, size_t count)
{
	const struct fg_changepoint *point = &points->items[i];
	size_t from = i > 0 ? points->items[i - 1].at : 0;
	size_t to = i + 1 < points->count ? points->items[i + 1].at : count;
	double share = 1.0 / (double)(point->at - from) + 1.0 / (double)(to - point->at);
	double step = fabs(point->after - point->before);

	return step > 0.0 && step >= MEDIAN_ERRORS * MEDIAN_ERROR * points->noise * sqrt(share);
}

static void drop_unconfirmed(const double *values, size_t count, struct fg_changepoints *points)
{
	for (size_t i = 0; i < points->count;) {
		if (is_level_change(points, i, count)) {
			i++;
			continue;
		}
		points->count--;
		memmove(&points->items[i], &points->items[i + 1],
			(points->count - i) * sizeof(points->items[0]));
		fill_levels(values, count, points);
		i = 0;
	}
}

int fg_changepoints_find(const double *values, size_t count,
			 const struct fg_changepoint_options *options,
			 struct fg_changepoints *result, struct fg_error *err)
{
	double alpha = options->alpha > 0.0 ? options->alpha : ALPHA_DEFAULT;
	size_t segment = options->min_segment > 0 ? options->min_segment : SEGMENT_DEFAULT;
	size_t simulations = options->simulations > 0 ? options->simulations : SIMULATIONS_DEFAULT;
	struct fg_changepoints found = {0};
	struct search s;

	if (count > FG_CHANGEPOINT_VALUES_MAX)
		return fg_error_set(
			err, FG_ELIMIT,
			"a series of %zu values is too long: at most %d can be searched", count,
			FG_CHANGEPOINT_VALUES_MAX);
	if (!fg_all_finite(values, count))
		return fg_error_set(err, FG_EINVAL, "a value of the series is not a finite number");
	if (segment >= 2 && count >= 2 * segment && count >= 8) {
		search_init(&s, count, segment);
		if (run_search(&s, values) > 0.0) {
			double *null = simulate_null(&s, simulations, options->seed);

			choose_points(&s, null, simulations, alpha, &found);
			fill_levels(values, count, &found);
			free(null);
		}
		found.autocorrelation = s.correlation;
		found.noise = s.noise;
		drop_unconfirmed(values, count, &found);
		search_release(&s);
	}
	*result = found;
	return FG_OK;
}

void fg_changepoints_release(struct fg_changepoints *points)
{
	free(points->items);
	*points = (struct fg_changepoints){0};
}
