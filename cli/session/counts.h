/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events and calls requested by `measure.also`, `measure.calls` and `measure.domains`, counted in
 * repetitions of their own after the pairs. Results go into the profile of the series, as the
 * measures `heap.allocations`, `calls.exp` and so on. If `max_rss` fails, the heap is counted
 * without being requested, to show what holds the memory.
 */
#ifndef FG_CLI_SESSION_COUNTS_H
#define FG_CLI_SESSION_COUNTS_H

#include "cli/session/session.h"
#include "runner/runner.h"

/* Is anything to be counted? */
bool fg_session_counts_events(const struct fg_session *session, const struct fg_series *series,
			      const struct fg_benchmark *benchmark);
/*
 * One repetition per side and counting library; a second one if the sides do not agree. If
 * something cannot be counted, a fact of the candidate's build says so; that is not an error.
 * `set` is the profile of the job's first series.
 */
int fg_session_count_events(struct fg_session *session, struct fg_runner_job *job,
			    const struct fg_benchmark *benchmark, struct fg_profile_set *set,
			    struct fg_error *err) FG_NODISCARD;

#endif
