// SPDX-License-Identifier: Apache-2.0
/*
 * The rules by which popular tools report a slowdown, applied to our recordings. Only the rules are
 * theirs: our runner measured the executions, one after the other. A bootstrap is replaced by its t
 * approximation.
 */
#include "base/base.h"
#include "bench/calibration/replay.h"
#include "bench/calibration/two_samples.h"
#include "gate/statistics/distributions.h"
#include "gate/statistics/sample.h"

#include <math.h>

/* benchstat and Google Benchmark's compare.py: Mann-Whitney, alpha 5 %, two-sided. */
static bool by_mann_whitney(const double *first, const double *second, size_t count)
{
	return mann_whitney_test(first, count, second, count).p_two_sided < 0.05 &&
	       fg_median(second, count) > fg_median(first, count);
}

/* criterion: p of a t statistic below 5 %, and the interval of the mean's change beyond 1 %. */
static bool by_criterion(const double *first, const double *second, size_t count)
{
	struct mean_difference w = welch_test(second, count, first, count);
	double half = fg_t_quantile(0.975, w.degrees_of_freedom) * w.standard_error;

	return w.test.p_two_sided < 0.05 && w.difference - half > 0.01 * fg_mean(first, count);
}

/* hyperfine's script for significance: Welch's t, alpha 5 %, two-sided. */
static bool by_welch(const double *first, const double *second, size_t count)
{
	struct mean_difference w = welch_test(second, count, first, count);

	return w.test.p_two_sided < 0.05 && w.difference > 0.0;
}

/* poop: 95 % interval of the difference, pooled variance, at least 1 % away from zero. */
static bool by_poop(const double *first, const double *second, size_t count)
{
	double n = (double)count;
	double pooled = 0.5 * (fg_variance(first, count) + fg_variance(second, count));
	double half = fg_t_quantile(0.975, 2.0 * n - 2.0) * sqrt(pooled * 2.0 / n);
	double difference = fg_mean(second, count) - fg_mean(first, count);

	return difference - half >= 0.01 * fg_mean(first, count);
}

/*
 * A benchmark script's loop: more executions until a paired t test says p < 0.05. The executions of
 * the two sides are from different stretches of the recording.
 */
static bool by_peeking(const double *first, const double *second, size_t count)
{
	double *difference = fg_xcalloc(count + 1, sizeof(difference[0]));
	bool is_slower = false;

	for (size_t n = 1; n <= count && !is_slower; n++) {
		double error;

		difference[n - 1] = log(second[n - 1] / first[n - 1]);
		error = sqrt(fg_variance(difference, n) / (double)n);
		is_slower = n >= 5 &&
			    fg_mean(difference, n) > fg_t_quantile(0.975, (double)n - 1.0) * error;
	}
	free(difference);
	return is_slower;
}

#define RULE(text) text ", identical", text ", +5 %"

const struct rival rivals[] = {
	{"benchstat", RULE("Mann-Whitney 5 %, wall"), 10, true, by_mann_whitney},
	{"Google Benchmark", RULE("Mann-Whitney 5 %, CPU"), 10, false, by_mann_whitney},
	{"criterion", RULE("t 5 % and > 1 %, wall"), 100, true, by_criterion},
	{"hyperfine", RULE("Welch 5 %, wall"), 10, true, by_welch},
	{"more until sure", RULE("paired t 5 % after each pair, CPU"), 50, false, by_peeking},
	{"poop", RULE("interval beyond 1 %, wall"), 50, true, by_poop},
};
const size_t rival_count = FG_ARRAY_SIZE(rivals);

/*
 * Copies the times of `runs` executions of `arm` (-1: any), from number `from` on. Returns their
 * number.
 */
static size_t take(const struct rival *rival, const struct recording *recording, int arm,
		   size_t from, size_t runs, double *values)
{
	size_t seen = 0;
	size_t used = 0;

	for (size_t i = 0; i < recording->count && used < runs; i++) {
		const struct execution *e = &recording->items[i];

		if (arm >= 0 && e->arm != arm)
			continue;
		if (seen++ >= from)
			values[used++] = rival->wall ? e->wall_ns : e->cpu_ns;
	}
	return used;
}

/* Runs per side: at most a third of the recording, so that there are stretches to choose from. */
static size_t affordable_runs(const struct rival *rival, const struct recording *recording)
{
	return fg_min_size(rival->runs, recording->count / 6);
}

bool rival_decide(const struct rival *rival, const struct recording *recording,
		  struct fg_random *random, bool *slower)
{
	size_t runs = affordable_runs(rival, recording);
	double *first = fg_xcalloc(runs + 1, sizeof(first[0]));
	double *second = fg_xcalloc(runs + 1, sizeof(second[0]));
	size_t of_arm = recording->count / 2;
	bool enough = runs >= 4 && of_arm >= 2 * runs;

	if (enough) {
		size_t from = (size_t)fg_random_below(random, of_arm - 2 * runs + 1);

		enough = take(rival, recording, 0, from, runs, first) == runs &&
			 take(rival, recording, 1, from + runs, runs, second) == runs;
		*slower = enough && rival->is_slower(first, second, runs);
	}
	free(first);
	free(second);
	return enough;
}
