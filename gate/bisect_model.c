// SPDX-License-Identifier: Apache-2.0
#include "gate/bisect_model.h"

#include "base/base.h"
#include "gate/statistics/location.h"
#include "gate/statistics/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	NOISE_ROUNDS = 20,
};

/* Expected number of jumps in the range, before anything is measured. */
static const double expected_jumps = 0.1;

/* Degrees of freedom of a pair's noise: few, so that an outlier counts little. */
static const double freedom = 8;

/*
 * Code placement moves a build's level by `placement`, or by `drift_share` of the whole change if
 * that is larger: smaller differences do not distinguish commits.
 */
static const double placement = 0.0005;
static const double drift_share = 0.05;

static const double trimmed_share = 0.1;

static const double likely = 0.5;

/* ---- places ---- */

static void add_place(struct fg_bisect_model *model, size_t first, size_t own)
{
	model->places[model->count++] =
		(struct fg_bisect_place){.first = first, .own = own, .visited = own};
}

static void join(struct fg_bisect_place *place, const struct fg_bisect_commit *commit, size_t index)
{
	if (commit->is_built && !place->is_built) {
		place->is_built = true;
		place->visited = index;
	}
	place->pair_count += commit->pair_count;
}

static double sum_weights(const struct fg_bisect *bisect, const struct fg_bisect_place *place)
{
	double sum = 0;

	for (size_t i = place->first; i <= place->own; i++)
		sum += bisect->commits[i].weight;
	return sum;
}

static void make_places(const struct fg_bisect *bisect, struct fg_bisect_model *model)
{
	size_t first = 0;
	double all = 0;

	model->places = fg_xcalloc(bisect->count + 1, sizeof(model->places[0]));
	add_place(model, 0, 0);
	for (size_t i = 0; i < bisect->count; i++) {
		const struct fg_bisect_commit *commit = &bisect->commits[i];
		const bool is_last = i + 1 == bisect->count;

		if (commit->is_unmeasured && !is_last)
			continue;
		if (!commit->is_same || (is_last && model->count == 1))
			add_place(model, first, i);
		join(&model->places[model->count - 1], commit, i);
		first = i + 1;
	}
	for (size_t p = 1; p < model->count; p++)
		all += sum_weights(bisect, &model->places[p]);
	for (size_t p = 1; p < model->count; p++)
		model->places[p].jump =
			1 - exp(-expected_jumps * sum_weights(bisect, &model->places[p]) / all);
}

/* ---- noise ---- */

struct residuals {
	double squares; /* weighted sum of squares */
	double freedom;
};

/*
 * Adds a commit's part to one step of the EM algorithm for a t distribution around each commit's
 * centre.
 */
static void add_residuals(const struct fg_bisect_commit *commit, double scale,
			  struct residuals *sum)
{
	double center = commit->pair_count ? fg_median(commit->differences, commit->pair_count) : 0;
	double weights = 0;
	double weighted = 0;

	if (commit->pair_count < 2)
		return;
	for (size_t i = 0; i < commit->pair_count; i++) {
		const double r = (commit->differences[i] - center) / scale;
		const double weight = (freedom + 1) / (freedom + r * r);

		weights += weight;
		weighted += weight * commit->differences[i];
	}
	center = weighted / weights;
	for (size_t i = 0; i < commit->pair_count; i++) {
		const double r = commit->differences[i] - center;

		sum->squares += r * r * (freedom + 1) / (freedom + r * r / (scale * scale));
	}
	sum->freedom += (double)commit->pair_count - 1;
}

static double find_scale(const struct fg_bisect *bisect, double whole)
{
	const double least = whole / 50;
	double scale = whole;

	for (unsigned round = 0; round < NOISE_ROUNDS; round++) {
		struct residuals sum = {0};

		for (size_t i = 0; i < bisect->count; i++)
			add_residuals(&bisect->commits[i], scale, &sum);
		if (sum.freedom < 1)
			return bisect->is_exact ? least : whole;
		scale = fmax(least, sqrt(sum.squares / sum.freedom));
	}
	return scale;
}

/* ---- likelihoods ---- */

static double level_of(const struct fg_bisect_model *model, size_t cell)
{
	return ((double)cell - FG_BISECT_ZERO) * model->cell;
}

/* Smooths a likelihood, because the level of one build scatters around the level of its code. */
static void smooth(const struct fg_bisect_model *model, double like[FG_BISECT_LEVELS])
{
	double out[FG_BISECT_LEVELS] = {0};

	for (size_t k = 0; k < FG_BISECT_LEVELS; k++) {
		double sum = 0;

		for (size_t j = 0; j < FG_BISECT_LEVELS; j++) {
			const double z = ((double)k - (double)j) * model->cell / model->drift;
			const double weight = exp(-z * z / 2);

			out[k] += weight * like[j];
			sum += weight;
		}
		out[k] /= sum;
	}
	memcpy(like, out, sizeof(out));
}

static void add_pairs(const struct fg_bisect_commit *commit, const struct fg_bisect_model *model,
		      double scale, double logs[FG_BISECT_LEVELS])
{
	for (size_t i = 0; i < commit->pair_count; i++) {
		for (size_t k = 0; k < FG_BISECT_LEVELS; k++) {
			const double r = (commit->differences[i] - level_of(model, k)) / scale;

			logs[k] -= (freedom + 1) / 2 * log1p(r * r / freedom);
		}
	}
}

static void make_likelihood(const struct fg_bisect *bisect, struct fg_bisect_model *model, size_t p,
			    double scale)
{
	const size_t end = p + 1 < model->count ? model->places[p + 1].first : bisect->count;
	struct fg_bisect_place *place = &model->places[p];
	double logs[FG_BISECT_LEVELS] = {0};
	double most = -HUGE_VAL;

	for (size_t i = place->own; i < end; i++)
		add_pairs(&bisect->commits[i], model, scale, logs);
	for (size_t k = 0; k < FG_BISECT_LEVELS; k++)
		most = fmax(most, logs[k]);
	for (size_t k = 0; k < FG_BISECT_LEVELS; k++)
		place->likelihood[k] = exp(logs[k] - most);
	if (place->pair_count > 0)
		smooth(model, place->likelihood);
}

int fg_bisect_model_make(const struct fg_bisect *bisect, struct fg_bisect_model *model,
			 struct fg_error *err)
{
	const struct fg_bisect_commit *bad = &bisect->commits[bisect->count - 1];
	double scale = 0;

	*model = (struct fg_bisect_model){
		.whole = fg_trimmed_mean(bad->differences, bad->pair_count, trimmed_share).mean};
	if (!(model->whole > 0) || !isfinite(model->whole))
		return fg_error_set(err, FG_EINVAL,
				    "the bad end of the range is not slower than the good end");
	model->cell = model->whole / FG_BISECT_CELLS;
	model->drift = fmax(bisect->is_exact ? 0 : placement, drift_share * model->whole);
	scale = find_scale(bisect, model->whole);
	model->noise = scale * sqrt(freedom / (freedom - 2));
	make_places(bisect, model);
	for (size_t p = 1; p < model->count; p++)
		make_likelihood(bisect, model, p, scale);
	return FG_OK;
}

void fg_bisect_model_release(struct fg_bisect_model *model)
{
	free(model->places);
	*model = (struct fg_bisect_model){0};
}

/* ---- the posterior ---- */

static double sum_of(const double values[FG_BISECT_LEVELS])
{
	double sum = 0;

	for (size_t k = 0; k < FG_BISECT_LEVELS; k++)
		sum += values[k];
	return sum;
}

/* Returns the mean over all levels: after a jump, all levels of the grid are equally likely. */
static double mean_of(const double values[FG_BISECT_LEVELS])
{
	return sum_of(values) / FG_BISECT_LEVELS;
}

static void filter(struct fg_bisect_model *model)
{
	struct fg_bisect_place *good = &model->places[0];

	memset(good->before, 0, sizeof(good->before));
	good->before[FG_BISECT_ZERO] = 1;
	good->scale = 1;
	for (size_t p = 1; p < model->count; p++) {
		struct fg_bisect_place *place = &model->places[p];
		const double *from = model->places[p - 1].before;

		for (size_t k = 0; k < FG_BISECT_LEVELS; k++)
			place->before[k] = place->likelihood[k] * ((1 - place->jump) * from[k] +
								   place->jump / FG_BISECT_LEVELS);
		place->scale = fmax(sum_of(place->before), 1e-300);
		for (size_t k = 0; k < FG_BISECT_LEVELS; k++)
			place->before[k] /= place->scale;
	}
}

/*
 * Takes the likelihood of this place and all later places given the level here, and computes it
 * given the level at the previous place.
 */
static void step_back(const struct fg_bisect_place *place, const double here[FG_BISECT_LEVELS],
		      double before[FG_BISECT_LEVELS])
{
	const double jumped = place->jump * mean_of(here);

	for (size_t k = 0; k < FG_BISECT_LEVELS; k++)
		before[k] = ((1 - place->jump) * here[k] + jumped) / place->scale;
}

/* Returns the lowest level above a threshold; threshold 0 excludes no level. */
static size_t level_of_threshold(size_t threshold)
{
	const size_t apart = FG_BISECT_CELLS / FG_BISECT_THRESHOLDS;

	return threshold == 0 ? 0 : FG_BISECT_ZERO + threshold * apart - apart / 2;
}

static void look_back(struct fg_bisect_model *model, size_t threshold)
{
	const size_t level = level_of_threshold(threshold);
	double after[FG_BISECT_LEVELS];
	double here[FG_BISECT_LEVELS] = {0};

	for (size_t k = 0; k < FG_BISECT_LEVELS; k++)
		after[k] = 1;
	for (size_t p = model->count - 1; p > 0; p--) {
		struct fg_bisect_place *place = &model->places[p];

		for (size_t k = level; k < FG_BISECT_LEVELS; k++) {
			place->levels[threshold][k] = place->before[k] * after[k];
			here[k] = place->likelihood[k] * after[k];
		}
		step_back(place, here, after);
	}
}

/*
 * Adds to each place the probability that the program rose above a threshold there for good. A
 * threshold that the bad end hardly reaches adds little.
 */
static void take_crossing(struct fg_bisect_model *model, size_t threshold)
{
	const double all = sum_of(model->places[model->count - 1].levels[threshold]);
	double passed = 0;

	for (size_t p = 1; p < model->count && all > 0; p++) {
		struct fg_bisect_place *place = &model->places[p];
		const double above = sum_of(place->levels[threshold]);
		const double crossed = fmax(above - passed, 0);
		const double probability = all > likely ? crossed / all : 0;

		passed = above;
		place->share += crossed;
		place->second_largest =
			fmax(place->second_largest, fmin(place->largest, probability));
		place->largest = fmax(place->largest, probability);
	}
}

void fg_bisect_model_solve(struct fg_bisect_model *model)
{
	double sum = 0;

	filter(model);
	for (size_t i = 0; i <= FG_BISECT_THRESHOLDS; i++)
		look_back(model, i);
	for (size_t i = 1; i <= FG_BISECT_THRESHOLDS; i++)
		take_crossing(model, i);
	for (size_t p = 1; p < model->count; p++)
		sum += model->places[p].share;
	for (size_t p = 1; p < model->count && sum > 0; p++)
		model->places[p].share /= sum;
}

/* ---- information ---- */

/*
 * Returns the standard error of `more` further pairs: averaging does not remove a build's own
 * deviation.
 */
static double error_of(const struct fg_bisect_model *model, size_t pairs, unsigned more)
{
	const double noise = model->noise * model->noise;
	const double drift = model->drift * model->drift;
	const double together = drift + noise / (double)(pairs + more);

	if (pairs == 0)
		return sqrt(together);
	return 1 / sqrt(1 / together - 1 / (drift + noise / (double)pairs));
}

/*
 * Fills the table of measured values, unless it was last filled for the same error: successive
 * calls often have the same number of pairs.
 */
static void prepare(struct fg_bisect_model *model, double error)
{
	if (error >= model->seen_error && error <= model->seen_error)
		return;
	model->seen_error = error;
	for (size_t k = 0; k < FG_BISECT_LEVELS; k++) {
		double sum = 0;

		for (size_t s = 0; s < FG_BISECT_SEEN; s++) {
			const double at = 2.0 * (double)s - FG_BISECT_CELLS;
			const double z = (at - (double)k) * model->cell / error;

			sum += model->seen[k][s] = exp(-z * z / 2) + 1e-300;
		}
		for (size_t s = 0; s < FG_BISECT_SEEN; s++)
			model->seen[k][s] /= sum;
	}
}

static double plogp(double p)
{
	return p > 0 ? p * log(p) : 0;
}

/* Computes the distribution of the measured values from a distribution of the level. */
static void see(const struct fg_bisect_model *model, const double levels[FG_BISECT_LEVELS],
		double seen[FG_BISECT_SEEN])
{
	memset(seen, 0, FG_BISECT_SEEN * sizeof(seen[0]));
	for (size_t k = 0; k < FG_BISECT_LEVELS; k++) {
		for (size_t s = 0; s < FG_BISECT_SEEN && levels[k] > 1e-9; s++)
			seen[s] += levels[k] * model->seen[k][s];
	}
}

double fg_bisect_promise(const struct fg_bisect_model *model, size_t place)
{
	double sum = 0;

	for (size_t i = 1; i <= FG_BISECT_THRESHOLDS; i++) {
		const double above = sum_of(model->places[place].levels[i]);

		sum += above * (1 - above);
	}
	return sum;
}

double fg_bisect_information(struct fg_bisect_model *model, size_t place, unsigned pairs)
{
	const struct fg_bisect_place *own = &model->places[place];
	double all[FG_BISECT_SEEN];
	double above[FG_BISECT_SEEN];
	double nats = 0;

	prepare(model, error_of(model, own->pair_count, pairs));
	see(model, own->levels[0], all);
	for (size_t i = 1; i <= FG_BISECT_THRESHOLDS; i++) {
		const double p = sum_of(own->levels[i]);

		see(model, own->levels[i], above);
		for (size_t s = 0; s < FG_BISECT_SEEN; s++)
			nats += plogp(above[s]) + plogp(fmax(all[s] - above[s], 0)) - plogp(all[s]);
		nats -= plogp(p) + plogp(fmax(1 - p, 0));
	}
	return fmax(nats, 0) / FG_BISECT_THRESHOLDS;
}
