/* SPDX-License-Identifier: Apache-2.0 */
/* Start and end of the collector in a process image. */
#ifndef FG_COLLECTOR_PROCESS_H
#define FG_COLLECTOR_PROCESS_H

#include "collector/sampler/state.h"

/* Totals of the process and how it ends; nothing is sampled any more if it is the end. */
void fg_process_end(enum fg_trace_end how);
/* The exec has failed: as if it had not been tried. */
void fg_process_resume(void);

#endif
