// SPDX-License-Identifier: Apache-2.0
#include "gate/outlook.h"

#include <limits.h>
#include <math.h>

enum {
	MOST_TIMES = 4,
	MOST_PAIRS = 1000,
};

/* The rule itself answers, from the same pairs over and over. */
size_t fg_outlook_pairs_needed(const struct fg_rule *rule, const double *difference, size_t count)
{
	const size_t most = fg_min_size(MOST_TIMES * count, MOST_PAIRS);
	double *longer = fg_xcalloc(most + 1, sizeof(longer[0]));
	uint8_t *layout = fg_xcalloc(most + 1, sizeof(layout[0]));
	struct fg_rule planned = *rule;
	struct fg_rule_finding finding;

	for (size_t i = 0; i < most; i++) {
		longer[i] = difference[i % count];
		if (rule->layout)
			layout[i] = rule->layout[i % count];
	}
	planned.layout = rule->layout ? layout : NULL;
	planned.max_pairs = UINT_MAX;
	fg_rule_apply(&planned, longer, most, false, &finding);
	free(layout);
	free(longer);
	return finding.outcome == FG_OUTCOME_REGRESSION && finding.pairs > count ? finding.pairs
										 : 0;
}

size_t fg_outlook_slower(const struct fg_rule *rule, const double *difference, size_t count)
{
	size_t slower = 0;

	for (size_t i = 0; i < count; i++)
		slower += difference[i] > log1p(rule->tolerated);
	return slower;
}
