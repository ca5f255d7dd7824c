/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One signal is used by two parties: ours and the program.  What the program does with it is kept
 * in a shadow, told back to it when it asks, and carried out for signals that are not ours.
 */
#ifndef FG_COLLECTOR_SIGNALS_H
#define FG_COLLECTOR_SIGNALS_H

#include "collector/state.h"

/* Take the signal over for this handler and let it through in this thread. */
void fg_signal_install(void (*handler)(int signal, siginfo_t *info, void *context));
/*
 * This thread has been given its slot: let the others know what it does with signals for the
 * process.
 */
void fg_signal_begin(void);
/*
 * Hand a signal that is not ours to the program, as the kernel would have; false: the program is
 * not to notice anything.
 */
bool fg_signal_forward(int signal, siginfo_t *info, void *context);
/*
 * As above, for a signal that was kept for this thread and whose wake the kernel has dropped for
 * the sake of a sample.
 */
bool fg_signal_forward_kept(int signal, void *context);
/* The handler has got a signal of this thread's clock, or of its tick. */
void fg_signal_arrived(bool tick);
/*
 * Show the next program image the mask and disposition that this one believes in; and take that
 * back.
 */
void fg_signal_expose(void);
void fg_signal_hide(void);
/*
 * A thread that is made inherits what the program thinks is blocked.  From `hold`, which says that,
 * to `release` in the maker our signal is blocked in earnest, and in the new thread until
 * `inherit`.
 */
bool fg_signal_hold(void);
void fg_signal_release(void);
void fg_signal_inherit(bool was_blocked);
/* In a child of fork, where nothing is pending and nobody waits. */
void fg_signals_forked(void);

#endif
