/* SPDX-License-Identifier: Apache-2.0 */
/* Finds functions of two builds that may be the same code. Private to gate/. */
#ifndef FG_GATE_SYMBOL_SIMILARITY_H
#define FG_GATE_SYMBOL_SIMILARITY_H

#include "model/profile_set.h"

/*
 * Are the names equal except for template arguments, parameters, return type, version namespace or
 * clone?
 */
bool fg_symbols_have_same_name(const char *a, const char *b);
/*
 * Are the names in the same scope and similar at both ends? Example: luaD_pretailcall,
 * luaD_precall.
 */
bool fg_symbols_have_similar_names(const char *a, const char *b);
/*
 * Returns, for each function of the set, the function whose row it belongs to. The caller frees the
 * array. Functions with the same library, file, line and name (ignoring parameters), such as a
 * symbol and its inlined copies, belong to one row.
 */
uint32_t *fg_symbols_rows(const struct fg_profile_set *set);
/*
 * Do the functions have the same name in different libraries, as when a library is linked
 * statically instead of dynamically?
 */
bool fg_symbols_are_relinked(const struct fg_profile_function *a,
			     const struct fg_profile_function *b);

#endif
