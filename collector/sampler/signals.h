/* SPDX-License-Identifier: Apache-2.0 */
/*
 * We and the program share one signal. A shadow keeps the program's settings for it, reports them
 * back to the program, and applies them to signals that are not ours.
 */
#ifndef FG_COLLECTOR_SIGNALS_H
#define FG_COLLECTOR_SIGNALS_H

#include "collector/sampler/state.h"

/* Takes over the signal for this handler and unblocks it in this thread. */
void fg_signal_install(void (*handler)(int signal, siginfo_t *info, void *context));
/* Call when this thread has its slot: publishes how it treats signals sent to the process. */
void fg_signal_begin(void);
/*
 * Hands a signal that is not ours to the program, as the kernel would have; false: the program must
 * not notice anything. `flags` gets the flags of the program's handler.
 */
bool fg_signal_forward(int signal, siginfo_t *info, void *context, int *flags);
/*
 * Like fg_signal_forward(), for a kept signal whose wake the kernel has dropped in favour of a
 * sample.
 */
bool fg_signal_forward_kept(int signal, void *context, int *flags);
/* Call when the handler has received a signal of this thread's clock, or of its tick. */
void fg_signal_arrived(bool tick);
/*
 * fg_signal_expose() sets, for the next image, the mask and disposition that the program has asked
 * for; fg_signal_hide() undoes that.
 */
void fg_signal_expose(void);
void fg_signal_hide(void);
/*
 * A new thread inherits the mask that the program has asked for. fg_signal_hold() returns whether
 * that mask blocks our signal; from then on the signal is really blocked, in the creator until
 * fg_signal_release(), and in the new thread until fg_signal_inherit().
 */
bool fg_signal_hold(void);
void fg_signal_release(void);
void fg_signal_inherit(bool was_blocked);
/* Discards the pending signals in a child of fork. */
void fg_signals_forked(void);

#endif
