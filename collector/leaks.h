/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which blocks are lost: no pointer to them, or into them, is left in the program's variables, on
 * its stacks or in a block that is not lost itself.
 */
#ifndef FG_COLLECTOR_LEAKS_H
#define FG_COLLECTOR_LEAKS_H

#include "collector/blocks.h"

/*
 * Calls `lost` with each of them.  Other threads may run on: what they move meanwhile may be found
 * in neither place.  False: memory cannot be searched here.
 */
bool fg_leaks_find(void (*lost)(const struct fg_memory_block *block));

#endif
