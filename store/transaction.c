// SPDX-License-Identifier: Apache-2.0
#include "store/transaction.h"

#include "base/map.h"
#include "store/db.h"
#include "store/functions.h"
#include "store/session.h"

enum {
	CACHE_LIMIT = 4 << 20
};

void fg_store_forget_progress(struct fg_store *store)
{
	for (size_t i = 0; i < store->progress.mark_count; i++)
		free(store->progress.marks[i].functions);
	free(store->progress.marks);
	store->progress.marks = NULL;
	store->progress.mark_count = 0;
	store->progress.run[0] = '\0';
}

/* Forgets ids that garbage collection may remove before the next transaction. */
static void forget_names(struct fg_store *store)
{
	fg_map_release(&store->transaction.facts);
	fg_map_release(&store->transaction.texts);
	fg_map_release(&store->transaction.places);
}

void fg_store_forget_ids(struct fg_store *store)
{
	fg_map_release(&store->functions_known);
	forget_names(store);
}

int fg_store_begin(struct fg_store *store, struct fg_error *err)
{
	if (store->transaction.is_spoiled)
		return fg_error_set(err, FG_EBUSY, "%s: another part of the transaction has failed",
				    store->db->name);
	if (store->functions_known.count > CACHE_LIMIT)
		fg_map_release(&store->functions_known);
	if (store->transaction.has_parts)
		return FG_OK;
	return fg_db_begin(store->db, FG_DB_WRITES, err);
}

/* Rolls back and forgets ids. */
static void undo(struct fg_store *store)
{
	fg_db_rollback(store->db);
	fg_store_forget_ids(store);
	fg_store_forget_functions(store);
	fg_store_forget_progress(store);
}

int fg_store_end(struct fg_store *store, int status, struct fg_error *err)
{
	if (store->transaction.has_parts) {
		store->transaction.is_spoiled = store->transaction.is_spoiled || status != FG_OK;
		return status;
	}
	if (status == FG_OK)
		status = fg_db_commit(store->db, err);
	if (status == FG_OK)
		forget_names(store);
	else
		undo(store);
	return status;
}

int fg_store_batch_begin(struct fg_store *store, struct fg_error *err)
{
	const int status = fg_store_begin(store, err);

	store->transaction.has_parts = status == FG_OK;
	return status;
}

bool fg_store_batch_is_spoiled(const struct fg_store *store)
{
	return store->transaction.is_spoiled;
}

void fg_store_batch_undo(struct fg_store *store)
{
	store->transaction.has_parts = false;
	store->transaction.is_spoiled = false;
	undo(store);
}

int fg_store_batch_end(struct fg_store *store, struct fg_error *err)
{
	FG_ASSERT(!store->transaction.is_spoiled);
	store->transaction.has_parts = false;
	return fg_store_end(store, FG_OK, err);
}

int fg_store_view(struct fg_store *store, bool *mine, struct fg_error *err)
{
	int status = FG_OK;

	*mine = false;
	if (store->db->in_transaction)
		return FG_OK;
	fg_store_limit_functions(store);
	status = fg_db_begin(store->db, FG_DB_READS, err);
	*mine = status == FG_OK;
	return status;
}

void fg_store_view_end(struct fg_store *store, bool mine)
{
	if (mine)
		fg_db_rollback(store->db); /* nothing was written */
}
