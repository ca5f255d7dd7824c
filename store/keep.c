// SPDX-License-Identifier: Apache-2.0
/* What stays and what goes: baselines, deletion, garbage, checks, backups. */
#include "base/clock.h"
#include "base/fs.h"
#include "store/store_private.h"

#include <sys/stat.h>

int fg_store_baseline_set(struct fg_store *store, const char *name, const char *run_id,
			  struct fg_error *err)
{
	struct fg_query q;
	int64_t run = 0;
	int64_t project = 0;
	int status = FG_OK;

	if (!*name || strlen(name) > FG_MAX_NAME_BYTES)
		return fg_error_set(err, FG_EINVAL, "a baseline's name has 1 to %d bytes",
				    FG_MAX_NAME_BYTES);
	status = fg_store_begin(store, err);
	if (status != FG_OK)
		return status;
	fg_query_begin(&q, store->db, FG_SQL_RUN_BY_UUID);
	fg_query_text(&q, run_id);
	status = fg_query_step(&q, err);
	if (status > 0) {
		run = fg_column_int(&q, 0);
		project = fg_column_int(&q, 3);
		status = FG_OK;
	} else if (status == FG_OK) {
		status = fg_error_set(err, FG_ENOENT, "there is no run '%s' in %s", run_id,
				      store->db->name);
	}
	fg_query_end(&q);
	if (status == FG_OK) {
		fg_query_begin(&q, store->db, FG_SQL_BASELINE_SET);
		fg_query_int(&q, project);
		fg_query_text(&q, name);
		fg_query_int(&q, run);
		fg_query_int(&q, fg_clock_wall_ns());
		status = fg_query_run(&q, err);
	}
	return fg_store_end(store, status, err);
}

int fg_store_baseline_unset(struct fg_store *store, const char *project, const char *name,
			    struct fg_error *err)
{
	struct fg_query q;
	int64_t run = 0;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_BASELINE_UNSET);
	fg_query_text(&q, project);
	fg_query_text(&q, name);
	status = fg_query_value(&q, &run, err);
	if (status == FG_ENOENT)
		status = fg_error_set(err, FG_ENOENT, "there is no baseline '%s' in %s", name,
				      store->db->name);
	return status;
}

int fg_store_baseline_get(struct fg_store *store, const char *project, const char *name,
			  char id[37], struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_BASELINE_GET);
	fg_query_text(&q, project);
	fg_query_text(&q, name);
	status = fg_query_step(&q, err);
	if (status > 0) {
		(void)snprintf(id, 37, "%s", fg_column_text(&q, 0));
		status = FG_OK;
	} else if (status == FG_OK) {
		status = fg_error_set(err, FG_ENOENT, "there is no baseline '%s' in %s", name,
				      store->db->name);
	}
	fg_query_end(&q);
	return status;
}

int fg_store_baseline_list(struct fg_store *store, const char *project,
			   struct fg_baseline_list *list, struct fg_error *err)
{
	struct fg_baseline_list found = {0};
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_BASELINE_LIST);
	fg_query_text(&q, project);
	while ((status = fg_query_step(&q, err)) > 0) {
		struct fg_baseline_entry *entry = NULL;

		found.items = fg_grow(found.items, &found.capacity, found.count + 1,
				      sizeof(*found.items));
		entry = &found.items[found.count++];
		*entry = (struct fg_baseline_entry){
			.project = fg_xstrdup(fg_column_text(&q, 0)),
			.name = fg_xstrdup(fg_column_text(&q, 1)),
			.set_ns = fg_column_int(&q, 3),
			.commit = fg_xstrdup(fg_column_text(&q, 4)),
			.branch = fg_xstrdup(fg_column_text(&q, 5)),
		};
		(void)snprintf(entry->run, sizeof(entry->run), "%s", fg_column_text(&q, 2));
	}
	fg_query_end(&q);
	if (status == FG_OK)
		*list = found;
	else
		fg_baseline_list_release(&found);
	return status;
}

void fg_baseline_list_release(struct fg_baseline_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->items[i].project);
		free(list->items[i].name);
		free(list->items[i].commit);
		free(list->items[i].branch);
	}
	free(list->items);
	*list = (struct fg_baseline_list){0};
}

static int delete_run(struct fg_store *store, const char *id, struct fg_error *err)
{
	struct fg_query q;
	int64_t row = 0;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_RUN_DELETE);
	fg_query_text(&q, id);
	status = fg_query_value(&q, &row, err);
	if (status == FG_ENOENT)
		status = fg_error_set(err, FG_ENOENT, "there is no run '%s' in %s", id,
				      store->db->name);
	return status;
}

int fg_store_delete(struct fg_store *store, const char *id, struct fg_error *err)
{
	int status = FG_OK;

	if (strcmp(store->progress_run, id) == 0)
		store->progress_run[0] = '\0';
	status = fg_store_begin(store, err);
	if (status != FG_OK)
		return status;
	status = delete_run(store, id, err);
	if (status == FG_OK)
		status = fg_store_cut_seals(store, err);
	return fg_store_end(store, status, err);
}

struct victims {
	char (*ids)[37];
	size_t count;
	size_t capacity;
};

/* Newest first within a project and branch: the first `keep` of each stay. */
static int choose(struct fg_store *store, const struct fg_gc_policy *policy,
		  struct victims *victims, struct fg_gc_result *result, struct fg_error *err)
{
	char *branch = NULL;
	int64_t project = 0;
	size_t place = 0;
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_GC_CANDIDATES);
	fg_query_text(&q, policy->project);
	while ((status = fg_query_step(&q, err)) > 0) {
		const char *this_branch = fg_column_text(&q, 2);

		this_branch = this_branch ? this_branch : "";
		if (!branch || fg_column_int(&q, 1) != project ||
		    strcmp(branch, this_branch) != 0) {
			free(branch);
			branch = fg_xstrdup(this_branch);
			project = fg_column_int(&q, 1);
			place = 0;
		}
		if (place++ < policy->keep || fg_column_int(&q, 3) >= policy->older_than_ns)
			continue;
		if (fg_column_int(&q, 4) > 0) {
			result->kept_baselines++;
			continue;
		}
		victims->ids = fg_grow(victims->ids, &victims->capacity, victims->count + 1,
				       sizeof(*victims->ids));
		(void)snprintf(victims->ids[victims->count++], sizeof(*victims->ids), "%s",
			       fg_column_text(&q, 0));
	}
	fg_query_end(&q);
	free(branch);
	return status;
}

static int remove_all(struct fg_store *store, const struct victims *victims, struct fg_error *err)
{
	static const enum fg_sql sweeps[] = {FG_SQL_GC_BENCHMARKS, FG_SQL_GC_SEALS,
					     FG_SQL_GC_TILES,      FG_SQL_GC_WORDS,
					     FG_SQL_GC_FACT_SETS,  FG_SQL_GC_FACTS};
	int status = fg_store_begin(store, err);

	if (status != FG_OK)
		return status;
	for (size_t i = 0; i < victims->count && status == FG_OK; i++)
		status = delete_run(store, victims->ids[i], err);
	if (status == FG_OK)
		status = fg_store_cut_seals(store, err);
	for (size_t i = 0; i < FG_ARRAY_SIZE(sweeps) && status == FG_OK; i++) {
		struct fg_query q;

		fg_query_begin(&q, store->db, sweeps[i]);
		status = fg_query_run(&q, err);
	}
	return fg_store_end(store, status, err);
}

static int64_t size_of(const struct fg_store *store)
{
	struct stat status = {0};

	if (fg_db_is_url(store->db->location) || stat(store->db->location, &status) != 0)
		return 0;
	return status.st_size;
}

int fg_store_gc(struct fg_store *store, const struct fg_gc_policy *policy,
		struct fg_gc_result *result, struct fg_error *err)
{
	struct victims victims = {0};
	struct fg_gc_result done = {.bytes_before = size_of(store)};
	int status = choose(store, policy, &victims, &done, err);

	if (status == FG_OK && !policy->dry_run)
		status = remove_all(store, &victims, err);
	/* Of SQLite's, a copy of the whole database is made on the way: not in memory. */
	if (status == FG_OK && !policy->dry_run)
		status = fg_db_script(store->db,
				      fg_db_is_url(store->db->location)
					      ? "VACUUM"
					      : "PRAGMA temp_store = FILE; VACUUM; "
						"PRAGMA wal_checkpoint(TRUNCATE)",
				      err);
	if (status == FG_OK) {
		done.runs = victims.count;
		done.bytes_after = size_of(store);
		*result = done;
	}
	free(victims.ids);
	return status;
}

static void finding(struct fg_strbuf *findings, size_t *count, const char *words)
{
	fg_strbuf_printf(findings, "%s\n", words);
	(*count)++;
}

/* Every chunk is opened; every id that it names must be there. */
static int check_chunk(struct fg_store *store, const struct fg_query *q, struct fg_strbuf *findings,
		       size_t *count)
{
	size_t size = 0;
	const void *data = fg_column_bytes(q, 2, &size);
	struct fg_error reason = {0};
	struct fg_bytes content = {0};
	struct fg_matrix matrix = {0};
	int status = fg_unseal(data, size, FG_MAX_CHUNK_BYTES, &content, &reason);

	(void)store;
	if (status == FG_OK && fg_column_int(q, 1) == FG_CHUNK_ROWS) {
		struct fg_byte_reader reader = {content.data, content.data + content.size, false};

		status = fg_matrix_read(&reader, 0, &matrix, &reason);
	}
	if (status != FG_OK) {
		fg_error_prefix(&reason, "series %lld, chunk of kind %lld",
				(long long)fg_column_int(q, 0), (long long)fg_column_int(q, 1));
		finding(findings, count, reason.message);
	}
	fg_matrix_release(&matrix);
	fg_bytes_release(&content);
	return FG_OK;
}

static int check_pages(struct fg_store *store, struct fg_strbuf *findings, size_t *count,
		       struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	if (fg_db_is_url(store->db->location))
		return FG_OK;
	fg_query_begin(&q, store->db, FG_SQL_QUICK_CHECK);
	while ((status = fg_query_step(&q, err)) > 0) {
		if (strcmp(fg_column_text(&q, 0), "ok") != 0)
			finding(findings, count, fg_column_text(&q, 0));
	}
	fg_query_end(&q);
	return status;
}

int fg_store_check(struct fg_store *store, struct fg_strbuf *findings, size_t *count,
		   struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	*count = 0;
	status = check_pages(store, findings, count, err);
	if (status != FG_OK)
		return status;
	fg_query_begin(&q, store->db, FG_SQL_CHUNKS_ALL);
	while ((status = fg_query_step(&q, err)) > 0)
		(void)check_chunk(store, &q, findings, count);
	fg_query_end(&q);
	return status;
}

int fg_store_backup(struct fg_store *store, const char *path, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	if (fg_db_is_url(store->db->location))
		return fg_error_set(err, FG_EUNSUPPORTED,
				    "a PostgreSQL store is backed up with pg_dump");
	if (fg_fs_exists(path))
		return fg_error_set(err, FG_ECONFLICT,
				    "'%s' exists already: a backup never overwrites", path);
	fg_query_begin(&q, store->db, FG_SQL_VACUUM_INTO);
	fg_query_text(&q, path);
	status = fg_query_run(&q, err);
	if (status != FG_OK)
		fg_error_prefix(err, "backup to '%s'", path);
	return status;
}
