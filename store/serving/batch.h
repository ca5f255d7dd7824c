/* SPDX-License-Identifier: Apache-2.0 */
/* Several saves as one transaction. */
#ifndef FG_STORE_SERVING_BATCH_H
#define FG_STORE_SERVING_BATCH_H

#include "base/base.h"
#include "base/error.h"

struct fg_store;

/*
 * Several saves as one transaction (group commit): all or none.  One that fails before it has
 * written anything spares the others; one that fails half-way spoils them all, and only undo is
 * left.
 */
int fg_store_batch_begin(struct fg_store *store, struct fg_error *err) FG_NODISCARD;

bool fg_store_batch_is_spoiled(const struct fg_store *store);

void fg_store_batch_undo(struct fg_store *store);

int fg_store_batch_end(struct fg_store *store, struct fg_error *err) FG_NODISCARD;

#endif
