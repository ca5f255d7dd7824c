// SPDX-License-Identifier: Apache-2.0
#include "gate/ledger.h"

#include "base/text.h"
#include "gate/pairs.h"
#include "gate/statistics/evidence.h"

#include <math.h>

static const char *const names[FG_CLAIM_COUNT] = {"faster", "not slower"};

enum {
	/* number of pairs that may disagree without preventing the proof of a claim */
	DISAGREEING_PAIRS = 4,
	PAIRS_MAX = 100,
};

const char *fg_claim_name(enum fg_claim claim)
{
	return names[claim];
}

enum fg_claim fg_claim_parse(const char *name)
{
	return (enum fg_claim)fg_text_find(name, names, FG_CLAIM_COUNT);
}

double fg_claim_needed(size_t number)
{
	const double n = (double)number;

	return log(n * (n + 1) / FG_LEDGER_ALPHA);
}

unsigned fg_claim_pairs(size_t number)
{
	unsigned pairs = 1;

	while (pairs < PAIRS_MAX && fg_evidence_max(pairs) < fg_claim_needed(number))
		pairs++;
	return pairs + DISAGREEING_PAIRS;
}

bool fg_claim_is_confirmed(enum fg_claim claim, enum fg_outcome outcome)
{
	return outcome == FG_OUTCOME_IMPROVEMENT ||
	       (claim == FG_CLAIM_NOT_SLOWER && outcome == FG_OUTCOME_PASS);
}

bool fg_claims_evidence(const struct fg_series *series, const struct fg_metric_verdict *metric,
			double evidence[FG_CLAIM_COUNT])
{
	const size_t index = fg_series_find_metric(series, metric->name);
	struct fg_pairs pairs = {0};
	double *values = NULL;

	if (index == SIZE_MAX || metric->exact || !metric->decided)
		return false;
	fg_pairs_collect(series, index, &pairs);
	values = fg_xcalloc(pairs.count + 1, sizeof(values[0]));
	for (size_t i = 0; i < pairs.count; i++)
		values[i] = -pairs.difference[i];
	evidence[FG_CLAIM_FASTER] = fg_evidence(values, pairs.count);
	for (size_t i = 0; i < pairs.count; i++)
		values[i] += log1p(metric->margin);
	evidence[FG_CLAIM_NOT_SLOWER] = fg_evidence(values, pairs.count);
	free(values);
	fg_pairs_release(&pairs);
	return metric->pairs > 0;
}
