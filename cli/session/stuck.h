/* SPDX-License-Identifier: Apache-2.0 */
/* Runner callbacks that show where a benchmark is when it must be killed, or where it crashed. */
#ifndef FG_CLI_SESSION_STUCK_H
#define FG_CLI_SESSION_STUCK_H

#include "runner/runner.h"

/* `context` is the session. If the user asked to stop, it is printed at once. */
void fg_session_explain_stuck(void *context, const struct fg_runner_stuck *stuck, char **summary,
			      char **stacks);
/* Does nothing unless the signal is one of a crash. */
void fg_session_explain_crash(void *context, const struct fg_runner_crash *crash, char **summary,
			      char **stacks);

#endif
