/* SPDX-License-Identifier: Apache-2.0 */
/* Start and end of the collector in a process image. */
#ifndef FG_COLLECTOR_PROCESS_H
#define FG_COLLECTOR_PROCESS_H

#include "collector/state.h"

/* Totals of the process and how it ends; nothing is sampled any more if it is the end. */
void fg__process_end(enum fg_trace_end how);
/* The exec has failed: as if it had not been tried. */
void fg__process_resume(void);
void fg__options_parse(char *const *environment, struct fg_options *options);
/* Switch sampling for the whole process; a record says when. */
void fg__sampling_set(bool on);

#endif
