// SPDX-License-Identifier: Apache-2.0
/*
 * Sessions have no pairs in common, so the error of a difference is taken from the differences of
 * successive sessions of the history, but is at least the error due to the number of samples. Only
 * the functions with the largest differences are tested; alpha is shared by all functions that
 * could have been tested.
 */

#include "base/clock.h"
#include "base/sort.h"
#include "gate/node_family.h"
#include "gate/parts.h"
#include "gate/statistics/distributions.h"
#include "gate/stored.h"

#include <math.h>

enum {
	ASKED_MAX = 12, /* maximum number of functions tested per benchmark */
	SESSIONS_MAX = 20,
};

#define MIN_PART 0.02 /* minimum share of the whole difference for a function to be tested */

/* Own and inclusive time per repetition, in ns, of one side's functions. */
struct side {
	const struct fg_profile_set *set;
	double *self;
	double *inclusive;
	double *noise; /* variance of `self`, from the number of samples */
	double total;
};

struct candidate {
	uint32_t function[2]; /* index in each side's set; UINT32_MAX: absent */
	double delta;
};

static void add_noise(struct side *side, uint16_t time)
{
	const struct fg_profile_set *set = side->set;
	double repetitions = 0;

	for (size_t i = 0; i < set->row_count; i++)
		repetitions += set->rows[i].measure == time && set->rows[i].aside == 0 &&
			       set->rows[i].arm == FG_ARM_CANDIDATE;
	for (size_t i = 0; i < set->row_count; i++) {
		const struct fg_profile_row *row = &set->rows[i];

		if (row->measure != time || row->aside != 0 || row->arm != FG_ARM_CANDIDATE)
			continue;
		for (uint32_t k = 0; k < row->count; k++)
			side->noise[set->nodes[row->nodes[k]].function] +=
				row->values[k] * row->values[k] / fmax(1, row->samples[k]) /
				(repetitions * repetitions);
	}
}

static void side_init(struct side *side, const struct fg_profile_set *set)
{
	const uint16_t time = fg_profile_set_time(set);
	double *self = fg_xcalloc(set->node_count + 1, sizeof(self[0]));
	double *inclusive = fg_xcalloc(set->node_count + 1, sizeof(inclusive[0]));
	bool *recursive = fg_profile_set_is_recursive(set);

	*side = (struct side){
		.set = set,
		.self = fg_xcalloc(set->function_count + 1, sizeof(double)),
		.inclusive = fg_xcalloc(set->function_count + 1, sizeof(double)),
		.noise = fg_xcalloc(set->function_count + 1, sizeof(double)),
	};
	(void)fg_profile_set_mean(set, time, FG_ARM_CANDIDATE, self, inclusive);
	for (size_t n = 0; n < set->node_count; n++) {
		side->self[set->nodes[n].function] += self[n];
		side->total += self[n];
		if (!recursive[n])
			side->inclusive[set->nodes[n].function] += inclusive[n];
	}
	add_noise(side, time);
	free(self);
	free(inclusive);
	free(recursive);
}

static void side_release(struct side *side)
{
	free(side->self);
	free(side->inclusive);
	free(side->noise);
}

static double at(const double *values, uint32_t function)
{
	return function == UINT32_MAX ? 0 : values[function];
}

FG_ORDER_BY(largest_first, struct candidate, FG_ORDER(fabs(b->delta), fabs(a->delta)),
	    FG_UP(function[1]))

/* Lists all functions with self time on either side, largest difference first. */
static struct candidate *find_candidates(const struct side sides[2], size_t *count)
{
	const size_t most = sides[0].set->function_count + sides[1].set->function_count;
	struct candidate *found = fg_xcalloc(most + 1, sizeof(found[0]));

	*count = 0;
	for (size_t arm = 0; arm < 2; arm++) {
		const struct side *side = &sides[arm];

		for (uint32_t f = 0; f < side->set->function_count; f++) {
			struct candidate *item = &found[*count];
			const struct fg_profile_function *function = &side->set->functions[f];
			const uint32_t there =
				side->self[f] > 0
					? fg_profile_set_find(sides[1 - arm].set, function->name,
							      function->library)
					: UINT32_MAX;

			/* List a function only once if both sides have it. */
			if (side->self[f] <= 0 ||
			    (arm == 1 && there != UINT32_MAX && sides[0].self[there] > 0))
				continue;
			item->function[arm] = f;
			item->function[1 - arm] = there;
			item->delta = at(sides[1].self, item->function[1]) -
				      at(sides[0].self, item->function[0]);
			(*count)++;
		}
	}
	qsort(found, *count, sizeof(found[0]), largest_first);
	return found;
}

static void judge(struct fg_node_verdict *node, double error_ms, double degrees, double alpha,
		  size_t family)
{
	const double reach = -fg_t_quantile(alpha / 2 / (double)family, degrees) * error_ms;

	node->low = node->delta - reach;
	node->high = node->delta + reach;
	node->p_adjusted =
		fmin(1, 2 * (double)family * fg_t_cdf(-fabs(node->delta) / error_ms, degrees));
	node->standing = node->low > 0    ? FG_STANDING_GUILTY
			 : node->high < 0 ? FG_STANDING_FASTER
					  : FG_STANDING_NOT_SURE;
	node->outcome = node->low > 0    ? FG_OUTCOME_REGRESSION
			: node->high < 0 ? FG_OUTCOME_IMPROVEMENT
					 : FG_OUTCOME_INCONCLUSIVE;
}

static const struct fg_profile_function *function_of(const struct side sides[2],
						     const struct candidate *item)
{
	const size_t named = item->function[1] != UINT32_MAX ? 1 : 0;

	return &sides[named].set->functions[item->function[named]];
}

/*
 * Estimates the error of a function's difference; returns the number of differences on which the
 * error is based.
 */
static size_t find_spread(const struct fg_gate_input *input, const char *benchmark,
			  const struct side sides[2], const struct candidate *item,
			  double *spread_ns)
{
	double self[SESSIONS_MAX];
	double differences[SESSIONS_MAX];
	const size_t count =
		input->function_history(input->history_context, benchmark, function_of(sides, item),
					self, FG_ARRAY_SIZE(self));

	for (size_t i = 1; i < count; i++)
		differences[i - 1] = fabs(self[i] - self[i - 1]);
	if (count > FG_SESSIONS_MIN)
		*spread_ns = fg_session_spread(differences, count - 1);
	return count > 0 ? count - 1 : 0;
}

static struct fg_node_verdict make_node(const struct side sides[2], const struct candidate *item,
					const struct fg_blame *blame, struct fg_arena *arena)
{
	const struct fg_profile_function *function = function_of(sides, item);
	struct fg_node_verdict node = {
		.measure = blame->measure,
		.unit = blame->unit,
		.name = fg_arena_strdup(arena, function->name),
		.library = fg_arena_strdup(arena, function->library),
		.file = function->file ? fg_arena_strdup(arena, function->file) : NULL,
		.line = function->line,
		.delta = item->delta / FG_NS_PER_MS,
		.share_of_change = (double)NAN,
		.p_adjusted = (double)NAN,
	};

	for (size_t arm = 0; arm < 2; arm++) {
		node.self[arm] = at(sides[arm].self, item->function[arm]) / FG_NS_PER_MS;
		node.inclusive[arm] = at(sides[arm].inclusive, item->function[arm]) / FG_NS_PER_MS;
	}
	return node;
}

FG_ORDER_BY(sure_first, struct fg_node_verdict,
	    fg_standing_is_sure(b->standing) - fg_standing_is_sure(a->standing),
	    fg_node_compare(a, b))

static void decide(const struct fg_gate_input *input, const char *benchmark,
		   const struct side sides[2], struct fg_arena *arena, struct fg_blame *blame)
{
	size_t family = 0;
	struct candidate *found = find_candidates(sides, &family);

	blame->functions = fg_arena_array(arena, ASKED_MAX, sizeof(blame->functions[0]));
	blame->functions_tested = family;
	for (size_t i = 0; i < family && i < ASKED_MAX; i++) {
		struct fg_node_verdict node = make_node(sides, &found[i], blame, arena);
		double spread_ns = (double)NAN;
		size_t differences = 0;
		double noise = 0;

		if (fabs(node.delta) < MIN_PART * fabs(blame->total_delta))
			break;
		differences = find_spread(input, benchmark, sides, &found[i], &spread_ns);
		if (differences < FG_SESSIONS_MIN)
			continue;
		for (size_t arm = 0; arm < 2; arm++)
			noise += at(sides[arm].noise, found[i].function[arm]);
		judge(&node, fmax(spread_ns, sqrt(noise)) / FG_NS_PER_MS,
		      fg_session_degrees(differences), input->policy->function_alpha, family);
		blame->functions[blame->function_count++] = node;
	}
	qsort(blame->functions, blame->function_count, sizeof(blame->functions[0]), sure_first);
	free(found);
}

/*
 * Computes the part of the change that no row names. Its functions have no history, so its error is
 * the error of all rows together.
 */
static struct fg_rest rest_of(const struct side sides[2], const struct fg_blame *blame)
{
	struct fg_rest rest = {.delta = (sides[1].total - sides[0].total) / FG_NS_PER_MS};

	for (size_t i = 0; i < blame->function_count; i++) {
		const struct fg_node_verdict *node = &blame->functions[i];

		rest.delta -= node->delta;
		rest.half = hypot(rest.half, 0.5 * (node->high - node->low));
	}
	return rest;
}

void fg_stored_functions_decide(const struct fg_gate_input *input, size_t index,
				const struct fg_series *baseline, struct fg_arena *arena,
				struct fg_benchmark_verdict *verdict)
{
	const struct fg_profile_set *sets[2] = {
		input->baseline_profiles
			? input->baseline_profiles[baseline - input->baseline->series]
			: NULL,
		input->profiles ? input->profiles[index] : NULL,
	};
	struct fg_blame *blame = &verdict->time;
	struct fg_whole whole;
	struct side sides[2];

	if (!sets[0] || !sets[1] || !input->function_history ||
	    input->policy->functions == FG_FUNCTIONS_OFF ||
	    fg_profile_set_time(sets[0]) != fg_profile_set_time(sets[1]))
		return;
	for (size_t arm = 0; arm < 2; arm++)
		side_init(&sides[arm], sets[arm]);
	blame->measure = fg_arena_strdup(
		arena, fg_measure_at(&sets[1]->measures, fg_profile_set_time(sets[1]))->name);
	blame->unit = "ms";
	whole = fg_parts_whole(verdict, blame->measure, 1.0 / FG_NS_PER_MS);
	blame->total_delta =
		isnan(whole.delta) ? (sides[1].total - sides[0].total) / FG_NS_PER_MS : whole.delta;
	decide(input, baseline->name, sides, arena, blame);
	fg_parts_fit(blame, rest_of(sides, blame), whole.changed);
	for (size_t arm = 0; arm < 2; arm++)
		side_release(&sides[arm]);
}
