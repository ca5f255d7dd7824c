/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decision: is the candidate slower, by how much, how sure is that, and which functions explain
 * it.
 *
 * fg_gate_look() is asked while a benchmark runs: go on, or is the case decided?  fg_gate_decide() makes the verdict of
 * a whole run, from the same pairs by the same rule, so that both always agree; it can be repeated on a stored run at any
 * time.  The rule itself is explained in gate/rule.c and docs/statistics.md.
 *
 * Nothing here does I/O or keeps state; the caller's objects are only read.  Different threads may
 * work on different verdicts.
 */
#ifndef FG_GATE_GATE_H
#define FG_GATE_GATE_H

#include "base/error.h"
#include "model/profile_set.h"
#include "model/run.h"
#include "model/verdict.h"

#define FG_GATE_LOOKS_MAX 40

/*
 * The numbers of pairs after which a decision may fall, ascending; the last is max_pairs.  Returns
 * how many.
 */
size_t fg_gate_looks(unsigned min_pairs, unsigned max_pairs, size_t looks[FG_GATE_LOOKS_MAX]);

/* Where a benchmark stands while it is being measured. */
struct fg_gate_progress {
	bool decided;            /* no gated metric is open any more */
	enum fg_outcome outcome; /* of the metric named here, so far */
	/* the first open one, or the one that decided; borrowed from the series */
	const char *metric;
	unsigned pairs;     /* that count, so far */
	unsigned next_look; /* pairs at the next look; 0: there is none */
	double ratio;       /* candidate / baseline; NaN: too early */
	double low;
	double high;
};

/*
 * Call after every pair or batch of pairs: between looks it changes nothing but the estimate.
 * `policy` and `measure` are the benchmark's.
 */
void fg_gate_look(const struct fg_series *series, const struct fg_policy *policy,
		  const struct fg_measuring *measure, struct fg_gate_progress *progress);

struct fg_gate_input {
	/* the candidate; holds the baseline's arm too, unless `baseline` is given */
	const struct fg_run *run;
	const struct fg_run *baseline; /* a stored run to compare with, or NULL */
	const struct fg_run *const *
		/* earlier runs of the baseline's line, oldest first: how much sessions differ */
		history;
	size_t history_count;
	const char *const
		*gone; /* benchmarks that only the baseline has, where both sides were built */
	size_t gone_count;
	const struct fg_profile_set *const
		*profiles; /* one per series of `run`, entries may be NULL; may be NULL */
	const struct fg_profile_set *const
		*baseline_profiles; /* likewise per series of `baseline` */
	const struct fg_plan *plan; /* policies of its benchmarks go before `policy`; may be NULL */
	const struct fg_policy *policy;
	const struct fg_measuring *measure; /* for benchmarks that the plan does not know */
	bool baseline_required; /* a benchmark without one fails with FG_EXIT_INCONCLUSIVE */
	int64_t now_ns;         /* wall clock: accepted slowdowns end */
};

/*
 * Fill `verdict` (an empty one; release it with fg_verdict_release()).  Names, reasons and labels
 * in it are copies.  Bad data are an outcome with a reason, never a failure; FG_EINVAL only for an
 * input that breaks this contract.
 */
int fg_gate_decide(const struct fg_gate_input *input, struct fg_verdict *verdict,
		   struct fg_error *err) FG_NODISCARD;

/*
 * Accepted slowdowns from a commit message: lines "Fastgate-Accept: NAME METRIC reason", NAME in
 * double quotes when it holds blanks, "*" for any.  `commit` names the source.  Text lives in the
 * arena.  A line that does not follow the form is FG_EPARSE.  *accepts is an array in the arena.
 */
int fg_gate_accepts_of_message(const char *message, const char *commit, struct fg_arena *arena,
			       struct fg_accept **accepts, size_t *count, struct fg_error *err)
	FG_NODISCARD;

#endif
