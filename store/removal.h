/* SPDX-License-Identifier: Apache-2.0 */
/* What must follow when series are removed. */
#ifndef FG_STORE_REMOVAL_H
#define FG_STORE_REMOVAL_H

#include "base/base.h"
#include "base/error.h"

struct fg_store;

/*
 * Call after series were removed: SQLite reuses the ids of the newest ones.  A seal that reaches
 * beyond the last series would claim the next ones; it is removed, and its remaining series wait to
 * be sealed again.
 */
int fg_store_cut_seals(struct fg_store *store, struct fg_error *err) FG_NODISCARD;

#endif
