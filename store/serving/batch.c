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

int fg_store_batch_write(struct fg_store *store, struct fg_error *err)
{
	const int status = fg_store_write_later(store, err);

	store->batch.is_spoiled = store->batch.is_spoiled || status != FG_OK;
	return status;
}

static int commit(struct fg_store *store, struct fg_error *err)
{
	int status = fg_store_write_later(store, err);

	if (status != FG_OK)
		return status;
	return fg_db_commit(store->db, err);
}

int fg_store_batch_end(struct fg_store *store, struct fg_error *err)
{
	int status = FG_OK;

	FG_ASSERT(!store->batch.is_spoiled);
	store->batch.is_open = false;
	status = commit(store, err);
	if (status != FG_OK) {
		fg_store_undo(store);
		return status;
	}
	fg_store_forget_batch(store);
	if (store->ids.shared) {
		store->ids.shared->ops->add(store->ids.shared, &store->ids.functions,
					    &store->ids.nodes);
		fg_store_forget_ids(store);
	}
	return FG_OK;
}

bool fg_store_takes_writers(const struct fg_store *store)
{
	return store->db->ops->lock_names;
}

bool fg_store_can_defer(struct fg_store *store)
{
	return store->db->ops->can_defer && store->db->ops->can_defer(store->db);
}

int fg_store_defer(struct fg_store *store, struct fg_error *err)
{
	return store->db->ops->defer(store->db, err);
}

int fg_store_sync(struct fg_store *store, struct fg_error *err)
{
	return store->db->ops->sync(store->db, err);
}

size_t fg_store_log_pages(const struct fg_store *store)
{
	return store->db->ops->log_pages(store->db);
}

int fg_store_trim_log(struct fg_store *store, struct fg_error *err)
{
	return store->db->ops->trim_log(store->db, err);
}
