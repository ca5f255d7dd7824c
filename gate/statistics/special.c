// SPDX-License-Identifier: Apache-2.0
/*
 * The incomplete beta function by its continued fraction (Abramowitz and Stegun 26.5.8), evaluated
 * with Lentz's method. The fraction converges fast below x = (a+1)/(a+b+2); beyond that the
 * symmetry I_x(a,b) = 1 - I_{1-x}(b,a) is used. The inverse keeps a bracket around the root and
 * takes Newton steps while they stay inside it, so it cannot diverge.
 */
#include "gate/statistics/special.h"

#include <math.h>

#define FRACTION_STEPS 5000
#define INVERSE_STEPS  200
#define TINY           1e-300
#define CONVERGED      1e-16

/*
 * Computes the logarithm of the gamma function for x > 0; unlike lgamma() it does not write the
 * global `signgam`.
 */
static double log_gamma_of(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

static double away_from_zero(double x)
{
	return fabs(x) < TINY ? TINY : x;
}

static double beta_fraction(double a, double b, double x)
{
	double c = 1.0;
	double d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
	double h = d;

	for (int m = 1; m <= FRACTION_STEPS; m++) {
		double even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
		double change;

		d = 1.0 / away_from_zero(1.0 + even * d);
		c = away_from_zero(1.0 + even / c);
		h *= d * c;
		d = 1.0 / away_from_zero(1.0 + odd * d);
		c = away_from_zero(1.0 + odd / c);
		change = d * c;
		h *= change;
		if (fabs(change - 1.0) < CONVERGED)
			break;
	}
	return h;
}

/*
 * Computes the logarithm of x^a (1-x)^b / B(a,b); 1-x is passed in so that no digits are lost near
 * x = 1.
 */
static double log_front(double a, double b, double x, double rest)
{
	return log_gamma_of(a + b) - log_gamma_of(a) - log_gamma_of(b) + a * log(x) + b * log(rest);
}

double fg_incomplete_beta(double a, double b, double x)
{
	if (x <= 0.0)
		return 0.0;
	if (x >= 1.0)
		return 1.0;
	if (x < (a + 1.0) / (a + b + 2.0))
		return exp(log_front(a, b, x, 1.0 - x)) * beta_fraction(a, b, x) / a;
	return 1.0 - exp(log_front(b, a, 1.0 - x, x)) * beta_fraction(b, a, 1.0 - x) / b;
}

double fg_incomplete_beta_inverse(double a, double b, double p)
{
	double low = 0.0;
	double high = 1.0;
	double x = a / (a + b);

	if (p <= 0.0)
		return 0.0;
	if (p >= 1.0)
		return 1.0;
	for (int i = 0; i < INVERSE_STEPS; i++) {
		double miss = fg_incomplete_beta(a, b, x) - p;
		double slope = exp(log_front(a, b, x, 1.0 - x)) / (x * (1.0 - x));
		double next = x - miss / slope;

		if (miss > 0.0)
			high = x;
		else
			low = x;
		if (!(next > low && next < high))
			next = 0.5 * (low + high);
		if (fabs(next - x) <= 1e-16 * next)
			return next;
		x = next;
	}
	return x;
}
