// SPDX-License-Identifier: Apache-2.0
/* Names for runs, within a project. */
#include "base/clock.h"
#include "store/db.h"
#include "store/session.h"
#include "store/store.h"
#include "store/transaction.h"
#include "store/values.h"

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
