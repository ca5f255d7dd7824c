// SPDX-License-Identifier: Apache-2.0
#include "store/serving/uploads.h"

#include "base/clock.h"
#include "store/bytes.h"
#include "store/db.h"
#include "store/session.h"

enum {
	DICTIONARIES_KEPT = 256
};

int fg_store_upload_state(struct fg_store *store, const char *id, struct fg_upload_state *state,
			  struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	*state = (struct fg_upload_state){0};
	fg_query_begin(&q, store->db, FG_SQL_RUN_PROJECT);
	fg_query_text(&q, id);
	status = fg_query_step(&q, err);
	if (status > 0) {
		state->project = fg_column_copy(&q, 0);
		state->known = state->project;
		state->digest = fg_column_copy(&q, 1);
		state->complete = fg_column_int(&q, 2) != 0;
	}
	fg_query_end(&q);
	return status > 0 ? FG_OK : status;
}

int fg_store_upload_expect(struct fg_store *store, const char *const *runs,
			   const char *const *projects, size_t count, int64_t *known,
			   struct fg_error *err)
{
	const struct fg_rows rows = {.columns = {{.texts = runs}, {.texts = projects}},
				     .column_count = 2,
				     .count = count};

	return fg_query_rows(store->db, FG_SQL_UPLOAD_EXPECT, &rows, known, err);
}

void fg_upload_state_release(struct fg_upload_state *state)
{
	free(state->project);
	free(state->digest);
	*state = (struct fg_upload_state){0};
}

int fg_store_set_digest(struct fg_store *store, const char *id, const char *digest,
			struct fg_error *err)
{
	struct fg_query q;

	fg_query_begin(&q, store->db, FG_SQL_RUN_DIGEST_SET);
	fg_query_text(&q, id);
	fg_query_text(&q, digest);
	return fg_query_run(&q, err);
}

int fg_store_dictionary_has(struct fg_store *store, const char *hash, bool *has,
			    struct fg_error *err)
{
	struct fg_query q;
	int64_t used = 0;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_DICTIONARY_HAS);
	fg_query_text(&q, hash);
	status = fg_query_value(&q, &used, err);
	if (status == FG_OK || status == FG_ENOENT) {
		*has = status == FG_OK;
		status = FG_OK;
	}
	return status;
}

int fg_store_dictionary_put(struct fg_store *store, const char *hash, const struct fg_bytes *packed,
			    struct fg_error *err)
{
	struct fg_query q;
	bool waited = false;
	int status = fg_db_lock_names(store->db, &waited, err);

	if (status != FG_OK)
		return status;
	fg_query_begin(&q, store->db, FG_SQL_DICTIONARY_PUT);
	fg_query_text(&q, hash);
	fg_query_bytes(&q, packed->data, packed->size);
	fg_query_int(&q, fg_clock_wall_ns());
	status = fg_query_run(&q, err);
	if (status != FG_OK)
		return status;
	fg_query_begin(&q, store->db, FG_SQL_DICTIONARY_TRIM);
	fg_query_int(&q, DICTIONARIES_KEPT);
	return fg_query_run(&q, err);
}

int fg_store_dictionary_get(struct fg_store *store, const char *hash, struct fg_bytes *packed,
			    struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_DICTIONARY_GET);
	fg_query_text(&q, hash);
	status = fg_query_step(&q, err);
	if (status > 0) {
		size_t size = 0;
		const void *data = fg_column_bytes(&q, 0, &size);

		fg_bytes_add(packed, data, size);
		status = FG_OK;
	} else if (status == FG_OK) {
		status = fg_error_set(err, FG_ENOENT, "dictionary %s is not known here", hash);
	}
	fg_query_end(&q);
	return status;
}
