/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that is run under observation, with all that it starts: it stands still at each signal
 * and at what else was asked for, is looked at, and goes on.
 */
#ifndef FG_OUTSIDE_FOLLOWING_H
#define FG_OUTSIDE_FOLLOWING_H

#include "base/error.h"
#include "base/process.h"

struct fg_following {
	struct fg_process_options options; /* its output is dropped */
	unsigned events;                   /* PTRACE_O_..., besides those that follow children */
	/*
	 * A thread stands still; `status` as waitpid() gives it, `signal` is delivered when it goes
	 * on.  True: enough was seen, everything is ended.
	 */
	bool (*on_stop)(void *context, pid_t tid, int status, int signal);
	void *context;
	bool exited; /* by itself, with */
	int exit_code;
};

/*
 * FG_ETIMEOUT: it did not end within options.timeout_ns; FG_EINTERRUPTED: the user asked to stop.
 */
int fg_following_run(struct fg_following *following, struct fg_error *err) FG_NODISCARD;

#endif
