/* SPDX-License-Identifier: Apache-2.0 */
/* What happens when our signal arrives. */
#ifndef FG_COLLECTOR_HANDLER_H
#define FG_COLLECTOR_HANDLER_H

#include "collector/state.h"

void fg_on_signal(int signal, siginfo_t *info, void *context);

/*
 * Is sampling on: not paused, not before the delay or past the duration, not switched off by the
 * control file?
 */
bool fg_sampling_on(uint64_t now_ns);
/* Make the trace file if this process has none yet; false if there is none. */
bool fg_ensure_file(struct fg_thread *thread);
/* What a reader should know of the process: program, arguments, modules. */
void fg_trace_introduce(struct fg_thread *thread);

#endif
