/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the symbols lie that a program or library of another process exports: from its tables in
 * that memory, of which nothing is believed.
 */
#ifndef FG_OUTSIDE_EXPORTS_H
#define FG_OUTSIDE_EXPORTS_H

#include "profile/attach/mappings.h"
#include "profile/attach/memory.h"

/* False: it exports nothing, or not all of these.  Addresses in the order of the names. */
bool fg_exports_find(struct fg_memory *memory, const struct fg_mapping *mapping,
		     const char *const *names, size_t count, uint64_t *addresses);
/* The same from the complete symbol table of a file, for programs that export nothing. */
bool fg_exports_find_in_file(const char *path, uint64_t bias, const char *const *names,
			     size_t count, uint64_t *addresses);

#endif
