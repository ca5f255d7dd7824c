// SPDX-License-Identifier: Apache-2.0
#include "gate/statistics/sequential.h"

#include "gate/statistics/distributions.h"

#include <math.h>

double fg_obrien_fleming(double alpha, double fraction)
{
	double z;

	if (!(alpha > 0.0 && alpha < 1.0) || !(fraction >= 0.0))
		return (double)NAN;
	if (fraction <= 0.0)
		return 0.0;
	if (fraction >= 1.0)
		return alpha;
	z = fg_normal_quantile(1.0 - 0.5 * alpha);
	return 2.0 * fg_normal_cdf(-z / sqrt(fraction));
}

void fg_spending_shares(const size_t *looks, size_t count, double alpha, double *shares)
{
	double spent = 0.0;

	for (size_t i = 0; i < count; i++) {
		double fraction = (double)looks[i] / (double)looks[count - 1];
		double upto = fg_obrien_fleming(0.5 * alpha, fraction);

		shares[i] = upto - spent + 0.5 * alpha / (double)count;
		spent = upto;
	}
}

void fg_eprocess_push(struct fg_eprocess *process, double outcome)
{
	if (!(fabs(outcome) > 0.0)) {
		process->ties++;
		return;
	}
	process->bets++;
	for (int i = 0; i < FG_EPROCESS_BETTORS; i++) {
		double stake = (i + 1) / (FG_EPROCESS_BETTORS + 1.0);

		process->log_wealth[i] += log1p(outcome > 0.0 ? stake : -stake);
	}
}

double fg_eprocess_log_wealth(const struct fg_eprocess *process)
{
	double top = process->log_wealth[0];
	double sum = 0.0;

	for (int i = 1; i < FG_EPROCESS_BETTORS; i++)
		top = fmax(top, process->log_wealth[i]);
	for (int i = 0; i < FG_EPROCESS_BETTORS; i++)
		sum += exp(process->log_wealth[i] - top);
	return top + log(sum / FG_EPROCESS_BETTORS);
}
