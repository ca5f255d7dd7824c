// SPDX-License-Identifier: Apache-2.0
#include "store/serving/archives.h"

#include "base/hash.h"
#include "base/random.h"
#include "store/db.h"
#include "store/session.h"

enum {
	OWNER_BYTES = 8,
};

void fg_kept_archive_release(struct fg_kept_archive *archive)
{
	free(archive->run);
	free(archive->digest);
	free(archive->object);
	free(archive->author);
	*archive = (struct fg_kept_archive){0};
}

int fg_store_archive_of(struct fg_store *store, const char *run, struct fg_kept_archive *archive,
			struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_ARCHIVE_OF);
	fg_query_text(&q, run);
	status = fg_query_step(&q, err);
	if (status > 0)
		*archive = (struct fg_kept_archive){
			.run = fg_xstrdup(run),
			.digest = fg_column_copy(&q, 0),
			.bytes = fg_column_int(&q, 1),
			.object = fg_column_copy(&q, 2),
			.stored_ns = fg_column_int(&q, 3),
			.author = fg_column_copy(&q, 4),
		};
	fg_query_end(&q);
	if (status == FG_OK)
		return FG_ENOENT;
	return status > 0 ? FG_OK : status;
}

/* Did the statement change a row?  It returns one then. */
static int has_changed(struct fg_query *q, bool *changed, struct fg_error *err)
{
	int64_t value = 0;
	const int status = fg_query_value(q, &value, err);

	*changed = status == FG_OK;
	return status == FG_ENOENT ? FG_OK : status;
}

int fg_store_archive_put(struct fg_store *store, const struct fg_kept_archive *archive, bool *put,
			 struct fg_error *err)
{
	struct fg_query q;

	fg_query_begin(&q, store->db, FG_SQL_ARCHIVE_PUT);
	fg_query_text(&q, archive->run);
	fg_query_text(&q, archive->digest);
	fg_query_int(&q, archive->bytes);
	fg_query_text(&q, archive->object);
	fg_query_int(&q, archive->stored_ns);
	fg_query_text(&q, archive->author);
	return has_changed(&q, put, err);
}

int fg_store_archive_remove(struct fg_store *store, const char *run, struct fg_error *err)
{
	struct fg_query q;
	bool removed = false;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_ARCHIVE_REMOVE);
	fg_query_text(&q, run);
	status = has_changed(&q, &removed, err);
	return status == FG_OK && !removed ? FG_ENOENT : status;
}

int fg_store_archives_left(struct fg_store *store, struct fg_kept_archive_list *list,
			   struct fg_error *err)
{
	struct fg_kept_archive_list found = {0};
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_ARCHIVE_LEFT);
	while ((status = fg_query_step(&q, err)) > 0) {
		found.items = fg_grow(found.items, &found.capacity, found.count + 1,
				      sizeof(*found.items));
		found.items[found.count++] = (struct fg_kept_archive){
			.run = fg_column_copy(&q, 0),
			.object = fg_column_copy(&q, 1),
			.bytes = fg_column_int(&q, 2),
		};
	}
	fg_query_end(&q);
	if (status == FG_OK)
		*list = found;
	else
		fg_kept_archive_list_release(&found);
	return status;
}

void fg_kept_archive_list_release(struct fg_kept_archive_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		fg_kept_archive_release(&list->items[i]);
	free(list->items);
	*list = (struct fg_kept_archive_list){0};
}

int fg_store_archive_take_left(struct fg_store *store, const char *run, bool *taken,
			       struct fg_error *err)
{
	struct fg_query q;

	fg_query_begin(&q, store->db, FG_SQL_ARCHIVE_REMOVE_LEFT);
	fg_query_text(&q, run);
	return has_changed(&q, taken, err);
}

int fg_store_archive_has_object(struct fg_store *store, const char *object, bool *has,
				struct fg_error *err)
{
	struct fg_query q;

	fg_query_begin(&q, store->db, FG_SQL_ARCHIVE_HAS_OBJECT);
	fg_query_text(&q, object);
	return has_changed(&q, has, err);
}

static int read_owner(struct fg_store *store, char **owner, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_ARCHIVE_OWNER);
	status = fg_query_step(&q, err);
	if (status > 0)
		*owner = fg_column_copy(&q, 0);
	fg_query_end(&q);
	return status < 0 ? status : FG_OK;
}

int fg_store_archive_owner(struct fg_store *store, char **owner, struct fg_error *err)
{
	uint8_t bytes[OWNER_BYTES];
	char text[2 * OWNER_BYTES + 1];
	struct fg_query q;
	int status = FG_OK;

	*owner = NULL;
	status = read_owner(store, owner, err);
	if (status != FG_OK || *owner || store->db->read_only)
		return status;
	status = fg_random_bytes(bytes, sizeof(bytes), err);
	if (status != FG_OK)
		return status;
	fg_hex(bytes, sizeof(bytes), text);
	fg_query_begin(&q, store->db, FG_SQL_ARCHIVE_OWNER_PUT);
	fg_query_text(&q, text);
	status = fg_query_run(&q, err);
	return status == FG_OK ? read_owner(store, owner, err) : status;
}
