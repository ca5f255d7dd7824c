/* SPDX-License-Identifier: Apache-2.0 */
/* Find or add the rows of functions and call paths. */
#ifndef FG_STORE_INTERN_H
#define FG_STORE_INTERN_H

#include "base/base.h"
#include "base/error.h"
#include "base/map.h"
#include "model/profile_set.h"

struct fg_store;

/* Ids of everything a set names; arrays are the caller's, grown to the set's counts. */
struct fg_interned {
	int64_t *functions;
	size_t function_count;
	uint64_t *nodes;
	size_t node_count;
};

/* Continue `interned` up to the set's counts. */
int fg_store_intern(struct fg_store *store, const struct fg_profile_set *set,
		    struct fg_interned *interned, struct fg_error *err) FG_NODISCARD;

#endif
