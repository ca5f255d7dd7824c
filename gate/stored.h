/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparison with a run of another session. Two sessions on one host differ even for the same
 * binary: the history shows the size of this difference, and the interval includes it. Private to
 * gate/.
 */
#ifndef FG_GATE_STORED_H
#define FG_GATE_STORED_H

#include "gate/input.h"
#include "gate/metric_verdict.h"
#include "model/verdict.h"

struct fg_session_spread {
	size_t differences; /* number of differences between successive sessions */
	double spread;      /* standard deviation between sessions, as a logarithm; NaN: unknown */
};

/*
 * Computes the spread from the candidate arms of the successive runs (oldest first) whose host has
 * the fingerprint of `like`.
 */
struct fg_session_spread fg_session_spread_of(const struct fg_run *const *history, size_t count,
					      const struct fg_run *like, const char *benchmark,
					      const char *metric);

/*
 * The next two functions estimate, from absolute differences, the standard deviation of the
 * difference between two sessions, and the degrees of freedom of this estimate.
 */
double fg_session_spread(double *differences, size_t count);
double fg_session_degrees(size_t differences);

/*
 * Decides the verdict on one metric in a comparison with a stored run. Without `same_environment`,
 * the metric is inconclusive unless it is exact.
 */
void fg_stored_decide(const struct fg_metric_context *context, size_t metric,
		      const struct fg_series *baseline, const struct fg_session_spread *sessions,
		      bool same_environment, struct fg_metric_verdict *verdict);

/*
 * Minimum number of differences between sessions: with fewer, the variation between sessions is
 * unknown.
 */
#define FG_SESSIONS_MIN 5

/* ---- stored_functions.c ---- */

/*
 * Judges the functions of series `index`. Call it after the metrics were compared with `baseline`.
 * Does nothing without both profiles; leaves out functions whose variation between sessions is
 * unknown.
 */
void fg_stored_functions_decide(const struct fg_gate_input *input, size_t index,
				const struct fg_series *baseline, struct fg_arena *arena,
				struct fg_benchmark_verdict *verdict);

#endif
