/* SPDX-License-Identifier: Apache-2.0 */
/* The runner's callback that shows where a benchmark is when it must be killed. */
#ifndef FG_CLI_SESSION_STUCK_H
#define FG_CLI_SESSION_STUCK_H

#include "runner/runner.h"

/* `context` is the session. If the user asked to stop, it is printed at once. */
void fg_session_explain_stuck(void *context, const struct fg_runner_stuck *stuck, char **summary,
			      char **stacks);

#endif
