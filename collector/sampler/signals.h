/* SPDX-License-Identifier: Apache-2.0 */
/*
 * We and the program share one signal. What the program does with it is kept in a shadow, reported
 * back to the program, and applied to signals that are not ours.
 */
#ifndef FG_COLLECTOR_SIGNALS_H
#define FG_COLLECTOR_SIGNALS_H

#include "collector/sampler/state.h"

/* Take the signal over for this handler and let it through in this thread. */
void fg_signal_install(void (*handler)(int signal, siginfo_t *info, void *context));
/*
 * This thread has been given its slot: let the others know what it does with signals for the
 * process.
 */
void fg_signal_begin(void);
/*
 * Hand a signal that is not ours to the program, as the kernel would have; false: the program is
 * not to notice anything.  `flags` gets those of its handler.
 */
bool fg_signal_forward(int signal, siginfo_t *info, void *context, int *flags);
/*
 * As above, for a signal that was kept for this thread and whose wake the kernel has dropped for
 * the sake of a sample.
 */
bool fg_signal_forward_kept(int signal, void *context, int *flags);
/* The handler has got a signal of this thread's clock, or of its tick. */
void fg_signal_arrived(bool tick);
/*
 * Show the next program image the mask and disposition that this one believes in; and take that
 * back.
 */
void fg_signal_expose(void);
void fg_signal_hide(void);
/*
 * A new thread inherits the mask that the program believes in. `hold` returns that mask; from then
 * until `release` in the creator our signal is really blocked, and in the new thread until
 * `inherit`.
 */
bool fg_signal_hold(void);
void fg_signal_release(void);
void fg_signal_inherit(bool was_blocked);
/* In a child of fork, where nothing is pending and nobody waits. */
void fg_signals_forked(void);

#endif
