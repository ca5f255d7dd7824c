// SPDX-License-Identifier: Apache-2.0
/* perfdb migrate, backup and check. */
#include "perfdb/server/options.h"
#include "store/serving/upkeep.h"
#include "store/store.h"

static const struct fg_option backup_options[] = {
	FG_PERFDB_DATABASE,
	FG_ROW_TEXT(struct fg_perfdb_options, to, "to", 0, "FILE", "the file to create"),
	FG_PERFDB_HELP,
	{.name = NULL},
};

static const struct fg_option check_options[] = {
	FG_PERFDB_DATABASE,
	FG_PERFDB_HELP,
	{.name = NULL},
};

static const struct fg_option migrate_options[] = {
	FG_PERFDB_DATABASE,
	FG_ROW_TEXT(struct fg_perfdb_options, to, "to", 0, "DATABASE", "the database to copy to"),
	FG_PERFDB_HELP,
	{.name = NULL},
};

struct ids {
	char (*items)[37]; /* newest first */
	size_t count;
	size_t capacity;
};

static int list_runs(struct fg_store *from, struct ids *ids, struct fg_error *err)
{
	struct fg_run_filter filter = {.limit = 1000};
	struct fg_run_list list = {0};
	int status = FG_OK;

	do {
		fg_run_list_release(&list);
		status = fg_store_list(from, &filter, &list, err);
		if (status != FG_OK || list.count == 0)
			break;
		ids->items = fg_grow(ids->items, &ids->capacity, ids->count + list.count,
				     sizeof(*ids->items));
		for (size_t i = 0; i < list.count; i++)
			memcpy(ids->items[ids->count++], list.items[i].id, sizeof(*ids->items));
		filter.before_ns = list.items[list.count - 1].started_ns;
		filter.before_id = ids->items[ids->count - 1];
	} while (list.more);
	fg_run_list_release(&list);
	return status;
}

/*
 * Copies runs one by one, oldest first. A second attempt overwrites existing runs, which is
 * harmless.
 */
static int copy_runs(struct fg_store *from, struct fg_store *to, size_t *copied,
		     struct fg_error *err)
{
	struct ids ids = {0};
	int status = list_runs(from, &ids, err);

	for (size_t i = ids.count; i > 0 && status == FG_OK; i--) {
		status = fg_store_copy(from, to, ids.items[i - 1], err);
		*copied += status == FG_OK;
	}
	free(ids.items);
	return status;
}

static int migrate(const struct fg_perfdb_options *given)
{
	struct fg_store *from = NULL;
	struct fg_store *to = NULL;
	struct fg_error err = {0};
	size_t copied = 0;
	int status = FG_OK;

	if (!given->to) {
		(void)fg_error_set(&err, FG_EINVAL, "migrate needs --to DATABASE");
		return fg_perfdb_fail(&err);
	}
	FG_TRY_OUT(fg_store_open(given->database, FG_STORE_READ_ONLY, &from, &err));
	FG_TRY_OUT(fg_store_open(given->to, FG_STORE_DURABLE, &to, &err));
	status = copy_runs(from, to, &copied, &err);
	if (status == FG_OK)
		status = fg_store_copy_access(from, to, &err);
out:
	fg_store_close(to);
	fg_store_close(from);
	if (status != FG_OK)
		return fg_perfdb_fail(&err);
	(void)fprintf(stderr, "perfdb: %zu run%s copied\n", copied, copied == 1 ? "" : "s");
	return FG_PERFDB_OK;
}

static int backup(const struct fg_perfdb_options *given)
{
	struct fg_store *store = NULL;
	struct fg_error err = {0};
	int status = FG_OK;

	if (!given->to) {
		(void)fg_error_set(&err, FG_EINVAL, "backup needs --to FILE");
		return fg_perfdb_fail(&err);
	}
	status = fg_store_open(given->database, FG_STORE_READ_ONLY, &store, &err);
	if (status == FG_OK)
		status = fg_store_backup(store, given->to, &err);
	fg_store_close(store);
	return status == FG_OK ? FG_PERFDB_OK : fg_perfdb_fail(&err);
}

static int check(const struct fg_perfdb_options *given)
{
	struct fg_strbuf findings = {0};
	struct fg_store *store = NULL;
	struct fg_error err = {0};
	size_t found = 0;
	int status = fg_store_open(given->database, FG_STORE_READ_ONLY, &store, &err);

	if (status == FG_OK)
		status = fg_store_check(store, &findings, &found, &err);
	fg_store_close(store);
	if (status != FG_OK)
		return fg_perfdb_fail(&err);
	(void)fputs(fg_strbuf_text(&findings), stdout);
	(void)fprintf(stderr, "perfdb: %s\n",
		      found ? "the database is damaged" : "the database is intact");
	fg_strbuf_release(&findings);
	return found ? FG_PERFDB_FAILED : FG_PERFDB_OK;
}

const struct fg_perfdb_command fg_perfdb_migrate = {
	.name = "migrate",
	.summary = "copy a database --to another",
	.options = migrate_options,
	.run = migrate,
};

const struct fg_perfdb_command fg_perfdb_backup = {
	.name = "backup",
	.summary = "write a consistent copy --to FILE while the server runs",
	.options = backup_options,
	.run = backup,
};

const struct fg_perfdb_command fg_perfdb_check = {
	.name = "check",
	.summary = "check for damage",
	.options = check_options,
	.run = check,
};
