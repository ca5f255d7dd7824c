/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where exceptions end: which path caught what another one threw.  A part of what counts
 * exceptions.  Signal-safe.
 */
#ifndef FG_COLLECTOR_CATCHES_H
#define FG_COLLECTOR_CATCHES_H

#include "collector/counting/counts.h"

/* The thread, under `busy`, throws this object from `path`; `measure` is that of its type. */
void fg_catches_throw(const struct fg_thread *thread, const void *object, uint32_t path,
		      uint32_t measure);
/* It catches the exception at `path`. */
void fg_catches_catch(const struct fg_thread *thread, const void *exception, uint32_t path);
/* Write what was not written yet. */
void fg_catches_write(struct fg_thread *writer);
/* In a child of fork. */
void fg_catches_forget(void);

#endif
