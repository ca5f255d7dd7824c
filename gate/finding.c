// SPDX-License-Identifier: Apache-2.0
#include "gate/finding.h"

#include "gate/statistics/distributions.h"
#include "gate/statistics/location.h"
#include "gate/statistics/sample.h"

#include <math.h>

#define TRIM              0.2
#define POWER_QUANTILE    0.8416212335729143 /* normal quantile of 80 % */
#define CORRELATION_FLOOR 0.2
#define CORRELATION_TOP   0.95
#define DOUBT_PAIRS       3.0
#define DOUBT_ERRORS      2.0
#define LEAST_DEGREES     2.0  /* of freedom, so that a huge slowdown needs no further look */
#define MEMORY_MOST       0.18 /* ln(1.2) */

/* Lag-1 autocorrelation, outliers drawn in; 0 where it has no meaning. */
static double autocorrelation(const double *difference, size_t count)
{
	double *drawn_in = fg_xcalloc(count + 1, sizeof(drawn_in[0]));
	double found;

	fg_winsorise(difference, count, TRIM, drawn_in);
	found = fg_autocorrelation(drawn_in, count, 1);
	free(drawn_in);
	return isnan(found) ? 0.0 : found + (1.0 + 3.0 * found) / (double)count;
}

/* How many pairs are worth one independent pair; 1 for r = 0. */
static double worth_of(double r)
{
	r = fmin(r, CORRELATION_TOP);
	return (1.0 + r) / (1.0 - r);
}

static double evident_worth(double r, double n)
{
	return r > fmax(CORRELATION_FLOOR, 1.0 / sqrt(n)) ? worth_of(r) : 1.0;
}

/*
 * The largest autocorrelation that n pairs which show r leave room for; 0 where it would be small.
 */
static double doubtful(double r, double n)
{
	r += DOUBT_PAIRS / n;
	if (r <= CORRELATION_FLOOR)
		return 0.0;
	return fmin(CORRELATION_TOP, r + DOUBT_ERRORS * sqrt(fmax(0.0, 1.0 - r * r) / n));
}

double fg_finding_highest_correlation(const double *difference, size_t count)
{
	double n = (double)count;
	double r = autocorrelation(difference, count) + DOUBT_PAIRS / n;

	return fmin(CORRELATION_TOP, r + DOUBT_ERRORS * sqrt(fmax(0.0, 1.0 - r * r) / n));
}

/* Half the width of the interval at error `share` a side, when `worth` pairs are worth one. */
static double half_width(const struct fg_trimmed *trimmed, double worth, double least_degrees,
			 double share)
{
	double degrees = fmax(least_degrees, (double)trimmed->kept / worth - 1.0);

	return -fg_t_quantile(share, degrees) * trimmed->standard_error * sqrt(worth);
}

void fg_finding_estimate(const double *difference, size_t count, double share,
			 struct fg_rule_finding *finding)
{
	struct fg_trimmed trimmed = fg_trimmed_mean(difference, count, TRIM);
	double n = (double)count;
	double r = autocorrelation(difference, count);
	double worth = evident_worth(r, n);
	double independent = half_width(&trimmed, 1.0, LEAST_DEGREES, share);
	double half =
		fmin(half_width(&trimmed, worth, LEAST_DEGREES, share), independent + MEMORY_MOST);
	double worst = fmin(half_width(&trimmed, worth_of(doubtful(r, n)), LEAST_DEGREES, share),
			    independent + MEMORY_MOST);

	finding->pairs = count;
	finding->autocorrelation = r;
	finding->dependent = r > fmax(CORRELATION_FLOOR, 2.0 / sqrt(n));
	finding->estimate = trimmed.mean;
	finding->low = trimmed.mean - half;
	finding->high = trimmed.mean + half;
	finding->doubtful_low = trimmed.mean - fmax(half, worst);
	finding->smallest_detectable = half + POWER_QUANTILE * trimmed.standard_error * sqrt(worth);
}

bool fg_finding_is_improvement(const struct fg_rule *rule, const struct fg_rule_finding *finding)
{
	return finding->high < 0.0 && finding->estimate <= -log1p(rule->min_effect);
}
