// SPDX-License-Identifier: Apache-2.0
#include "gate/outlook.h"

#include "gate/looks.h"
#include "gate/rule.h"

#include <math.h>

enum {
	MOST_TIMES = 4,
	MOST_PAIRS = 1000,
};

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
		layout[i] = rule->layout ? rule->layout[i % count] : 0;
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

size_t fg_outlook_slower(const struct fg_rule *rule, const double *difference, size_t count)
{
	size_t slower = 0;

	for (size_t i = 0; i < count; i++)
		slower += difference[i] > log1p(rule->tolerated);
	return slower;
}
