/* SPDX-License-Identifier: Apache-2.0 */
/* The thresholds of the decision. docs/statistics.md explains them. */
#ifndef FG_MODEL_POLICY_H
#define FG_MODEL_POLICY_H

#include "base/base.h"
#include "base/hash.h"

enum fg_function_mode {
	FG_FUNCTIONS_OFF,
	FG_FUNCTIONS_EXPLAIN,
	FG_FUNCTIONS_GATE,
};

/* The policy of one metric. Ratios: 0.02 is two per cent. */
struct fg_metric_policy {
	const char *name;
	bool gated;        /* false: informational */
	double min_effect; /* a regression's estimate is at least this */
	double margin;     /* a pass has its upper bound below this */
	double tolerated;  /* a regression has its lower bound above this */
	double tolerance; /* exact metrics: differences of at most this ratio are treated as equal */
};

/* An accepted regression: a metric may be worse by up to `up_to` until a date. */
struct fg_accept {
	const char *benchmark; /* "*": any */
	const char *metric;    /* "*": any */
	double up_to;          /* NaN: unlimited */
	int64_t until_ns;      /* wall clock; INT64_MAX: does not expire (commit trailers) */
	const char *reason;
	const char *source; /* "fastgate.yml:31" or "commit 1a2b3c4" */
};

struct fg_policy {
	double alpha;
	struct fg_metric_policy *metrics; /* rows of the metrics that the configuration names */
	size_t metric_count;
	enum fg_function_mode functions;
	/* functions below this share of the program's time are not reported */
	double function_floor;
	double function_alpha; /* family-wise */
	bool fail_on_inconclusive;
	bool fail_on_placement; /* fail if only code placement made the program slower */
	bool fail_on_exact;     /* fail if more instructions are executed */
	unsigned creep_window;  /* number of latest commits whose small steps are summed; 0: off */
	double creep_tolerated; /* the largest sum of small steps that passes */
	bool fail_on_creep;     /* fail if the sum exceeds creep_tolerated */
	double prove_share; /* share of the budget for a hidden run whose correct outcome is known */
	bool anchors;       /* measure against the last release if the chain is too imprecise */
	struct fg_accept *accepts;
	size_t accept_count;
};

void fg_policy_defaults(struct fg_policy *policy);
/*
 * Returns the policy of a metric: the user's row, or the built-in defaults (for an unknown name,
 * the defaults of a user-defined metric).
 */
struct fg_metric_policy fg_policy_metric(const struct fg_policy *policy, const char *name);

/* Computes a digest of all settings that decide a verdict, except accepted regressions. */
void fg_policy_digest(const struct fg_policy *policy, char hex[FG_SHA256_HEX_SIZE]);

/* Returns the policy of a measure of the profile: gated only if the user's row says so. */
struct fg_metric_policy fg_policy_measure(const struct fg_policy *policy, const char *name);

#endif
