/* SPDX-License-Identifier: Apache-2.0 */
/* A new trace file, and what a reader should know of the process before its first sample. */
#ifndef FG_COLLECTOR_INTRODUCE_H
#define FG_COLLECTOR_INTRODUCE_H

#include "collector/state.h"

/* Write the program, its arguments, modules, names and regions into the new file. */
void fg_trace_introduce(struct fg_thread *thread);
/* Make the trace file if this process has none yet; false if there is none. */
bool fg_ensure_file(struct fg_thread *thread);

#endif
