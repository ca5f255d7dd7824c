/* SPDX-License-Identifier: Apache-2.0 */
/* Transactions of a session, and what it knows between two of them. */
#ifndef FG_STORE_TRANSACTION_H
#define FG_STORE_TRANSACTION_H

#include "base/base.h"
#include "base/error.h"

struct fg_store;

/* Forget how far a run in progress is stored. */
void fg_store_forget_progress(struct fg_store *store);

int fg_store_begin(struct fg_store *store, struct fg_error *err) FG_NODISCARD;
/* While no other session writes: for what looks at or removes rows that others write. */
int fg_store_begin_alone(struct fg_store *store, struct fg_error *err) FG_NODISCARD;

/* Everything up to the commit or fg_store_undo() is one transaction (serving/batch.h). */
int fg_store_begin_batch(struct fg_store *store, struct fg_error *err) FG_NODISCARD;

/* Commit if `status` is FG_OK, else or on failure roll back.  Returns the outcome. */
int fg_store_end(struct fg_store *store, int status, struct fg_error *err) FG_NODISCARD;

/*
 * A consistent view for several queries; does nothing inside a transaction.  Pass the result to
 * fg_store_view_end().
 */
int fg_store_view(struct fg_store *store, bool *mine, struct fg_error *err) FG_NODISCARD;

void fg_store_view_end(struct fg_store *store, bool mine);

/* Roll back and forget every id that the transaction may have made. */
void fg_store_undo(struct fg_store *store);
/* Forget the ids of rows that garbage collection may remove before the next batch. */
void fg_store_forget_batch(struct fg_store *store);
void fg_store_forget_ids(struct fg_store *store);

#endif
