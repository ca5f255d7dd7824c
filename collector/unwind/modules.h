/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps a table of the mapped objects. A module gets an id when it is first found, even in a
 * handler, and stops being live when dlclose() unmaps it; a file with the same build-id, mapped
 * again at the same place, gets the old id back. _dl_find_object() finds objects; if libc lacks it
 * (musl, glibc before 2.35), this table is searched instead.
 */
#ifndef FG_COLLECTOR_MODULES_H
#define FG_COLLECTOR_MODULES_H

#include "collector/sampler/state.h"

/* Reserves the table; call before anything else here. Returns 0 or a negative errno. */
int fg_modules_init(void);
/* Returns the module that contains `pc`, registered if it was unknown; 0: none. Signal-safe. */
uint32_t fg_module_find(struct fg_thread *thread, uintptr_t pc);
/*
 * Like fg_module_find(), for an address at which the thread was earlier: its module may be about to
 * be unloaded, or gone without our noticing. Returns 0 if its tables cannot be read.
 */
uint32_t fg_module_find_past(struct fg_thread *thread, uintptr_t pc);
/* Returns the module of the kernel's functions, which has no address; 0: no room. Signal-safe. */
uint32_t fg_module_of_kernel(struct fg_thread *thread);
struct fg_module *fg_module(uint32_t id);
/* Like fg_module_find(), among registered modules only; NULL: none. Signal-safe. */
const struct fg_module *fg_module_around(uintptr_t address);

static inline bool fg_module_live(uint32_t id)
{
	return id == 0 || atomic_load_explicit(&fg_g.modules[id].live, memory_order_acquire);
}

/* Registers all loaded modules. Takes the loader's lock: do not call it in a handler. */
void fg_modules_scan(struct fg_thread *thread);
/* Marks the modules that are gone after a dlclose(). */
void fg_modules_check(struct fg_thread *thread);
/* Writes all live modules again, into a new file, in a child of fork. */
void fg_modules_rewrite(struct fg_thread *thread);

#endif
