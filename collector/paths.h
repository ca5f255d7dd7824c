/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two tables, both process-wide, insert-only and lock-free: frames (code address -> rule, id) and call paths
 * (parent path, frame -> id).  What is new is written to the trace at once by the thread that met it.  Signal-safe.
 */
#ifndef FG_COLLECTOR_PATHS_H
#define FG_COLLECTOR_PATHS_H

#include "collector/state.h"

struct fg_frame_info {
	uint64_t rule;
	uint32_t id; /* of the frame in the trace; 0 if the table is full */
};

int fg__paths_init(void);
/* Forget everything: a child of fork starts a file of its own. */
void fg__paths_clear(void);
/* What is known of the code at `pc`; `exact`: interrupted there, otherwise a return address. */
struct fg_frame_info fg__frame_find(struct fg_thread *thread, uintptr_t pc, bool exact);
/* The path `parent` -> `frame`, 0 if the table is full.  frame 0: a cut that leaves out `removed` frames. */
uint32_t fg__path_extend(struct fg_thread *thread, uint32_t parent, uint32_t frame);
uint32_t fg__path_cut(struct fg_thread *thread, uint32_t parent, uint64_t removed);

#endif
