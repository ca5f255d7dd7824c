/* SPDX-License-Identifier: Apache-2.0 */
/* Measures a benchmark until every series is decided and a function can be named. */
#ifndef FG_CLI_SESSION_MEASURE_TIMES_H
#define FG_CLI_SESSION_MEASURE_TIMES_H

#include "cli/session/session.h"
#include "runner/runner.h"

/*
 * Pairs until the series are decided, or as many repetitions as are needed without a baseline. The
 * code is placed in several layouts, from the beginning or once it would fail. A failure is
 * measured until it is certain, then until its functions can be told apart.
 */
int fg_session_measure_times(struct fg_session *session, struct fg_runner_job *job,
			     const struct fg_benchmark *benchmark, enum fg_runner_state *state,
			     struct fg_error *err) FG_NODISCARD;

#endif
