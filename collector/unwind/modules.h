/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mapped objects.  A module gets an id when it is met first, be it in a handler; it loses its
 * life when dlclose() has unmapped it; the same file mapped again at the same place gets its old id
 * back.  Objects are found by _dl_find_object(); before glibc 2.35, which has none, in this table.
 */
#ifndef FG_COLLECTOR_MODULES_H
#define FG_COLLECTOR_MODULES_H

#include "collector/sampler/state.h"

/* Reserve the table; before anything else here.  0 or a negative errno. */
int fg_modules_init(void);
/*
 * The module that contains `pc`, registered if it was unknown; id 0 (and NULL) if no module does.
 * Signal-safe.
 */
uint32_t fg_module_find(struct fg_thread *thread, uintptr_t pc);
/*
 * The same of an address that the thread was at some time ago: its module may be about to go, or
 * have gone without our having seen it.  0 if its tables cannot be read.
 */
uint32_t fg_module_find_past(struct fg_thread *thread, uintptr_t pc);
/* The one that the kernel's functions belong to, which lies nowhere; 0: no room.  Signal-safe. */
uint32_t fg_module_of_kernel(struct fg_thread *thread);
struct fg_module *fg_module(uint32_t id);
/* The same of those that are registered already; NULL: none.  Signal-safe. */
const struct fg_module *fg_module_around(uintptr_t address);

static inline bool fg_module_live(uint32_t id)
{
	return id == 0 || atomic_load_explicit(&fg_g.modules[id].live, memory_order_acquire);
}

/* Make all loaded modules known.  Takes the loader's lock: never in a handler. */
void fg_modules_scan(struct fg_thread *thread);
/* After a dlclose(): find the modules that are gone. */
void fg_modules_check(struct fg_thread *thread);
/* Write all known ones again: into a new file, in a child of fork. */
void fg_modules_rewrite(struct fg_thread *thread);

#endif
