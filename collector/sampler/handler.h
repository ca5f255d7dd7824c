/* SPDX-License-Identifier: Apache-2.0 */
/* What happens when our signal arrives. */
#ifndef FG_COLLECTOR_HANDLER_H
#define FG_COLLECTOR_HANDLER_H

#include "collector/sampler/state.h"

/* Before the thread's clocks are stopped: what no handler will come to see.  Under its `busy`. */
void fg_take_last_news(struct fg_thread *thread);
void fg_on_signal(int signal, siginfo_t *info, void *context);

#endif
