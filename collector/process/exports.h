/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the dynamic symbols of a loaded object. Allocates nothing, calls nothing but strcmp() and
 * resolvers of IFUNCs, and takes no lock: the object must stay loaded.
 */
#ifndef FG_COLLECTOR_EXPORTS_H
#define FG_COLLECTOR_EXPORTS_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/* Tables that the object lacks are NULL. */
struct fg_exports {
	uintptr_t bias;
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint16_t *versions;
	const uint32_t *gnu_hash;
	const uint32_t *hash;
};

enum {
	FG_VERSION_HIDDEN = 0x8000 /* not the default version of its name */
};

/* `dynamic` may be NULL. */
void fg_exports_read(struct fg_exports *exports, uintptr_t bias, const ElfW(Dyn) * dynamic);
/*
 * Returns the address in a dynamic entry; the loader has already added the bias for most objects.
 */
const void *fg_dynamic_place(uintptr_t bias, uintptr_t value);
uint32_t fg_name_hash(const char *name);
/* Returns the next defined symbol of this name after `index`, which is 0 at first; 0: no more. */
uint32_t fg_exports_next(const struct fg_exports *exports, const char *name, uint32_t hash,
			 uint32_t index);
/* Returns one past the last symbol that a hash table knows. */
uint32_t fg_exports_end(const struct fg_exports *exports);
/* Returns the address of the symbol; calls the resolver of an IFUNC. */
uintptr_t fg_export_address(const struct fg_exports *exports, uint32_t index);

#endif
