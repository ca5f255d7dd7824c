/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts and awaits the command of `fastgate record`, which keeps our terminal, streams and process
 * group. An interrupt key reaches the command and us. A signal sent to us alone is forwarded to the
 * command and to the processes it leaves running. Only one command may run at a time.
 */
#ifndef FG_CLI_RECORD_RECORDED_COMMAND_H
#define FG_CLI_RECORD_RECORDED_COMMAND_H

#include "base/base.h"

#include <signal.h>
#include <sys/types.h>

enum {
	FG_RECORDED_SIGNALS = 4
};

struct fg_recorded {
	struct sigaction before[FG_RECORDED_SIGNALS];
};

/*
 * Returns the pid, which is negative if the command could not be started. `variables` are added to
 * the command's environment; may be NULL.
 */
pid_t fg_recorded_start(char *const *argv, char *const *variables, struct fg_recorded *recorded);
/* Returns the command's exit code, or 128 + the number of the signal that ended it. */
int fg_recorded_await(pid_t pid, const struct fg_recorded *recorded);

#endif
