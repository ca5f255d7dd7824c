/* SPDX-License-Identifier: Apache-2.0 */
/* How long a benchmark is measured: until every series is decided and a function can be named. */
#ifndef FG_CLI_SESSION_MEASURE_TIMES_H
#define FG_CLI_SESSION_MEASURE_TIMES_H

#include "cli/session/session.h"
#include "runner/runner.h"

/*
 * Pairs until it is decided, as many repetitions as it takes without a baseline: with the code in
 * several places, from the beginning or where it would fail. What fails is measured until that is
 * sure, then until its functions can be told apart.
 */
int fg_session_measure_times(struct fg_session *session, struct fg_runner_job *job,
			     const struct fg_benchmark *benchmark, enum fg_runner_state *state,
			     struct fg_error *err) FG_NODISCARD;

#endif
