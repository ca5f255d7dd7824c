/* SPDX-License-Identifier: Apache-2.0 */
/* Start and end of the collector in a process image. */
#ifndef FG_COLLECTOR_PROCESS_H
#define FG_COLLECTOR_PROCESS_H

#include "collector/state.h"

/* Totals of the process and how it ends; nothing is sampled any more if it is the end. */
void fg_process_end(enum fg_trace_end how);
/* The exec has failed: as if it had not been tried. */
void fg_process_resume(void);
void fg_collector_options_parse(char *const *environment, struct fg_options *options);
/* Switch sampling for the whole process; a record says when. */
void fg_sampling_set(bool on);

/* Fields of a stat file under /proc, numbered as in proc(5). */
enum {
	STAT_FLAGS = 9,
	STAT_START = 22,
};

/* A number out of it; 0 when it cannot be read. */
uint64_t fg_stat_field(const char *path, int number);

#endif
