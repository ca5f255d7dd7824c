/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides whether the candidate is slower, by how much, with what confidence, and which functions
 * explain the change.
 *
 * While a benchmark runs, fg_gate_look() reports whether it is decided. fg_gate_decide() makes the
 * verdict of a whole run from the same pairs by the same rule. fg_gate_decide() can be repeated on
 * a stored run at any time. See gate/rule.c and docs/statistics.md for the rule.
 *
 * Nothing here does I/O or keeps state, and inputs are only read. Threads may work on different
 * verdicts at the same time.
 */
#ifndef FG_GATE_GATE_H
#define FG_GATE_GATE_H

#include "base/error.h"
#include "gate/input.h"
#include "gate/looks.h"
#include "model/verdict.h"

/* The state of a benchmark while it is being measured. */
struct fg_gate_progress {
	bool decided;            /* every gated metric is decided */
	enum fg_outcome outcome; /* outcome of `metric` so far */
	/*
	 * the first undecided metric, or the metric with the worst outcome; borrowed from the
	 * series
	 */
	const char *metric;
	unsigned pairs;     /* pairs that count so far */
	unsigned next_look; /* pairs at the next look; 0: none */
	double ratio;       /* candidate / baseline; NaN: too early */
	double low;
	double high;
};

/*
 * Call after every pair or batch of pairs: between looks a call changes only the estimate. `policy`
 * and `measure` are the benchmark's.
 */
void fg_gate_look(const struct fg_series *series, const struct fg_policy *policy,
		  const struct fg_measuring *measure, struct fg_gate_progress *progress);

/* Would this gated metric fail the run with the pairs so far? */
bool fg_gate_is_worse(const struct fg_series *series, const struct fg_policy *policy,
		      const struct fg_measuring *measure, const char *metric);

/*
 * Returns the minimum number of pairs that can decide a metric under this policy; an exact metric
 * needs only one pair.
 */
unsigned fg_gate_min_pairs(const struct fg_policy *policy);

/*
 * Fills `verdict`, which must be empty; release it with fg_verdict_release(). Names, reasons and
 * labels in it are copies. Bad data give an outcome with a reason, never a failure; FG_EINVAL is
 * for an input that breaks this contract.
 */
int fg_gate_decide(const struct fg_gate_input *input, struct fg_verdict *verdict,
		   struct fg_error *err) FG_NODISCARD;

/* Sets the exit codes of the benchmarks and of the verdict. Call it again if an outcome changes. */
void fg_gate_set_exit_codes(const struct fg_gate_input *input, struct fg_verdict *verdict);

/*
 * Notes that the host may have drifted between two timed sessions, and names the command that
 * avoids this.
 */
void fg_gate_note_sessions(const struct fg_run *baseline, const struct fg_run *candidate,
			   struct fg_verdict *verdict);

/*
 * Makes a policy for a verdict on one measure of the profiles: only this measure is gated. Rows
 * live in the arena. FG_EINVAL: no measure of that name can be gated by call path.
 */
int fg_policy_only_measure(struct fg_policy *policy, const char *measure, const struct fg_run *run,
			   struct fg_arena *arena, struct fg_error *err) FG_NODISCARD;

#endif
