/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A system call that our signal cut short is started again, so that the program never sees an EINTR
 * it would not have seen without us.  SA_RESTART does this for some calls only: not for poll,
 * nanosleep, select, epoll, futex, ...
 */
#ifndef FG_COLLECTOR_RESTART_H
#define FG_COLLECTOR_RESTART_H

#include "collector/state.h"

/* True if `context` was changed so that the call is made again. */
bool fg_restart(struct fg_thread *thread, ucontext_t *context, uint64_t now_ns);

/*
 * A sample is delivered before signals that were sent to the process.  One of these may have
 * interrupted the call, and its handler is yet to run: then true is returned, and the call ends, or
 * is made again, as the flags of that handler have it, not ours.
 */
bool fg_restart_yield(ucontext_t *context);

#endif
