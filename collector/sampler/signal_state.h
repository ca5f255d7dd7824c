/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shadow of what the program does with our signal, shared by signals.c, signal_masks.c and
 * signal_waits.c.
 */
#ifndef FG_COLLECTOR_SIGNAL_STATE_H
#define FG_COLLECTOR_SIGNAL_STATE_H

#include <signal.h>
#include <stdbool.h>

/* Does the program believe that the signal is blocked in this thread? */
extern _Thread_local bool fg_signal_blocked __attribute__((tls_model("initial-exec")));
/* Other threads read it to learn whether this one takes a signal sent to the process. */
void fg_signal_set_blocked(bool is_blocked);

/* The program's action for the signal. */
struct sigaction fg_signal_shadow(void);

/* A signal that the program blocks is kept: for this thread, or for the process. */
bool fg_signal_has_pending(void);
bool fg_signal_take_pending(siginfo_t *info);
/* Runs the program's handler on a kept signal, if the program does not block it any more. */
void fg_signal_deliver_pending(void);
/* Sends until the handler has it: the kernel drops a signal while a sample is pending. */
void fg_signal_deliver(siginfo_t *info);
void fg_signal_send_to_self(siginfo_t *info);
/* Only wakes this thread, to take a signal that is pending for the process. */
bool fg_signal_is_wake(const siginfo_t *info);

#endif
