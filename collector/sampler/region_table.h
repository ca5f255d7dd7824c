/* SPDX-License-Identifier: Apache-2.0 */
/* The names and the tree of regions that a program has marked so far, process-wide. */
#ifndef FG_COLLECTOR_REGION_TABLE_H
#define FG_COLLECTOR_REGION_TABLE_H

#include "collector/sampler/state.h"

/* Returns the number of a name, assigned when it is first used; 0: the table is full. */
uint32_t fg_name_find(const char *text);
/* Returns the region of this name inside `parent`; 0: the table is full. */
uint32_t fg_region_find(uint32_t parent, uint32_t name);

/* Returns the number of regions, which are numbered from 1. */
uint32_t fg_region_count(void);
uint32_t fg_region_parent(uint32_t region);
uint32_t fg_region_name(uint32_t region);

/* Writes all names and regions again, into a new file. */
void fg_region_table_rewrite(struct fg_thread *thread);

#endif
