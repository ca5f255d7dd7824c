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

/* Write what the saves left for the end; failing spoils the batch.  The end does it, too. */
int fg_store_batch_write(struct fg_store *store, struct fg_error *err) FG_NODISCARD;

/* On failure the batch is undone. */

int fg_store_batch_end(struct fg_store *store, struct fg_error *err) FG_NODISCARD;

/* May several sessions write at the same time? */
bool fg_store_takes_writers(const struct fg_store *store);

/*
 * Can a batch be committed before it reaches the disk?  Then, after fg_store_defer(), batches of
 * this session are; fg_store_sync(), of any session, waits until all that was committed is there.
 */
bool fg_store_can_defer(struct fg_store *store);
int fg_store_defer(struct fg_store *store, struct fg_error *err) FG_NODISCARD;
int fg_store_sync(struct fg_store *store, struct fg_error *err) FG_NODISCARD;
/*
 * How long the log was after this session's last commit, and moving what is in it to the database's
 * file: whoever defers sees to it.
 */
size_t fg_store_log_pages(const struct fg_store *store);
int fg_store_trim_log(struct fg_store *store, struct fg_error *err) FG_NODISCARD;

#endif
