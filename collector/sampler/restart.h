/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A system call that our signal cut short is started again, so that the program never sees an EINTR
 * it would not have seen without us.  SA_RESTART does this for some calls only: not for poll,
 * nanosleep, select, epoll, futex, ...
 */
#ifndef FG_COLLECTOR_RESTART_H
#define FG_COLLECTOR_RESTART_H

#include "collector/sampler/state.h"

/*
 * After a signal that the program does not notice. Returns true if `context` was changed so that
 * the call is made again. `late`: the signal was raised on the way back to the program.
 */
bool fg_restart(struct fg_thread *thread, ucontext_t *context, bool late, uint64_t now_ns);

/*
 * The program's own handler of our signal has run: its `flags` decide, although the kernel used
 * ours.
 */
void fg_restart_not(struct fg_thread *thread, ucontext_t *context, int flags);

#endif
