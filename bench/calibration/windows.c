// SPDX-License-Identifier: Apache-2.0
/*
 * The rule's errors over pairs that were recorded on a busy host.
 *
 *	bench_calibration_windows [RUNS]
 *
 * A run draws pairs from one recording, with random signs as in the runner's draw of sides, shifted
 * by the change of its row. The last line takes consecutive pairs of a recording instead.
 */
#include "base/random.h"
#include "gate/rule.h"
#include "tests/unit/gate/recorded_pairs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	RUNS = 10000,
	LEAST = 40, /* shorter recordings are not used */
	MOST = 400,
};

static const struct recorded *pick(struct fg_random *random)
{
	const struct recorded *found = NULL;

	do {
		found = &recorded[fg_random_below(random, RECORDED_SERIES)];
	} while (found->count < LEAST);
	return found;
}

static double center_of(const struct recorded *series)
{
	double sum = 0;

	for (size_t i = 0; i < series->count; i++)
		sum += recorded_pairs[series->begin + i] / 1e4;
	return sum / (double)series->count;
}

static enum fg_outcome decide(const double *difference, size_t count, double min_effect,
			      size_t *pairs)
{
	const struct fg_rule rule = {.alpha = 0.001,
				     .min_effect = min_effect,
				     .margin = 0.02,
				     .min_pairs = 10,
				     .max_pairs = (unsigned)count,
				     .is_drawn = true};
	struct fg_rule_finding finding;

	fg_rule_apply(&rule, difference, count, true, &finding);
	*pairs += finding.pairs;
	return finding.outcome;
}

static void show_row(struct fg_random *random, double change, size_t most, size_t runs)
{
	double difference[MOST];
	size_t failed = 0;
	size_t open = 0;
	size_t pairs = 0;

	for (size_t run = 0; run < runs; run++) {
		const struct recorded *series = pick(random);
		const double center = center_of(series);
		enum fg_outcome outcome;

		for (size_t i = 0; i < most; i++) {
			const size_t at = series->begin + fg_random_below(random, series->count);
			const double noise = recorded_pairs[at] / 1e4 - center;

			difference[i] =
				log1p(change) + (fg_random_below(random, 2) ? noise : -noise);
		}
		outcome = decide(difference, most, change > 0 ? 0.01 : 0, &pairs);
		failed += outcome == FG_OUTCOME_REGRESSION;
		open += outcome == FG_OUTCOME_INCONCLUSIVE;
	}
	printf("%+5.1f %%, at most %3zu pairs: %6.2f %% fail, %6.2f %% inconclusive, %3zu pairs\n",
	       100 * change, most, 100.0 * (double)failed / (double)runs,
	       100.0 * (double)open / (double)runs, pairs / runs);
}

static void show_windows(struct fg_random *random, size_t runs)
{
	size_t failed = 0;
	size_t pairs = 0;

	for (size_t run = 0; run < runs; run++) {
		const struct recorded *series = pick(random);
		const size_t count = LEAST + fg_random_below(random, series->count - LEAST + 1);
		const size_t from =
			series->begin + fg_random_below(random, series->count - count + 1);
		const double side = fg_random_below(random, 2) ? 1e-4 : -1e-4;
		double difference[MOST];

		for (size_t i = 0; i < count; i++)
			difference[i] = side * recorded_pairs[from + i];
		failed += decide(difference, count, 0, &pairs) == FG_OUTCOME_REGRESSION;
	}
	printf("identical, as recorded: %zu of %zu fail\n", failed, runs);
}

int main(int argc, char **argv)
{
	static const double changes[] = {0, 0.015, 0.02, 0.05, 0.1};
	static const size_t most[] = {12, 41, MOST};
	const size_t runs = argc > 1 ? strtoul(argv[1], NULL, 10) : RUNS;
	struct fg_random random;

	fg_random_seed(&random, 5);
	for (size_t c = 0; c < sizeof(changes) / sizeof(changes[0]); c++) {
		for (size_t m = 0; m < sizeof(most) / sizeof(most[0]); m++)
			show_row(&random, changes[c], most[m], runs);
	}
	show_windows(&random, 2 * runs);
	return 0;
}
