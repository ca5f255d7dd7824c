/* SPDX-License-Identifier: Apache-2.0 */
/* The handler of our signal. */
#ifndef FG_COLLECTOR_HANDLER_H
#define FG_COLLECTOR_HANDLER_H

#include "collector/sampler/state.h"

/* Weighs the kernel's last hits, before the thread's clocks stop. Call under its `busy`. */
void fg_take_last_hits(struct fg_thread *thread);
void fg_on_signal(int signal, siginfo_t *info, void *context);

/* ---- restart.c ---- */

/*
 * Call after a signal that the program does not notice. Returns true if `context` was changed so
 * that the call is restarted. `late`: the signal was raised on the way back to the program.
 */
bool fg_restart(struct fg_thread *thread, ucontext_t *context, bool late, uint64_t now_ns);

/*
 * Call after the program's own handler of our signal has run: the `flags` of that handler decide,
 * although the kernel used the flags of our handler.
 */
void fg_restart_prevent(struct fg_thread *thread, ucontext_t *context, int flags);

#endif
