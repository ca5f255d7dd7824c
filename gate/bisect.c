// SPDX-License-Identifier: Apache-2.0
#include "gate/bisect.h"

#include "base/base.h"
#include "base/sort.h"
#include "gate/bisect_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * A step is reported if its probability reaches `sure`. The search ends once the reported steps
 * explain the share `enough` of the change.
 */
static const double sure = 0.95;
static const double enough = 0.7;

/* The search ends if even the longest visit gives fewer than `min_information` nats. */
static const double min_information = 0.05;

/* Numbers of pairs that a visit may have. */
static const unsigned visits[] = {2, 4, 8, 16, 32, FG_BISECT_VISIT_MAX};

enum {
	/* maximum number of built places, and of unbuilt places, whose visits are compared */
	CANDIDATES = 8,
};

void fg_bisect_add(struct fg_bisect_commit *commit, double difference)
{
	FG_APPEND(commit->differences, commit->pair_count, commit->pair_capacity) = difference;
}

void fg_bisect_release(struct fg_bisect *bisect)
{
	for (size_t i = 0; i < bisect->count; i++)
		free(bisect->commits[i].differences);
	free(bisect->commits);
	*bisect = (struct fg_bisect){0};
}

void fg_bisect_look_release(struct fg_bisect_look *look)
{
	free(look->probability);
	*look = (struct fg_bisect_look){0};
}

/* ---- positions of the steps ---- */

/* Distributes each place's share over its commits by weight. */
static void spread(const struct fg_bisect *bisect, const struct fg_bisect_model *model,
		   double *probability)
{
	for (size_t p = 1; p < model->count; p++) {
		const struct fg_bisect_place *place = &model->places[p];
		double weight = 0;

		for (size_t i = place->first; i <= place->own; i++)
			weight += bisect->commits[i].weight;
		for (size_t i = place->first; i <= place->own; i++)
			probability[i] += place->share * bisect->commits[i].weight / weight;
	}
}

FG_ORDER_BY(descending, double, FG_ORDER(*b, *a))

static size_t count_left(const double *probability, size_t count)
{
	double *sorted = fg_xcalloc(count, sizeof(sorted[0]));
	double held = 0;
	size_t left = 0;

	memcpy(sorted, probability, count * sizeof(sorted[0]));
	qsort(sorted, count, sizeof(sorted[0]), descending);
	while (left < count && held < sure)
		held += sorted[left++];
	free(sorted);
	return left;
}

static void name_steps(struct fg_bisect_model *model, struct fg_bisect_look *look)
{
	for (size_t p = 1; p < model->count && look->step_count < FG_BISECT_STEPS_MAX; p++) {
		struct fg_bisect_place *place = &model->places[p];

		if (place->second_largest < sure)
			continue;
		look->steps[look->step_count++] =
			(struct fg_bisect_step){.first = place->first,
						.last = place->own,
						.probability = place->second_largest,
						.size = place->share * model->whole};
		look->explained += place->share;
	}
}

/* ---- the next measurement ---- */

struct visit {
	size_t place;
	unsigned pairs;
	double information;
	/* information per second; while candidates are listed: fg_bisect_promise() */
	double rate;
};

static struct visit weigh(const struct fg_bisect *bisect, struct fg_bisect_model *model,
			  size_t place, unsigned pairs, bool with_build)
{
	const bool builds = with_build && !model->places[place].is_built;
	const double seconds = (builds ? bisect->build_seconds : 0) + bisect->visit_seconds +
			       pairs * bisect->pair_seconds;
	struct visit visit = {.place = place, .pairs = pairs};

	visit.information = fg_bisect_information(model, place, pairs);
	visit.rate = visit.information / seconds;
	return visit;
}

static struct visit best_length(const struct fg_bisect *bisect, struct fg_bisect_model *model,
				size_t place, bool with_build)
{
	struct visit best = {0};

	if (bisect->is_exact)
		return weigh(bisect, model, place, 1, with_build);
	for (size_t k = 0; k < FG_ARRAY_SIZE(visits); k++) {
		const struct visit visit = weigh(bisect, model, place, visits[k], with_build);

		if (visit.rate > best.rate)
			best = visit;
	}
	return best;
}

/* Inserts a visit into `best`, which holds the `count` visits with the highest rates. */
static void keep_best(struct visit *best, size_t count, const struct visit *visit)
{
	size_t at = count;

	while (at > 0 && best[at - 1].rate < visit->rate)
		at--;
	if (at == count)
		return;
	memmove(&best[at + 1], &best[at], (count - 1 - at) * sizeof(best[0]));
	best[at] = *visit;
}

static void find_candidates(const struct fg_bisect *bisect, const struct fg_bisect_model *model,
			    bool is_built, struct visit *candidates)
{
	for (size_t p = 1; p < model->count; p++) {
		const struct visit visit = {.place = p, .rate = fg_bisect_promise(model, p)};

		if (model->places[p].is_built == is_built &&
		    (!bisect->is_exact || model->places[p].pair_count == 0))
			keep_best(candidates, CANDIDATES, &visit);
	}
}

/*
 * Chooses the place that gives the most information per second, including the time of its build.
 * Further pairs need no build, so the number of pairs is chosen as if the place were built already.
 */
static struct visit choose(const struct fg_bisect *bisect, struct fg_bisect_model *model)
{
	struct visit best = {0};
	double most = 0; /* maximum information of the longest visits to the candidates */

	for (unsigned is_built = 0; is_built < 2; is_built++) {
		struct visit candidates[CANDIDATES] = {{0}};

		find_candidates(bisect, model, is_built, candidates);
		for (size_t i = 0; i < CANDIDATES && candidates[i].place > 0; i++) {
			const size_t place = candidates[i].place;
			const struct visit visit = best_length(bisect, model, place, true);

			most = fmax(most, fg_bisect_information(model, place, FG_BISECT_VISIT_MAX));
			if (visit.rate > best.rate)
				best = visit;
		}
	}
	return most < min_information ? (struct visit){0}
				      : best_length(bisect, model, best.place, false);
}

static void decide(const struct fg_bisect *bisect, struct fg_bisect_model *model,
		   struct fg_bisect_look *look)
{
	struct visit visit = {0};

	name_steps(model, look);
	look->state = FG_BISECT_FOUND;
	if (look->explained >= enough)
		return;
	visit = choose(bisect, model);
	look->state = visit.information > 0 ? FG_BISECT_MEASURE : FG_BISECT_OPEN;
	look->next = visit.place ? model->places[visit.place].visited : 0;
	look->pairs = visit.pairs;
}

/* ---- the search ---- */

static int check(const struct fg_bisect *bisect, struct fg_error *err)
{
	if (bisect->count == 0 || bisect->count > FG_BISECT_COMMITS_MAX)
		return fg_error_set(err, FG_EINVAL,
				    "the range has %zu commits: 1 to %d can be searched",
				    bisect->count, FG_BISECT_COMMITS_MAX);
	if (bisect->commits[bisect->count - 1].pair_count == 0)
		return fg_error_set(err, FG_EINVAL, "the ends of the range were not compared");
	return FG_OK;
}

int fg_bisect_look(const struct fg_bisect *bisect, struct fg_bisect_look *look,
		   struct fg_error *err)
{
	struct fg_bisect_model model = {0};

	FG_TRY(check(bisect, err));
	*look = (struct fg_bisect_look){0};
	FG_TRY(fg_bisect_model_make(bisect, &model, err));
	fg_bisect_model_solve(&model);
	look->whole = model.whole;
	look->probability = fg_xcalloc(bisect->count, sizeof(double));
	spread(bisect, &model, look->probability);
	look->left = count_left(look->probability, bisect->count);
	decide(bisect, &model, look);
	fg_bisect_model_release(&model);
	return FG_OK;
}
