/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Only what a change can touch (`run --affected`): which functions each benchmark executes is kept
 * in `.fastgate/executed/`, and a benchmark of which none changed is not measured.
 */
#ifndef FG_CLI_SESSION_AFFECTED_H
#define FG_CLI_SESSION_AFFECTED_H

#include "cli/session/session.h"
#include "runner/execute/exact.h"

/*
 * With both sides built, before anything is executed: may the benchmark be left out?  If not, its
 * series says why.
 */
bool fg_session_is_unaffected(struct fg_session *session, struct fg_runner_job *job,
			      const struct fg_benchmark *benchmark);
/* What a repetition under callgrind executed is kept, and what the same one reads. */
void fg_session_keep_executed(struct fg_session *session, struct fg_runner_job *job,
			      const struct fg_exact_request *request,
			      const struct fg_exact_reading *reading);
/*
 * After the pairs of a benchmark that was measured: executes each side under callgrind whose
 * functions are not known, and adds those that the sampler saw.  FG_EINTERRUPTED: the user asked to
 * stop.
 */
int fg_session_find_executed(struct fg_session *session, struct fg_runner_job *job,
			     const struct fg_benchmark *benchmark, struct fg_error *err)
	FG_NODISCARD;

#endif
