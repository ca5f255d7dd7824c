/* SPDX-License-Identifier: Apache-2.0 */
/* Several saves as one transaction. */
#ifndef FG_STORE_SERVING_BATCH_H
#define FG_STORE_SERVING_BATCH_H

#include "base/base.h"
#include "base/error.h"

struct fg_store;

/*
 * Several saves in one transaction (group commit): all or none.  A save that fails before writing
 * anything leaves the batch intact; one that fails half-way spoils it, and only undo is left.
 */
int fg_store_batch_begin(struct fg_store *store, struct fg_error *err) FG_NODISCARD;

bool fg_store_batch_is_spoiled(const struct fg_store *store);

void fg_store_batch_undo(struct fg_store *store);

/* On failure the batch is undone. */
int fg_store_batch_end(struct fg_store *store, struct fg_error *err) FG_NODISCARD;

#endif
