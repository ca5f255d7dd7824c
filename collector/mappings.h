/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which mappings of the process are resident, and how much of each: near the peak of the heap and
 * at the end.  Signal-safe, for one thread at a time.
 */
#ifndef FG_COLLECTOR_MAPPINGS_H
#define FG_COLLECTOR_MAPPINGS_H

#include "collector/history.h"

/* Look, if the heap has grown since the last time, and not too much time was spent on it. */
void fg_mappings_look(struct fg_held_now now);
/* Write what was seen at the peak, and what is there now, as part of a state. */
void fg_mappings_write(struct fg_thread *writer, struct fg_held_now now, uint32_t state);
/* In a child of fork. */
void fg_mappings_forget(void);

#endif
