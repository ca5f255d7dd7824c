/* SPDX-License-Identifier: Apache-2.0 */
/* Find or add the rows of functions. */
#ifndef FG_STORE_INTERN_H
#define FG_STORE_INTERN_H

#include "base/base.h"
#include "base/error.h"
#include "model/profile_set.h"

struct fg_store;

/* Ids of these functions: found where they are 0. */
int fg_store_intern(struct fg_store *store, const struct fg_profile_function *functions,
		    size_t count, int64_t *ids, struct fg_error *err) FG_NODISCARD;

#endif
