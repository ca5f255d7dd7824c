// SPDX-License-Identifier: Apache-2.0
/* Choices of menus: projects, benchmarks, metrics, conditions. */
#include "base/text.h"
#include "store/db.h"
#include "store/serving/history.h"
#include "store/session.h"

static int read_names(struct fg_query *q, struct fg_name_list *list, struct fg_error *err)
{
	int status = FG_OK;

	*list = (struct fg_name_list){0};
	while ((status = fg_query_step(q, err)) > 0)
		FG_APPEND(list->items, list->count, list->capacity) = fg_column_copy(q, 0);
	fg_query_end(q);
	if (status != FG_OK)
		fg_name_list_release(list);
	return status;
}

int fg_store_projects(struct fg_store *store, struct fg_name_list *names, struct fg_error *err)
{
	struct fg_query q;

	fg_query_begin(&q, store->db, FG_SQL_PROJECT_LIST);
	return read_names(&q, names, err);
}

int fg_store_benchmarks(struct fg_store *store, const char *project, struct fg_name_list *names,
			struct fg_error *err)
{
	struct fg_query q;

	FG_QUERY_WITH(&q, store->db, FG_SQL_BENCHMARK_LIST, FG_BIND(project));
	return read_names(&q, names, err);
}

static int no_benchmark(struct fg_store *store, const char *project, const char *benchmark,
			struct fg_error *err)
{
	struct fg_name_list names = {0};
	const char *nearest = NULL;

	if (fg_store_benchmarks(store, project, &names, NULL) == FG_OK) {
		FG_APPEND(names.items, names.count, names.capacity) = NULL;
		nearest = fg_text_nearest(benchmark, (const char *const *)names.items);
	}
	(void)fg_error_set(err, FG_ENOENT, "no benchmark '%s' was ever stored%s%s in %s%s%s%s",
			   benchmark, project ? " for project " : "", project ? project : "",
			   store->db->name, nearest ? "; did you mean '" : "",
			   nearest ? nearest : "", nearest ? "'?" : "");
	fg_name_list_release(&names);
	return FG_ENOENT;
}

int fg_store_benchmark(struct fg_store *store, const char *project, const char *benchmark,
		       int64_t *id, struct fg_error *err)
{
	int status = FG_OK;

	status = FG_QUERY_FIND(store->db, id, err, FG_SQL_BENCHMARK_OF, FG_BIND(project),
			       FG_BIND(benchmark));
	return status == FG_ENOENT ? no_benchmark(store, project, benchmark, err) : status;
}

int fg_store_metrics(struct fg_store *store, const char *project, const char *benchmark,
		     struct fg_name_list *names, struct fg_error *err)
{
	struct fg_query q;
	int64_t id = 0;

	FG_TRY(fg_store_benchmark(store, project, benchmark, &id, err));
	FG_QUERY_WITH(&q, store->db, FG_SQL_METRIC_NAMES, FG_BIND(id));
	return read_names(&q, names, err);
}

void fg_name_list_release(struct fg_name_list *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->items[i]);
	free(names->items);
	*names = (struct fg_name_list){0};
}

int fg_store_fact_keys(struct fg_store *store, const char *project, struct fg_name_list *names,
		       struct fg_error *err)
{
	struct fg_query q;

	FG_QUERY_WITH(&q, store->db, FG_SQL_FACT_KEYS, FG_BIND(project));
	return read_names(&q, names, err);
}

int fg_store_candidate_fact(struct fg_store *store, const char *run, const char *key,
			    struct fg_arena *arena, const char **value, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	*value = NULL;
	FG_QUERY_WITH(&q, store->db, FG_SQL_RUN_FACT_FIND, FG_BIND(run), FG_BIND(key));
	status = fg_query_step(&q, err);
	if (status > 0) {
		*value = fg_arena_strdup(arena, fg_column_text(&q, 0));
		status = FG_OK;
	}
	fg_query_end(&q);
	return status;
}
