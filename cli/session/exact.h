/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exact repetitions of a benchmark, after its pairs: their counts go into the profile of the
 * series, as the measures `instructions` and `calls`.
 */
#ifndef FG_CLI_SESSION_EXACT_H
#define FG_CLI_SESSION_EXACT_H

#include "cli/session/session.h"
#include "runner/runner.h"

/*
 * One repetition per side; a second one if the two sides, or a function of one side, do not agree
 * exactly. If something cannot be counted, a fact of the candidate's build says so; that
 * is not an error. `set` is the profile of the job's first series.
 */
int fg_session_count_exactly(struct fg_session *session, struct fg_runner_job *job,
			     const struct fg_benchmark *benchmark, struct fg_profile_set *set,
			     struct fg_error *err) FG_NODISCARD;

#endif
