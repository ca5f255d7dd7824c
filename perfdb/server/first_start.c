// SPDX-License-Identifier: Apache-2.0
/*
 * The first start of `perfdb serve` creates the administrator's key if the database has no tokens.
 */
#include "base/clock.h"
#include "base/fs.h"
#include "perfdb/server/options.h"
#include "store/serving/access.h"
#include "store/store.h"
#include "store/transaction.h"

enum {
	KEY_MODE = 0600
};

char *fg_first_start_file(const char *database)
{
	return strstr(database, "://") ? NULL : fg_xasprintf("%s.key", database);
}

/* Runs in a transaction, which the caller commits after the key is in the file. */
static int make_key(struct fg_store *store, const char *database, char key[FG_TOKEN_TEXT_SIZE],
		    struct fg_error *err)
{
	struct fg_token token = {
		.scope = FG_SCOPE_ADMIN,
		.note = (char[]){"first start"},
		.expires_ns = fg_clock_wall_ns() + FG_TOKEN_LIFE_NS,
	};
	char *file = NULL;
	int status = FG_OK;

	FG_TRY(fg_store_token_create(store, &token, key, err));
	FG_TRY(fg_perfdb_note(store, NULL, "token.create", "first start", err));
	file = fg_first_start_file(database);
	if (file)
		status = fg_fs_write_atomic(file, key, strlen(key), KEY_MODE, err);
	free(file);
	return status;
}

int fg_first_start(const char *database, char key[FG_TOKEN_TEXT_SIZE], struct fg_error *err)
{
	struct fg_store *store = NULL;
	size_t tokens = 0;
	int status = fg_store_open(database, FG_STORE_DURABLE, &store, err);

	*key = '\0';
	if (status != FG_OK)
		return status;
	FG_TRY_OUT(fg_store_batch_begin(store, err));
	status = fg_store_token_count(store, &tokens, err);
	if (status == FG_OK && tokens == 0)
		status = make_key(store, database, key, err);
	if (status == FG_OK)
		status = fg_store_batch_end(store, err);
	else
		fg_store_batch_undo(store);
out:
	fg_store_close(store);
	return status;
}
