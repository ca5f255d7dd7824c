/* SPDX-License-Identifier: Apache-2.0 */
/* What must follow when series are removed. */
#ifndef FG_STORE_REMOVAL_H
#define FG_STORE_REMOVAL_H

#include "base/base.h"
#include "base/error.h"

struct fg_store;

/*
 * After series were removed: SQLite gives the numbers of the newest to those that come next.  A
 * seal that reaches beyond what is there would take them for its own; what is left of it waits to
 * be sealed anew.
 */
int fg_store_cut_seals(struct fg_store *store, struct fg_error *err) FG_NODISCARD;

#endif
