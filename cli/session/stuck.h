/* SPDX-License-Identifier: Apache-2.0 */
/* Where a benchmark that has to be ended is, or has crashed: the runner's callbacks. */
#ifndef FG_CLI_SESSION_STUCK_H
#define FG_CLI_SESSION_STUCK_H

#include "runner/runner.h"

/* `context` is the session.  When the user asked to stop, it is said at once. */
void fg_session_explain_stuck(void *context, const struct fg_runner_stuck *stuck, char **summary,
			      char **stacks);
/* Does nothing where the signal is not one of a crash. */
void fg_session_explain_crash(void *context, const struct fg_runner_crash *crash, char **summary,
			      char **stacks);

#endif
