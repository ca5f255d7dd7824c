/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shadow of the program's use of our signal, shared by signals.c, signal_masks.c and
 * signal_waits.c.
 */
#ifndef FG_COLLECTOR_SIGNAL_STATE_H
#define FG_COLLECTOR_SIGNAL_STATE_H

#include <signal.h>
#include <stdbool.h>

/* Did the program block the signal in this thread? */
extern _Thread_local bool fg_signal_blocked __attribute__((tls_model("initial-exec")));
/* Also shows other threads whether this thread takes a signal sent to the process. */
void fg_signal_set_blocked(bool is_blocked);

/* Returns the program's action for the signal. */
struct sigaction fg_signal_shadow(void);

/* Is a signal kept, for this thread or for the process, because the program blocks it? */
bool fg_signal_has_pending(void);
bool fg_signal_take_pending(siginfo_t *info);
/* Runs the program's handler on a kept signal if the program no longer blocks it. */
void fg_signal_deliver_pending(void);
/* Sends the signal until the handler gets it: the kernel drops it while a sample is pending. */
void fg_signal_deliver(siginfo_t *info);
void fg_signal_send_to_self(siginfo_t *info);
/* Does the signal only wake this thread, so that it takes a signal kept for the process? */
bool fg_signal_is_wake(const siginfo_t *info);

#endif
