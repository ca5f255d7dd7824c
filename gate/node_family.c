// SPDX-License-Identifier: Apache-2.0
/*
 * In a single pair, a node's difference is small compared to its noise. But there are many pairs,
 * and each node has its own noise: a slowdown of 10 % in a function with a tenth of the time is 1 %
 * of the whole, which is less than the whole's noise, but visible in the function's samples.
 *
 * Every entity (function, library, region, call path) has one difference per pair, which is 0 if
 * the entity did not occur. The sign-flip permutation test of gate/statistics/signflip.h judges all
 * entities of a family together, except those with too few samples (times: FG_SAMPLES_TO_TEST) in
 * both arms together: this filter is independent of the difference's sign, so it does not bias the
 * null. Half of alpha is shared evenly, half by size: a function with a tenth of the time gets a
 * twentieth of alpha and its even share, not one of several hundred equal parts. Sizes are sums
 * over both arms, so they do not bias the null either, and small functions lose little. A change
 * below the floor, a share of the program's time, is not reported, regardless of its p.
 */
#include "gate/node_family.h"

#include "gate/statistics/distributions.h"
#include "gate/statistics/signflip.h"

#include <math.h>

#define PATTERNS 600

uint64_t fg_node_samples_min(const struct fg_node_context *c)
{
	return fg_measure_is_time(c->id) ? FG_SAMPLES_TO_TEST : FG_PAIRS_TO_TEST;
}

void fg_node_family_release(struct fg_node_family *family)
{
	free(family->tested);
	free(family->p_up);
	free(family->p_down);
	*family = (struct fg_node_family){0};
}

/* Packs the rows of the tested entities for the permutation test. */
static void pack_rows(const struct fg_node_family *family, size_t *start, uint32_t *columns,
		      float *values)
{
	const struct fg_pair_matrix *m = family->matrix;
	size_t row = 0;
	size_t used = 0;

	for (size_t i = 0; i < m->count; i++) {
		size_t length = m->start[i + 1] - m->start[i];

		if (!family->tested[i])
			continue;
		memcpy(columns + used, m->columns + m->start[i], length * sizeof(columns[0]));
		memcpy(values + used, m->values + m->start[i], length * sizeof(values[0]));
		used += length;
		start[++row] = used;
	}
}

/* Sets the handicaps: an entity with more than an even share of alpha needs a smaller statistic. */
static void set_handicaps(const struct fg_node_family *family, double alpha, float *handicap)
{
	const struct fg_pair_matrix *m = family->matrix;
	double even = 1.0 / (double)family->tested_count;
	double sum = 0.0;
	size_t row = 0;

	for (size_t i = 0; i < m->count; i++) {
		if (family->tested[i])
			sum += m->entities[i].baseline + m->entities[i].candidate;
	}
	for (size_t i = 0; i < m->count; i++) {
		double size = m->entities[i].baseline + m->entities[i].candidate;
		double share = 0.5 * even + 0.5 * (sum > 0.0 ? size / sum : even);

		if (family->tested[i])
			handicap[row++] = (float)(fg_normal_quantile(alpha * even) -
						  fg_normal_quantile(alpha * share));
	}
}

static void run_permutations(struct fg_node_family *family, double alpha, uint64_t seed)
{
	const struct fg_pair_matrix *m = family->matrix;
	size_t cells = m->start[m->count];
	size_t *start = fg_xcalloc(family->tested_count + 1, sizeof(start[0]));
	uint32_t *columns = fg_xcalloc(cells + 1, sizeof(columns[0]));
	float *values = fg_xcalloc(cells + 1, sizeof(values[0]));
	float *handicap = fg_xcalloc(family->tested_count + 1, sizeof(handicap[0]));
	double *p = fg_xcalloc(2 * family->tested_count + 1, sizeof(p[0]));
	struct fg_sparse_rows rows = {.row_count = family->tested_count,
				      .column_count = m->pair_count,
				      .start = start,
				      .columns = columns,
				      .values = values,
				      .handicap = handicap};
	size_t row = 0;

	pack_rows(family, start, columns, values);
	set_handicaps(family, alpha, handicap);
	fg_signflip_max_t(&rows, PATTERNS, seed, p, p + family->tested_count);
	for (size_t i = 0; i < m->count; i++) {
		if (!family->tested[i])
			continue;
		family->p_up[i] = p[row];
		family->p_down[i] = p[family->tested_count + row];
		row++;
	}
	free(start);
	free(columns);
	free(values);
	free(handicap);
	free(p);
}

/*
 * Repetitions agree, so nothing is estimated: any difference that reaches the floor counts, unless
 * this entity differs between repetitions of one side.
 */
static void judge_exactly(const struct fg_node_context *c, struct fg_node_family *family)
{
	for (size_t i = 0; i < family->matrix->count; i++) {
		const struct fg_entity *entity = &family->matrix->entities[i];
		const bool steady = !(entity->error > c->floor);

		family->tested[i] = entity->baseline + entity->candidate > 0.0;
		family->tested_count += family->tested[i];
		family->p_up[i] = steady && entity->delta >= c->floor ? 0.0 : 1.0;
		family->p_down[i] = steady && entity->delta <= -c->floor ? 0.0 : 1.0;
	}
}

double fg_node_family_half(const struct fg_node_family *family, size_t at)
{
	const double error = family->matrix->entities[at].error;

	/* A single repetition per side has no standard error. */
	return family->quantile > 0.0 || isnan(family->quantile) ? family->quantile * error : 0.0;
}

void fg_node_family_test(const struct fg_node_context *c, struct fg_node_family *family,
			 const struct fg_pair_matrix *matrix, uint64_t samples_min, uint64_t seed)
{
	*family = (struct fg_node_family){.matrix = matrix};
	family->quantile =
		-fg_t_quantile(0.5 * c->policy->function_alpha, (double)matrix->pair_count - 1.0);
	family->tested = fg_xcalloc(matrix->count + 1, sizeof(family->tested[0]));
	family->p_up = fg_xcalloc(matrix->count + 1, sizeof(family->p_up[0]));
	family->p_down = fg_xcalloc(matrix->count + 1, sizeof(family->p_down[0]));
	if (c->exact) {
		family->quantile = 0.0;
		judge_exactly(c, family);
		return;
	}
	for (size_t i = 0; i < matrix->count; i++) {
		family->p_up[i] = family->p_down[i] = 1.0;
		family->tested[i] = matrix->entities[i].samples >= samples_min &&
				    matrix->pair_count >= FG_PAIRS_TO_TEST &&
				    matrix->pair_count <= FG_SIGNFLIP_COLUMNS_MAX;
		family->tested_count += family->tested[i];
	}
	if (family->tested_count > 0)
		run_permutations(family, c->policy->function_alpha, seed);
}

/*
 * An uncertain change is not a pass: as for the benchmark itself, a pass needs an interval within
 * the margin.
 */
enum fg_outcome fg_node_outcome(const struct fg_node_context *c,
				const struct fg_node_family *family, size_t at)
{
	const struct fg_entity *entity = &family->matrix->entities[at];
	const double half = fg_node_family_half(family, at);

	if (family->p_up[at] <= c->policy->function_alpha && entity->delta >= c->floor)
		return FG_OUTCOME_REGRESSION;
	if (family->p_down[at] <= c->policy->function_alpha && entity->delta <= -c->floor)
		return FG_OUTCOME_IMPROVEMENT;
	return fabs(entity->delta) + half < c->margin ? FG_OUTCOME_PASS : FG_OUTCOME_INCONCLUSIVE;
}

static enum fg_standing standing_of(enum fg_outcome outcome)
{
	return outcome == FG_OUTCOME_REGRESSION    ? FG_STANDING_GUILTY
	       : outcome == FG_OUTCOME_IMPROVEMENT ? FG_STANDING_FASTER
	       : outcome == FG_OUTCOME_PASS        ? FG_STANDING_UNCHANGED
						   : FG_STANDING_NOT_SURE;
}

struct fg_node_verdict fg_node_family_verdict(const struct fg_node_context *c,
					      const struct fg_node_family *family, size_t at)
{
	const struct fg_entity *entity = &family->matrix->entities[at];
	double half = fg_node_family_half(family, at);
	double p = entity->delta > 0.0 ? family->p_up[at] : family->p_down[at];
	enum fg_outcome outcome = fg_node_outcome(c, family, at);

	return (struct fg_node_verdict){
		.measure = c->measure,
		.unit = c->unit,
		.outcome = outcome,
		.standing = standing_of(outcome),
		.self = {entity->baseline, entity->candidate},
		.delta = entity->delta,
		.low = entity->delta - half,
		.high = entity->delta + half,
		.share_of_change = (double)NAN,
		.p_adjusted = family->tested[at] && !c->exact ? p : (double)NAN,
		.samples = entity->samples,
	};
}

int fg_node_compare(const void *left, const void *right)
{
	const struct fg_node_verdict *a = left;
	const struct fg_node_verdict *b = right;
	double by_size = fabs(b->delta) - fabs(a->delta);

	if (fabs(by_size) > 0.0)
		return by_size > 0.0 ? 1 : -1;
	return strcmp(a->name, b->name);
}
