/* SPDX-License-Identifier: Apache-2.0 */
/* Transactions of a session, and what it knows between two of them. */
#ifndef FG_STORE_TRANSACTION_H
#define FG_STORE_TRANSACTION_H

#include "base/base.h"
#include "base/error.h"

struct fg_store;

/* Forget how far a run in progress is stored. */
void fg_store_forget_progress(struct fg_store *store);

/* One that writes, unless it is part of fg_store_batch_begin(). */
int fg_store_begin(struct fg_store *store, struct fg_error *err) FG_NODISCARD;
/* Commit if `status` is FG_OK, else or on failure roll back.  Returns the outcome. */
int fg_store_end(struct fg_store *store, int status, struct fg_error *err) FG_NODISCARD;

/*
 * Everything until fg_store_batch_end() or fg_store_batch_undo() is one transaction: all or
 * nothing.  A part that fails before it writes anything leaves the others intact; one that fails
 * half-way spoils them all, and only undo is left.
 */
int fg_store_batch_begin(struct fg_store *store, struct fg_error *err) FG_NODISCARD;
bool fg_store_batch_is_spoiled(const struct fg_store *store);
void fg_store_batch_undo(struct fg_store *store);
/* On failure it is undone. */
int fg_store_batch_end(struct fg_store *store, struct fg_error *err) FG_NODISCARD;

/*
 * A consistent view for several queries; does nothing inside a transaction.  Pass the result to
 * fg_store_view_end().
 */
int fg_store_view(struct fg_store *store, bool *mine, struct fg_error *err) FG_NODISCARD;

void fg_store_view_end(struct fg_store *store, bool mine);

void fg_store_forget_ids(struct fg_store *store);

#endif
