// SPDX-License-Identifier: Apache-2.0
#include "gate/outlook.h"

#include "base/random.h"
#include "gate/looks.h"
#include "gate/rule.h"

#include <math.h>

enum {
	MOST_TIMES = 4,
	MOST_PAIRS = 1000,
	CLEAR_PAIRS = 60,
	TRIALS = 15,
};

/* A clear slowdown, as a multiple of the scatter of the pairs. */
static const double clear_scatter = 0.025;
static const double clear_by = FG_OUTLOOK_CLEAR;

static bool would_fail(const struct fg_rule *rule, unsigned min_pairs, const double *difference,
		       size_t count)
{
	size_t looks[FG_GATE_LOOKS_MAX];
	struct fg_rule planned = *rule;
	struct fg_rule_finding finding;

	planned.looks = looks;
	planned.look_count = fg_gate_looks(min_pairs, (unsigned)count, looks);
	fg_rule_apply(&planned, difference, count, true, &finding);
	return finding.decided && finding.outcome == FG_OUTCOME_REGRESSION;
}

size_t fg_outlook_pairs_needed(const struct fg_rule *rule, unsigned min_pairs,
			       const double *difference, size_t count)
{
	const size_t most = fg_min_size(MOST_TIMES * count, MOST_PAIRS);
	double *longer = fg_xcalloc(most + 1, sizeof(longer[0]));
	uint8_t *layout = fg_xcalloc(most + 1, sizeof(layout[0]));
	struct fg_rule planned = *rule;
	size_t needed = 0;

	for (size_t i = 0; i < most; i++) {
		longer[i] = difference[i % count];
		if (rule->layout)
			layout[i] = rule->layout[i % count];
	}
	planned.layout = rule->layout ? layout : NULL;
	for (size_t pairs = count + 1; pairs <= most && needed == 0; pairs++) {
		if (would_fail(&planned, min_pairs, longer, pairs))
			needed = pairs;
	}
	free(layout);
	free(longer);
	return needed;
}

/* Do most of some made-up measurements of this many pairs fail? */
static bool mostly_fails(const struct fg_rule *rule, unsigned min_pairs, unsigned pairs)
{
	double difference[CLEAR_PAIRS];
	unsigned failed = 0;

	for (uint64_t seed = 1; seed <= TRIALS; seed++) {
		struct fg_random random;

		fg_random_seed(&random, seed);
		for (unsigned i = 0; i < pairs; i++)
			difference[i] = log1p(rule->tolerated) +
					clear_scatter * (clear_by + fg_random_normal(&random));
		failed +=
			would_fail(rule, min_pairs < pairs ? min_pairs : pairs, difference, pairs);
	}
	return 2 * failed > TRIALS;
}

unsigned fg_outlook_least_pairs(const struct fg_rule *rule, unsigned min_pairs)
{
	for (unsigned pairs = FG_PAIRS_MIN; pairs <= CLEAR_PAIRS; pairs++) {
		if (mostly_fails(rule, min_pairs, pairs))
			return pairs;
	}
	return 0;
}

size_t fg_outlook_slower(const struct fg_rule *rule, const double *difference, size_t count)
{
	size_t slower = 0;

	for (size_t i = 0; i < count; i++)
		slower += difference[i] > log1p(rule->tolerated);
	return slower;
}
