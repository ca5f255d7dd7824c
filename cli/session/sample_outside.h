/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of a static program: nothing can be preloaded into it, so its pairs run without the
 * sampler, and afterwards both sides run a few more times and are sampled from outside.
 */
#ifndef FG_CLI_SESSION_SAMPLE_OUTSIDE_H
#define FG_CLI_SESSION_SAMPLE_OUTSIDE_H

#include "cli/session/session.h"
#include "runner/runner.h"

/* Does every side run a static program, and are functions wanted? */
bool fg_session_samples_outside(const struct fg_runner_job *job,
				const struct fg_benchmark *benchmark);
/*
 * The samples are filed in `set` under the series' own pairs. If something cannot be sampled, a
 * fact of the candidate's build (FG_FACT_OUTSIDE) says so; that is not a failure.
 */
int fg_session_sample_outside(struct fg_session *session, struct fg_runner_job *job,
			      const struct fg_benchmark *benchmark, struct fg_profile_set *set,
			      struct fg_error *err) FG_NODISCARD;

#endif
