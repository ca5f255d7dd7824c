/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claims of many attempts on one branch: even if twenty builds are tried, a claim is unlikely to be
 * proven by chance.
 *
 * All claims of a branch share one error, FG_LEDGER_ALPHA. Claim number n may spend 1 / (n (n + 1))
 * of this error; the sum of these shares stays below one, however many claims follow. A claim is
 * proven if the verdict agrees and the e-value of its pairs reaches the value that its share
 * demands. Measuring the same two builds again is not a new claim: the evidence is multiplied.
 * docs/coding-assistants.md explains the rule.
 */
#ifndef FG_GATE_LEDGER_H
#define FG_GATE_LEDGER_H

#include "model/run.h"
#include "model/verdict.h"

#define FG_LEDGER_ALPHA 0.01

enum fg_claim {
	FG_CLAIM_FASTER,
	FG_CLAIM_NOT_SLOWER, /* not slower by the margin or more */
	FG_CLAIM_COUNT,
};

const char *fg_claim_name(enum fg_claim claim);
/* Returns FG_CLAIM_COUNT for an unknown name. */
enum fg_claim fg_claim_parse(const char *name);
/* Returns the logarithm of the e-value that claim number `number` (from 1) needs. */
double fg_claim_needed(size_t number);
/* Returns the number of pairs that can prove claim `number` even if a few of them disagree. */
unsigned fg_claim_pairs(size_t number);
/* Does a verdict with this outcome confirm the claim? */
bool fg_claim_is_confirmed(enum fg_claim claim, enum fg_outcome outcome);
/*
 * Computes the logarithms of the e-values of both claims from the pairs of a metric. Returns false
 * if the metric is exact, is not decided, or has no pairs.
 */
bool fg_claims_evidence(const struct fg_series *series, const struct fg_metric_verdict *metric,
			double evidence[FG_CLAIM_COUNT]);

#endif
