// SPDX-License-Identifier: Apache-2.0
/*
 * Least squares with one equation: among all parts x that add up to the whole T, take the parts
 * with the smallest sum of ((x - measured) / error)^2. The solution is x = measured + k error^2,
 * for the only k that makes the parts add up.
 *
 * A row keeps its direction. A remainder that is not significant has no direction: it gets the
 * direction of the whole, or becomes 0. So the scatter of samples is not reported as a gain.
 *
 * Example: the whole grew by 12.0 ms, find() by 17.2 ± 3 ms of samples, the remainder by −5.2 ± 6
 * ms. The remainder is not significant and becomes 0; find() is 12.0.
 */
#include "gate/parts.h"

#include <math.h>

#define STEPS     200  /* number of bisections; more than the bits of a double */
#define TOLERANCE 1e-9 /* rounding error, as a share of the whole */
#define PRINTED   5e-3 /* share of the whole that a report rounds away */

struct part {
	double delta;
	double half;
	double direction; /* the only allowed sign; 0: any */
};

struct fg_whole fg_parts_whole(const struct fg_benchmark_verdict *verdict, const char *metric,
			       double scale)
{
	const struct fg_metric_verdict *found = fg_verdict_metric(verdict, metric);

	return found ? (struct fg_whole){.delta = (found->candidate - found->baseline) * scale,
					 .changed = found->low > 1.0 || found->high < 1.0}
		     : (struct fg_whole){.delta = (double)NAN};
}

static double moved_by(const struct part *part, double k)
{
	const double fitted = part->delta + k * part->half * part->half;

	return part->direction * fitted < 0.0 ? 0.0 : fitted;
}

static double sum_at(const struct part *parts, size_t count, double k)
{
	double sum = 0.0;

	for (size_t i = 0; i < count; i++)
		sum += moved_by(&parts[i], k);
	return sum;
}

/* Finds k by bisection: the sum increases with k. */
static double solve(const struct part *parts, size_t count, double total)
{
	double low = -1.0;
	double high = 1.0;

	for (int i = 0; i < STEPS && sum_at(parts, count, low) > total; i++)
		low *= 2.0;
	for (int i = 0; i < STEPS && sum_at(parts, count, high) < total; i++)
		high *= 2.0;
	for (int i = 0; i < STEPS; i++) {
		const double middle = low + (high - low) / 2.0;

		if (sum_at(parts, count, middle) < total)
			low = middle;
		else
			high = middle;
	}
	return low + (high - low) / 2.0;
}

static void shift(struct fg_node_verdict *node, double delta)
{
	const double by = delta - node->delta;
	const double scale = delta / node->delta;

	node->low += by;
	node->high += by;
	node->delta = delta;
	node->self[1] = fmax(0.0, node->self[1] + by);
	node->inclusive[1] = fmax(0.0, node->inclusive[1] + by);
	for (size_t i = 0; i < node->path_count; i++) {
		node->paths[i].delta *= scale;
		node->paths[i].low *= scale;
		node->paths[i].high *= scale;
	}
}

static bool is_part(const struct fg_node_verdict *node)
{
	return node->standing != FG_STANDING_MOVED;
}

static double sign_of(double value)
{
	return value < 0.0 ? -1.0 : 1.0;
}

static bool is_rounding(double delta, const struct fg_blame *blame)
{
	return fabs(delta) <= TOLERANCE * fabs(blame->total_delta);
}

/* Drops rows that the fit reduced to zero. */
static void drop_empty(struct fg_blame *blame)
{
	size_t kept = 0;

	for (size_t i = 0; i < blame->function_count; i++) {
		if (!is_part(&blame->functions[i]) ||
		    !is_rounding(blame->functions[i].delta, blame))
			blame->functions[kept++] = blame->functions[i];
	}
	blame->function_count = kept;
}

static void fit(struct fg_blame *blame, struct fg_rest rest)
{
	struct part *parts = fg_xcalloc(blame->function_count + 1, sizeof(parts[0]));
	const double forward = sign_of(blame->total_delta);
	double squares = rest.half * rest.half;
	size_t count = 0;
	double k = 0.0;

	parts[count++] =
		(struct part){rest.delta, rest.half, fabs(rest.delta) > rest.half ? 0.0 : forward};
	for (size_t i = 0; i < blame->function_count; i++) {
		const struct fg_node_verdict *node = &blame->functions[i];

		if (!is_part(node))
			continue;
		parts[count++] = (struct part){node->delta, 0.5 * (node->high - node->low),
					       sign_of(node->delta)};
		squares += parts[count - 1].half * parts[count - 1].half;
	}
	/* Counts without an error add up as they are. */
	if (squares > 0.0 && isfinite(squares) &&
	    !is_rounding(sum_at(parts, count, 0.0) - blame->total_delta, blame)) {
		k = solve(parts, count, blame->total_delta);
		for (size_t i = blame->function_count; i-- > 0;) {
			if (is_part(&blame->functions[i]))
				shift(&blame->functions[i], moved_by(&parts[--count], k));
		}
		drop_empty(blame);
	}
	free(parts);
}

/* Is a part larger than the whole? A share above 100 % would mislead. */
static bool exceeds_whole(const struct fg_blame *blame)
{
	const double most = (1.0 + PRINTED) * fabs(blame->total_delta);

	if (fabs(blame->everything_else) > most)
		return true;
	for (size_t i = 0; i < blame->function_count; i++) {
		if (fg_standing_is_sure(blame->functions[i].standing) &&
		    fabs(blame->functions[i].delta) > most)
			return true;
	}
	return false;
}

void fg_parts_fit(struct fg_blame *blame, struct fg_rest rest, bool total_changed)
{
	double sure = 0.0;
	double named = 0.0;

	if (total_changed && isfinite(blame->total_delta))
		fit(blame, rest);
	for (size_t i = 0; i < blame->function_count; i++) {
		const struct fg_node_verdict *node = &blame->functions[i];

		named += node->delta;
		sure += fg_standing_is_sure(node->standing) ? node->delta : 0.0;
	}
	blame->unattributed = blame->total_delta - named;
	blame->everything_else = blame->total_delta - sure;
	if (is_rounding(blame->everything_else, blame))
		blame->everything_else = 0.0;
	if (!total_changed || exceeds_whole(blame))
		return;
	for (size_t i = 0; i < blame->function_count; i++) {
		struct fg_node_verdict *node = &blame->functions[i];

		if (fg_standing_is_sure(node->standing))
			node->share_of_change =
				fmax(-1.0, fmin(1.0, node->delta / blame->total_delta));
	}
}
