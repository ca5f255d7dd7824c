/* SPDX-License-Identifier: Apache-2.0 */
/* Finds functions by the ids of their rows. */
#ifndef FG_STORE_FUNCTIONS_H
#define FG_STORE_FUNCTIONS_H

#include "base/arena.h"
#include "base/base.h"
#include "base/error.h"
#include "base/map.h"
#include "model/profile_set.h"

struct fg_store;

struct fg_function_row {
	uint64_t id;
	struct fg_profile_function function;
};

/* Functions read so far. */
struct fg_functions {
	struct fg_map by_id; /* id → struct fg_function_row in the arena */
	struct fg_arena arena;
	int64_t last; /* all rows up to this id were read */
};

/*
 * Finds a function by its id. Its strings live until fg_store_limit_functions(), which is called
 * between queries.
 */
int fg_store_function(struct fg_store *store, uint64_t id, struct fg_function_row *row,
		      struct fg_error *err) FG_NODISCARD;

void fg_store_limit_functions(struct fg_store *store);

void fg_store_forget_functions(struct fg_store *store);

#endif
