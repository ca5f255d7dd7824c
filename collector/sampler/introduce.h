/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts a new trace file with the facts about the process that a reader needs before the first
 * sample.
 */
#ifndef FG_COLLECTOR_INTRODUCE_H
#define FG_COLLECTOR_INTRODUCE_H

#include "collector/sampler/state.h"

/* Writes the program, its arguments, modules, names and regions into the new file. */
void fg_trace_introduce(struct fg_thread *thread);
/* Creates the trace file unless this process has one; false if it cannot be created. */
bool fg_ensure_file(struct fg_thread *thread);

#endif
