/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two processes for one session, so that nothing is left behind whichever way it ends.
 *
 * fg_guard_split() forks.  The child, the worker, does all the work in its own process group.  The
 * parent, the guard, only waits: it passes signals on, and kills whatever the worker leaves behind
 * when it ends.
 *
 *	kill -9 of the guard       the kernel signals the worker, which stops cleanly and keeps data
 *	(that is what users see)
 *	kill -9 of the worker      its children, and theirs, become the guard's, which ends them
 *	kill -9 of the group       hits the guard alone; then as in the first line
 *	(`timeout -s KILL`)
 *	Ctrl-C, SIGTERM            the guard hands it to the worker
 *
 * Call it early: before threads, open databases and much memory; what stdio has buffered is flushed
 * first.
 */
#ifndef FG_RUNNER_GUARD_H
#define FG_RUNNER_GUARD_H

#include "base/error.h"

#include <stdbool.h>

struct fg_guard_end {
	bool exited; /* the worker ended by itself */
	int exit_code;
	int signal;         /* if not exited */
	bool left_children; /* processes were left behind and have been killed */
};

/*
 * Returns in both processes: in the worker with *is_worker true; in the guard, once the worker has
 * ended, with *is_worker false and *end filled.  The guard should then leave with the same exit
 * code.  Not FG_OK: there is only one process, and it may go on without a guard.
 */
int fg_guard_split(bool *is_worker, struct fg_guard_end *end, struct fg_error *err) FG_NODISCARD;

#endif
