/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Skips benchmarks that a change cannot touch (`run --affected`): the functions that each benchmark
 * executes are kept in `.fastgate/executed/`, and a benchmark is not measured if none of them
 * changed.
 */
#ifndef FG_CLI_SESSION_AFFECTED_H
#define FG_CLI_SESSION_AFFECTED_H

#include "cli/session/session.h"
#include "runner/execute/exact.h"

/*
 * Called with both sides built, before anything is executed: may the benchmark be left out? If not,
 * its series says why.
 */
bool fg_session_is_unaffected(struct fg_session *session, struct fg_runner_job *job,
			      const struct fg_benchmark *benchmark);
/* Keeps the set executed by a repetition under callgrind, and the files that it reads. */
void fg_session_keep_executed(struct fg_session *session, struct fg_runner_job *job,
			      const struct fg_exact_request *request,
			      const struct fg_exact_reading *reading);
/*
 * After the pairs of a measured benchmark: executes under callgrind each side whose functions are
 * not known, and adds those that the sampler saw. FG_EINTERRUPTED: the user asked to stop.
 */
int fg_session_find_executed(struct fg_session *session, struct fg_runner_job *job,
			     const struct fg_benchmark *benchmark, struct fg_error *err)
	FG_NODISCARD;

#endif
