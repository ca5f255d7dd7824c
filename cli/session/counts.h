/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events and calls that `measure.also`, `measure.calls` and `measure.domains` ask for, counted in
 * repetitions of their own after the pairs: what they find goes into the profile of the series, as
 * the measures `heap.allocations`, `calls.exp` and so on.  Where `max_rss` fails, the heap is
 * counted without being asked for: who holds the memory?
 */
#ifndef FG_CLI_SESSION_COUNTS_H
#define FG_CLI_SESSION_COUNTS_H

#include "cli/session/session.h"
#include "runner/runner.h"

/* Is anything to be counted? */
bool fg_session_counts_events(const struct fg_session *session, const struct fg_series *series,
			      const struct fg_benchmark *benchmark);
/*
 * One repetition a side and library that counts; a second one where the sides do not agree.  What
 * cannot be counted is told by a fact of the candidate's build and costs nothing.  `set` is the
 * profile of the job's first series.
 */
int fg_session_count_events(struct fg_session *session, struct fg_runner_job *job,
			    const struct fg_benchmark *benchmark, struct fg_profile_set *set,
			    struct fg_error *err) FG_NODISCARD;

#endif
