/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scope of a C++ function without a linkage name: "std::" for __unguarded_partition<...>,
 * "reco::work::<lambda(double)>::" for operator(). Compilers omit the linkage name of functions
 * that no other object file can call: lambdas, local classes, templates of either. An entry of
 * debug information does not refer to its parent, so one walk over the unit records the scopes of
 * all such functions when the first of them is needed.
 */
#ifndef FG_BINARY_DEBUG_SCOPES_H
#define FG_BINARY_DEBUG_SCOPES_H

#include "base/pair_index.h"
#include "base/strbuf.h"

#include <elfutils/libdw.h>

struct fg_debug_scopes {
	Dwarf_Die *unit; /* root entry; the other members are filled at the first query */
	bool made;
	struct fg_pair_index known; /* address of a function's entry → offset into texts */
	struct fg_strbuf texts;     /* NUL-terminated; offset 0 is "" */
};

/* Returns a scope such as "reco::work::<lambda(double)>", or ""; valid until the next call. */
const char *fg_debug_scope_of(struct fg_debug_scopes *scopes, Dwarf_Die *function);
void fg_debug_scopes_release(struct fg_debug_scopes *scopes);

#endif
