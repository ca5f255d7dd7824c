/* SPDX-License-Identifier: Apache-2.0 */
/* Stores the conditions of a run as rows. */
#ifndef FG_STORE_CONDITIONS_H
#define FG_STORE_CONDITIONS_H

#include "base/base.h"
#include "base/error.h"
#include "model/environment.h"

struct fg_store;

/* Numbers of scopes: the host, then both sides of the run, then both sides of each series. */
enum {
	FG_SCOPE_HOST = 0,
	FG_SCOPE_SIDES = 1,  /* plus the arm */
	FG_SCOPE_SERIES = 3, /* plus 2 * the series' position, plus the arm */
};

/* Conditions of a run, with the number of their scope. */
struct fg_scoped {
	int64_t run;
	int64_t scope;
	const struct fg_environment *environment;
};

/* Stores conditions. The call may be repeated for a scope that grew. */
int fg_store_put_conditions(struct fg_store *store, const struct fg_scoped *scoped, size_t count,
			    struct fg_error *err) FG_NODISCARD;

#endif
