/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks up symbols of loaded objects by name, without dlsym(): before glibc 2.34, dlsym() is in
 * libdl, which the program may not have loaded, and loading libdl would change what is measured.
 * Finds the default version of a symbol, and resolves IFUNCs. Takes the loader's lock: do not call
 * it in a handler.
 */
#ifndef FG_COLLECTOR_SYMBOLS_H
#define FG_COLLECTOR_SYMBOLS_H

#include <stdbool.h>

enum {
	FG_SYMBOLS_MAX = 64
};

enum fg_symbol_scope {
	FG_SYMBOL_ANY,         /* the first in loading order */
	FG_SYMBOL_NEXT,        /* the first after this library: dlsym(RTLD_NEXT) */
	FG_SYMBOL_SAME_OBJECT, /* in the object that contains `address` */
};

/* Only FG_SYMBOL_SAME_OBJECT uses `address`. NULL: not found. */
void *fg_symbol_find(enum fg_symbol_scope scope, const void *address, const char *name);
/*
 * Finds the FG_SYMBOL_NEXT definition of each name whose `found` is NULL, in one pass; at most
 * FG_SYMBOLS_MAX.
 */
void fg_symbols_next(const char *const *names, void **found, unsigned count);
/* Returns the loader's path of the object that holds the address, or NULL. */
const char *fg_symbol_object(const void *address);
/* Does this library hold the address? */
bool fg_symbol_is_own(const void *address);

#endif
