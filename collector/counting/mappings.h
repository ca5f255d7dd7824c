/* SPDX-License-Identifier: Apache-2.0 */
/* Resident memory by mapping, near the peak of the heap and at the end.  Signal-safe. */
#ifndef FG_COLLECTOR_MAPPINGS_H
#define FG_COLLECTOR_MAPPINGS_H

#include "collector/sampler/state.h"

#include <stddef.h>

/* The state of the heap. */
struct fg_held_now {
	size_t bytes;
	size_t most; /* so far */
};

/* Reads the mappings if the heap has grown since the last time and the time spent allows it. */
void fg_mappings_look(struct fg_held_now now);
/* Writes the mappings near the peak and those of now, as part of a state. */
void fg_mappings_write(struct fg_thread *writer, struct fg_held_now now, uint32_t state);
/* In a child of fork: starts from nothing. */
void fg_mappings_forget(void);

#endif
