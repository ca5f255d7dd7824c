/* SPDX-License-Identifier: Apache-2.0 */
/* Ends the collector in a process image, or resumes it. */
#ifndef FG_COLLECTOR_PROCESS_H
#define FG_COLLECTOR_PROCESS_H

#include "collector/sampler/state.h"

/*
 * Stops the calling thread's clocks, and writes the totals of the process and the kind of its end.
 * Does nothing in a child of vfork.
 */
void fg_process_end(enum fg_trace_end how);
/* Undoes fg_process_end() after a failed exec. */
void fg_process_resume(void);

#endif
