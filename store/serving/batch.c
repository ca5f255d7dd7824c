// SPDX-License-Identifier: Apache-2.0
#include "store/serving/batch.h"

#include "store/db.h"
#include "store/session.h"
#include "store/transaction.h"

int fg_store_batch_begin(struct fg_store *store, struct fg_error *err)
{
	const int status = fg_db_begin(store->db, true, err);

	store->in_batch = status == FG_OK;
	return status;
}

bool fg_store_batch_is_spoiled(const struct fg_store *store)
{
	return store->is_spoiled;
}

void fg_store_batch_undo(struct fg_store *store)
{
	store->in_batch = false;
	store->is_spoiled = false;
	fg_store_undo(store);
}

int fg_store_batch_end(struct fg_store *store, struct fg_error *err)
{
	int status = FG_OK;

	FG_ASSERT(!store->is_spoiled);
	store->in_batch = false;
	status = fg_db_commit(store->db, err);
	if (status != FG_OK) {
		fg_store_undo(store);
		return status;
	}
	fg_store_forget_batch(store);
	if (store->shared) {
		store->shared->ops->add(store->shared, &store->functions, &store->nodes);
		fg_store_forget_ids(store);
	}
	return FG_OK;
}
