/* SPDX-License-Identifier: Apache-2.0 */
/* Input of a verdict: borrowed, and only read. */
#ifndef FG_GATE_INPUT_H
#define FG_GATE_INPUT_H

#include "model/plan.h"
#include "model/profile_set.h"
#include "model/run.h"

struct fg_gate_input {
	/* the candidate; holds the baseline's arm too, unless `baseline` is given */
	const struct fg_run *run;
	const struct fg_run *baseline; /* a stored run to compare with, or NULL */
	/*
	 * earlier runs of the baseline's branch, oldest first: they show how much sessions differ
	 */
	const struct fg_run *const *history;
	size_t history_count;
	/* benchmarks that only the baseline has, if both sides were built */
	const char *const *gone;
	size_t gone_count;
	/* one per series of `run`; the array and its entries may be NULL */
	const struct fg_profile_set *const *profiles;
	/* one per series of `baseline`; the array and its entries may be NULL */
	const struct fg_profile_set *const *baseline_profiles;
	/*
	 * With `baseline`: gets a function's own time (ns per repetition) in earlier runs, oldest
	 * first; returns the number of runs, at most `room`. If NULL, functions of stored runs are
	 * not judged.
	 */
	size_t (*function_history)(void *context, const char *benchmark,
				   const struct fg_profile_function *function, double *self_ns,
				   size_t room);
	void *history_context;
	/* may be NULL; the policies of the plan's benchmarks take precedence over `policy` */
	const struct fg_plan *plan;
	const struct fg_policy *policy;
	const struct fg_measuring *measure; /* for benchmarks that are not in the plan */
	bool baseline_required; /* a benchmark without a baseline fails with FG_EXIT_INCONCLUSIVE */
	int64_t now_ns;         /* wall clock, against which accepted regressions expire */
};

#endif
