/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of a static program: nothing can be preloaded into it, so its pairs run without the
 * sampler, and after them both sides run a few times more and are sampled from outside.
 */
#ifndef FG_CLI_SESSION_SAMPLE_OUTSIDE_H
#define FG_CLI_SESSION_SAMPLE_OUTSIDE_H

#include "cli/session/session.h"
#include "runner/runner.h"

/* Is every side that runs a static program, and are functions wanted? */
bool fg_session_samples_outside(const struct fg_runner_job *job,
				const struct fg_benchmark *benchmark);
/*
 * The samples take the places of those of the series' pairs in `set`.  What cannot be sampled is a
 * fact of the candidate's build (FG_FACT_OUTSIDE), no failure.
 */
int fg_session_sample_outside(struct fg_session *session, struct fg_runner_job *job,
			      const struct fg_benchmark *benchmark, struct fg_profile_set *set,
			      struct fg_error *err) FG_NODISCARD;

#endif
