// SPDX-License-Identifier: Apache-2.0
#include "store/proofs.h"

#include "base/base.h"
#include "store/db.h"
#include "store/names.h"
#include "store/session.h"
#include "store/transaction.h"

#include <stdlib.h>

static int insert(struct fg_store *store, const char *project, const struct fg_stored_proof *proof,
		  struct fg_error *err)
{
	int64_t id = 0;

	FG_TRY(fg_store_project(store, project, &id, err));
	return FG_QUERY_FIND(store->db, &id, err, FG_SQL_PROOF_ADD, FG_BIND(id),
			     FG_BIND(proof->card), FG_BIND(proof->fingerprint),
			     FG_BIND(proof->at_ns), FG_BIND(proof->data));
}

int fg_store_add_proof(struct fg_store *store, const char *project,
		       const struct fg_stored_proof *proof, struct fg_error *err)
{
	FG_TRY(fg_store_begin(store, err));
	return fg_store_end(store, insert(store, project, proof, err), err);
}

/* Reads the rows of the query and ends it. */
static int read_list(struct fg_query *q, struct fg_stored_proofs *list, struct fg_error *err)
{
	int status = FG_OK;

	*list = (struct fg_stored_proofs){0};
	while ((status = fg_query_step(q, err)) > 0) {
		FG_APPEND(list->items, list->count, list->capacity) = (struct fg_stored_proof){
			.card = fg_column_keep(q, 0, &list->texts),
			.fingerprint = fg_column_keep(q, 1, &list->texts),
			.at_ns = fg_column_int(q, 2),
			.data = fg_column_keep(q, 3, &list->texts),
		};
	}
	fg_query_end(q);
	if (status != FG_OK)
		fg_stored_proofs_release(list);
	return status;
}

int fg_store_proofs(struct fg_store *store, const char *project, const char *fingerprint,
		    struct fg_stored_proofs *list, struct fg_error *err)
{
	struct fg_query q;

	FG_QUERY_WITH(&q, store->db, FG_SQL_PROOF_LIST, FG_BIND(project), FG_BIND(fingerprint));
	return read_list(&q, list, err);
}

static int put_card(struct fg_store *store, const char *project, const struct fg_stored_proof *card,
		    struct fg_error *err)
{
	int64_t value = 0;
	int status = FG_OK;

	status = FG_QUERY_FIND(store->db, &value, err, FG_SQL_PROJECT_FIND, FG_BIND(project));
	if (status == FG_ENOENT)
		return fg_error_set(err, FG_ENOENT, "there is no project '%s'", project);
	if (status != FG_OK)
		return status;
	return FG_QUERY_DO(store->db, err, FG_SQL_PROOF_CARD_PUT, FG_BIND(value),
			   FG_BIND(card->fingerprint), FG_BIND(card->at_ns), FG_BIND(card->data));
}

int fg_store_put_card(struct fg_store *store, const char *project,
		      const struct fg_stored_proof *card, struct fg_error *err)
{
	FG_TRY(fg_store_begin(store, err));
	return fg_store_end(store, put_card(store, project, card, err), err);
}

int fg_store_cards(struct fg_store *store, const char *project, struct fg_stored_proofs *list,
		   struct fg_error *err)
{
	struct fg_query q;

	FG_QUERY_WITH(&q, store->db, FG_SQL_PROOF_CARD_LIST, FG_BIND(project));
	return read_list(&q, list, err);
}

void fg_stored_proofs_release(struct fg_stored_proofs *list)
{
	fg_arena_release(&list->texts);
	free(list->items);
	*list = (struct fg_stored_proofs){0};
}
