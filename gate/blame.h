/* SPDX-License-Identifier: Apache-2.0 */
/* Charges time in unchanged libraries to their changed callers; see blame.c. Private to gate/. */
#ifndef FG_GATE_BLAME_H
#define FG_GATE_BLAME_H

#include "model/profile_set.h"
#include "model/run.h"

/* Does the library have the same build-id in both arms? False if that is unknown. */
bool fg_blame_is_same_library(const struct fg_series *series, const char *library);
/* Returns, for every node, the node that its time is charged to. The caller frees the array. */
uint32_t *fg_blame_nodes(const struct fg_profile_set *set, const struct fg_series *series);

/* Is this a function of the dynamic linker, whose work depends on addresses and on paths? */
bool fg_blame_is_linker(const struct fg_profile_function *function);
/* Is this the library of code that the program generated at run time? */
bool fg_blame_is_generated(const char *library);

#endif
