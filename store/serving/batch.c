// SPDX-License-Identifier: Apache-2.0
#include "store/serving/batch.h"

#include "store/db.h"
#include "store/session.h"
#include "store/transaction.h"

int fg_store_batch_begin(struct fg_store *store, struct fg_error *err)
{
	return fg_store_begin_batch(store, err);
}

bool fg_store_batch_is_spoiled(const struct fg_store *store)
{
	return store->batch.is_spoiled;
}

void fg_store_batch_undo(struct fg_store *store)
{
	store->batch.is_open = false;
	store->batch.is_spoiled = false;
	fg_store_undo(store);
}

int fg_store_batch_end(struct fg_store *store, struct fg_error *err)
{
	int status = FG_OK;

	FG_ASSERT(!store->batch.is_spoiled);
	store->batch.is_open = false;
	status = fg_db_commit(store->db, err);
	if (status != FG_OK) {
		fg_store_undo(store);
		return status;
	}
	fg_store_forget_batch(store);
	return FG_OK;
}
