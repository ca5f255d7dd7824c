/* SPDX-License-Identifier: Apache-2.0 */
/* The handler of our signal. */
#ifndef FG_COLLECTOR_HANDLER_H
#define FG_COLLECTOR_HANDLER_H

#include "collector/sampler/state.h"

/* Weighs the kernel's last hits, before the thread's clocks stop.  Under its `busy`. */
void fg_take_last_hits(struct fg_thread *thread);
void fg_on_signal(int signal, siginfo_t *info, void *context);

#endif
