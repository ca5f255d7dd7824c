/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of the heap the process held over time: a few hundred points, however long it runs.
 * Signal-safe.
 */
#ifndef FG_COLLECTOR_HISTORY_H
#define FG_COLLECTOR_HISTORY_H

#include "collector/sampler/state.h"

#include <stddef.h>

struct fg_held_now {
	size_t bytes;
	size_t most; /* so far */
};

/*
 * Something was allocated or freed.  Where a point is due, it is kept, unless another thread keeps
 * one just then.
 */
void fg_history_look(struct fg_held_now now);
/* A dump with this number is taken. */
void fg_history_write_dump(struct fg_thread *writer, struct fg_held_now now, uint32_t dump);
/* The points, and what is held now as the last one, as part of a state. */
void fg_history_write(struct fg_thread *writer, struct fg_held_now now, uint32_t state);
/* In a child of fork. */
void fg_history_forget(void);

/* ---- mappings.c: which mappings are resident, near the peak of the heap and at the end ---- */

/* Look, if the heap has grown since the last time, and not too much time was spent on it. */
void fg_mappings_look(struct fg_held_now now);
/* Write what was seen at the peak, and what is there now, as part of a state. */
void fg_mappings_write(struct fg_thread *writer, struct fg_held_now now, uint32_t state);
/* In a child of fork. */
void fg_mappings_forget(void);

#endif
