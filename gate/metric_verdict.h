/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdict on one metric of one benchmark, of a run that measured both arms. Private to
 * gate/.
 */
#ifndef FG_GATE_METRIC_VERDICT_H
#define FG_GATE_METRIC_VERDICT_H

#include "gate/pairs.h"
#include "gate/rule.h"
#include "model/verdict.h"

struct fg_metric_context {
	const struct fg_series *series;
	const struct fg_policy *policy;
	const struct fg_measuring *measure;
	struct fg_arena *arena; /* for the verdict's strings; NULL: no notes */
	uint64_t seed;
	bool final; /* no more pairs will come */
};

/* Is this metric meaningful in the series' schedule? */
bool fg_metric_is_judged(const struct fg_series *series, size_t metric);

/* Returns a verdict with names and policy, without figures; it passes and is not decided yet. */
struct fg_metric_verdict fg_metric_begin(const struct fg_metric *what,
					 const struct fg_metric_policy *policy, double alpha,
					 struct fg_arena *arena);

/* Makes the whole verdict; `finding` (may be NULL) gets the rule's result. */
void fg_metric_decide(const struct fg_metric_context *context, size_t metric,
		      struct fg_metric_verdict *verdict, struct fg_rule_finding *finding);

/*
 * Returns the largest difference of an exact metric that still counts as equal: the larger of
 * tolerance and tolerated; for an ungated metric at least min_effect.
 */
double fg_metric_tolerance(const struct fg_metric_policy *policy);

/*
 * Sets the ratio and interval of a verdict from logarithms (shares if `linear`) that are positive
 * if the candidate is worse.
 */
void fg_metric_set_interval(struct fg_metric_verdict *verdict, double estimate, double low,
			    double high, bool linear);

#endif
