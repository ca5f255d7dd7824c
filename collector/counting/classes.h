/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How large were the requests of a site, and how long did its blocks live?  Counts by classes of
 * powers of two.  Signal-safe.
 */
#ifndef FG_COLLECTOR_CLASSES_H
#define FG_COLLECTOR_CLASSES_H

#include "collector/counting/live.h"

enum fg_class_kind {
	FG_CLASSES_OF_SIZES,     /* bytes asked for */
	FG_CLASSES_OF_LIFETIMES, /* allocations of its thread between a block and its end */
	FG_CLASS_KINDS,
};

/* Add `count`, which may be negative, to the class of `value` at the site of that number. */
void fg_classes_add(enum fg_class_kind kind, uint32_t number, uint64_t value, int count);
/* Fields of a record, a measure and a value each; false: there are none. */
bool fg_classes_are_known(enum fg_class_kind kind, uint32_t number);
void fg_classes_write(struct fg_thread *writer, enum fg_class_kind kind, uint32_t number);
/* The names of the classes that were met. */
void fg_classes_introduce(struct fg_thread *writer);
/* In a child of fork. */
void fg_classes_forget(void);

#endif
