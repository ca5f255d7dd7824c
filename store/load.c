// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "base/map.h"
#include "model/environment.h"
#include "model/profile_set.h"
#include "model/run.h"
#include "store/bytes.h"
#include "store/chunks.h"
#include "store/conditions.h"
#include "store/db.h"
#include "store/functions.h"
#include "store/matrix.h"
#include "store/measures.h"
#include "store/paths.h"
#include "store/session.h"
#include "store/store.h"
#include "store/values.h"

enum {
	SEED_BASE = 16
};

static void read_side(const struct fg_query *q, int column, struct fg_side *side)
{
	side->commit = fg_column_copy(q, column);
	side->branch = fg_column_copy(q, column + 1);
	side->describe = fg_column_copy(q, column + 2);
	side->dirty = fg_column_int(q, column + 3) != 0;
}

static int load_head(struct fg_store *store, const char *id, struct fg_stored_run *stored,
		     int64_t *row, struct fg_error *err)
{
	enum {
		CANDIDATE_COLUMN = 9,
		BASELINE_COLUMN = 13
	};
	struct fg_run *run = &stored->run;
	struct fg_query q;
	int status = FG_OK;

	FG_QUERY_WITH(&q, store->db, FG_SQL_RUN_LOAD, FG_BIND(id));
	status = fg_query_step(&q, err);
	if (status > 0) {
		*row = fg_column_int(&q, 0);
		(void)snprintf(run->id, sizeof(run->id), "%s", id);
		run->project = fg_column_copy(&q, 1);
		run->started_ns = fg_column_int(&q, 2);
		run->ended_ns = fg_column_int(&q, 3);
		run->complete = fg_column_int(&q, 4) != 0;
		run->has_baseline = fg_column_int(&q, 5) != 0;
		run->seed = strtoull(fg_column_text(&q, 6), NULL, SEED_BASE);
		run->tool_version = fg_column_copy(&q, 7);
		stored->outcome = fg_column_copy(&q, 8);
		read_side(&q, CANDIDATE_COLUMN, &run->sides[FG_ARM_CANDIDATE]);
		read_side(&q, BASELINE_COLUMN, &run->sides[FG_ARM_BASELINE]);
		status = FG_OK;
	} else if (status == FG_OK) {
		status = fg_error_set(err, FG_ENOENT, "there is no run '%s' in %s", id,
				      store->db->name);
	}
	fg_query_end(&q);
	return status;
}

static void set_fact(struct fg_run *run, int64_t scope, const struct fg_query *q)
{
	const size_t position = (size_t)(scope - FG_SCOPE_SERIES) / FG_ARM_COUNT;
	const char *key = fg_column_text(q, 1);
	const char *value = fg_column_text(q, 2);

	if (scope < FG_SCOPE_SERIES)
		fg_environment_set(scope == FG_SCOPE_HOST
					   ? &run->host
					   : &run->sides[scope - FG_SCOPE_SIDES].build,
				   key, value, fg_column_int(q, 3) != 0);
	else if (position < run->series_count)
		fg_build_facts_set(
			&run->series[position].build[(scope - FG_SCOPE_SERIES) % FG_ARM_COUNT], key,
			value);
}

/* Loads the facts of all scopes up to `last`. */
static int load_facts(struct fg_store *store, int64_t row, int64_t last, struct fg_run *run,
		      struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	FG_QUERY_WITH(&q, store->db, FG_SQL_RUN_FACTS, FG_BIND(row));
	while ((status = fg_query_step(&q, err)) > 0) {
		const int64_t scope = fg_column_int(&q, 0);

		if (scope <= last)
			set_fact(run, scope, &q);
	}
	fg_query_end(&q);
	return status;
}

static int parse_series(const struct fg_query *q, struct fg_series *series, struct fg_error *err)
{
	const char *metrics = fg_column_text(q, 3);
	const char *details = fg_column_text(q, 4);
	cJSON *metrics_json = NULL;
	cJSON *details_json = NULL;
	int status =
		fg_json_parse(metrics, strlen(metrics), FG_MAX_CHUNK_BYTES, &metrics_json, err);

	series->command = fg_column_copy(q, 2);
	if (status != FG_OK)
		goto out;
	FG_TRY_OUT(fg_metrics_read(metrics_json, series, err));
	FG_TRY_OUT(fg_json_parse(details, strlen(details), FG_MAX_CHUNK_BYTES, &details_json, err));
	status = fg_details_read(details_json, series, err);
out:
	cJSON_Delete(metrics_json);
	cJSON_Delete(details_json);
	if (status != FG_OK)
		fg_error_prefix(err, "the store is damaged");
	return status;
}

/* The part of a run to load. */
struct extent {
	const char *benchmark; /* load only the series of this benchmark; NULL: all */
	bool profiles;
	bool report;
};

/* Loads the series, and their row ids in the same order. */
static int load_series(struct fg_store *store, int64_t row, const char *benchmark,
		       struct fg_run *run, int64_t **ids, struct fg_error *err)
{
	size_t capacity = 0;
	struct fg_query q;
	int status = FG_OK;

	FG_QUERY_WITH(&q, store->db, FG_SQL_SERIES_OF_RUN, FG_BIND(row));
	while ((status = fg_query_step(&q, err)) > 0) {
		const char *name = fg_column_text(&q, 1);
		struct fg_series *series = NULL;

		if (benchmark && strcmp(name, benchmark) != 0)
			continue;
		series = fg_run_add_series(run, name);
		*ids = fg_grow(*ids, &capacity, run->series_count, sizeof(**ids));
		(*ids)[run->series_count - 1] = fg_column_int(&q, 0);
		status = parse_series(&q, series, err);
		if (status != FG_OK)
			break;
	}
	fg_query_end(&q);
	return status;
}

static int take_repetitions(struct fg_byte_reader *reader, void *context, struct fg_error *err)
{
	return fg_repetitions_read(reader, context, err);
}

static int take_program(struct fg_byte_reader *reader, void *context, struct fg_error *err)
{
	struct fg_profile_set **set = context;
	const char *text = NULL;
	const size_t length = fg_read_text(reader, FG_MAX_FUNCTION_BYTES, &text);
	char *name = NULL;

	if (reader->failed || *set)
		return fg_error_set(err, FG_EPARSE, "the name of a profile is damaged");
	name = fg_xstrndup(text ? text : "", length);
	*set = fg_xcalloc(1, sizeof(**set));
	fg_profile_set_init(*set, name);
	free(name);
	return FG_OK;
}

static int take_regions(struct fg_byte_reader *reader, void *context, struct fg_error *err)
{
	return fg_regions_read(reader, context, err);
}

struct matrices {
	struct fg_matrix *items;
	size_t count;
	size_t capacity;
};

static void release_matrices(struct matrices *all)
{
	for (size_t i = 0; i < all->count; i++)
		fg_matrix_release(&all->items[i]);
	free(all->items);
}

static int take_rows(struct fg_byte_reader *reader, void *context, struct fg_error *err)
{
	struct matrices *all = context;

	all->items = fg_grow(all->items, &all->capacity, all->count + 1, sizeof(*all->items));
	all->items[all->count] = (struct fg_matrix){0};
	return fg_matrix_read(reader, 0, &all->items[all->count++], err);
}

/* The call paths of a series, and their nodes in the set. */
struct tree {
	struct fg_stored_paths paths;
	uint32_t *nodes;
};

static void release_tree(struct tree *tree)
{
	fg_stored_paths_release(&tree->paths);
	free(tree->nodes);
}

static int take_paths(struct fg_byte_reader *reader, void *context, struct fg_error *err)
{
	struct tree *tree = context;

	return fg_stored_paths_read(reader, &tree->paths, err);
}

/* Maps a function's id in the store to its index in the set. Each function is read once. */
static int function_index(struct fg_store *store, struct fg_map *known, uint64_t id,
			  struct fg_profile_set *set, uint32_t *index, struct fg_error *err)
{
	const uint64_t *found = fg_map_get(known, &id, sizeof(id));
	struct fg_function_row row;

	if (found) {
		*index = (uint32_t)*found;
		return FG_OK;
	}
	FG_TRY(fg_store_function(store, id, &row, err));
	*index = fg_profile_set_function(set, &row.function);
	(void)fg_map_add(known, &id, sizeof(id), *index, NULL);
	return FG_OK;
}

static int load_tree(struct fg_store *store, int64_t series, struct fg_profile_set *set,
		     struct tree *tree, struct fg_error *err)
{
	struct fg_map functions = {0};
	int status = fg_store_chunks(store, series, FG_CHUNK_PATHS, take_paths, tree, err);

	tree->nodes = fg_xcalloc(tree->paths.count + 1, sizeof(tree->nodes[0]));
	for (size_t i = 1; i < tree->paths.count && status == FG_OK; i++) {
		const struct fg_stored_path *path = &tree->paths.items[i];
		uint32_t function = 0;

		status = function_index(store, &functions, path->function, set, &function, err);
		if (status == FG_OK)
			tree->nodes[i] =
				fg_profile_set_node(set, tree->nodes[path->parent], function);
	}
	fg_map_release(&functions);
	return status;
}

static int place_rows(const struct fg_matrix *matrix, const struct tree *tree, uint16_t measure,
		      struct fg_profile_set *set, struct fg_error *err)
{
	const size_t paths = tree->paths.count ? tree->paths.count : 1;
	uint32_t *nodes = fg_xcalloc(matrix->id_count + 1, sizeof(nodes[0]));
	bool good = true;

	for (size_t i = 0; i < matrix->id_count && good; i++) {
		good = matrix->ids[i] < paths;
		nodes[i] = good ? tree->nodes[matrix->ids[i]] : 0;
	}
	if (good)
		fg_matrix_to_set(matrix, set, measure, nodes);
	free(nodes);
	return good ? FG_OK
		    : fg_error_set(err, FG_EDB, "the store is damaged: a call path is missing");
}

static int load_measure(struct fg_store *store, int64_t series, const struct tree *tree,
			const struct fg_series_measure *measure, struct fg_profile_set *set,
			struct fg_error *err)
{
	struct matrices all = {0};
	int status = fg_store_chunks(store, series, fg_measure_rows_kind(measure->id), take_rows,
				     &all, err);

	for (size_t i = 0; i < all.count && status == FG_OK; i++)
		status = place_rows(&all.items[i], tree,
				    fg_profile_set_measure(set, &measure->measure), set, err);
	release_matrices(&all);
	return status;
}

static int load_rows(struct fg_store *store, int64_t series, struct fg_profile_set *set,
		     struct fg_error *err)
{
	struct fg_series_measures measures = {0};
	struct tree tree = {0};
	int status = load_tree(store, series, set, &tree, err);

	if (status == FG_OK)
		status = fg_store_series_measures(store, series, &measures, err);
	for (size_t i = 0; i < measures.count && status == FG_OK; i++)
		status = load_measure(store, series, &tree, &measures.items[i], set, err);
	fg_series_measures_release(&measures);
	release_tree(&tree);
	return status;
}

static int load_profile(struct fg_store *store, int64_t series, struct fg_profile_set **result,
			struct fg_error *err)
{
	struct fg_profile_set *set = NULL;
	int status = fg_store_chunks(store, series, FG_CHUNK_PROGRAM, take_program, &set, err);

	*result = set;
	if (status != FG_OK || !set)
		return status;
	FG_TRY(load_rows(store, series, set, err));
	return fg_store_chunks(store, series, FG_CHUNK_REGIONS, take_regions, set, err);
}

static int load_report(struct fg_store *store, int64_t row, char **report, struct fg_error *err)
{
	struct fg_bytes content = {0};
	struct fg_query q;
	int status = FG_OK;

	FG_QUERY_WITH(&q, store->db, FG_SQL_REPORT_GET, FG_BIND(row), FG_BIND("json"));
	status = fg_query_step(&q, err);
	if (status > 0) {
		size_t size = 0;
		const void *data = fg_column_bytes(&q, 0, &size);

		status = fg_unpack(data, size, FG_MAX_CHUNK_BYTES, &content, err);
		*report = (char *)content.data; /* NUL-terminated */
	}
	fg_query_end(&q);
	return status;
}

static int load_values(struct fg_store *store, const int64_t *ids, const struct extent *extent,
		       struct fg_stored_run *stored, struct fg_error *err)
{
	const size_t count = stored->run.series_count;
	int status = FG_OK;

	FG_ASSERT(ids || count == 0);
	for (size_t i = 0; i < count && status == FG_OK; i++)
		status = fg_store_chunks(store, ids[i], FG_CHUNK_REPETITIONS, take_repetitions,
					 &stored->run.series[i], err);
	stored->profiles = fg_xcalloc(count, sizeof(struct fg_profile_set *));
	for (size_t i = 0; i < count && status == FG_OK && extent->profiles; i++)
		status = load_profile(store, ids[i], &stored->profiles[i], err);
	return status;
}

static int load(struct fg_store *store, const char *id, const struct extent *extent,
		struct fg_stored_run *stored, struct fg_error *err)
{
	/*
	 * Conditions of a series are found by its position, which is unknown if a single series is
	 * loaded.
	 */
	const int64_t last_scope = extent->benchmark ? FG_SCOPE_HOST : INT64_MAX;
	struct fg_stored_run s = {0};
	int64_t *ids = NULL;
	int64_t row = 0;
	int status = FG_OK;

	FG_TRY(fg_db_begin(store->db, FG_DB_READS, err));
	fg_run_init(&s.run);
	FG_TRY_OUT(load_head(store, id, &s, &row, err));
	FG_TRY_OUT(load_series(store, row, extent->benchmark, &s.run, &ids, err));
	FG_TRY_OUT(load_facts(store, row, last_scope, &s.run, err));
	status = load_values(store, ids, extent, &s, err);
	if (status == FG_OK && extent->report)
		status = load_report(store, row, &s.report, err);
out:
	fg_db_rollback(store->db); /* nothing was written: this ends the consistent view */
	free(ids);
	if (status == FG_OK)
		*stored = s;
	else
		fg_stored_run_release(&s);
	return status;
}

int fg_store_load(struct fg_store *store, const char *id, struct fg_stored_run *stored,
		  struct fg_error *err)
{
	return load(store, id, &(struct extent){.profiles = true, .report = true}, stored, err);
}

int fg_store_load_run(struct fg_store *store, const char *id, struct fg_stored_run *stored,
		      struct fg_error *err)
{
	return load(store, id, &(struct extent){.report = true}, stored, err);
}

int fg_store_load_benchmark(struct fg_store *store, const char *id, const char *benchmark,
			    bool with_report, struct fg_stored_run *stored, struct fg_error *err)
{
	const struct extent extent = {.benchmark = benchmark, .report = with_report};

	return load(store, id, &extent, stored, err);
}

void fg_stored_run_release(struct fg_stored_run *stored)
{
	if (stored->profiles) {
		for (size_t i = 0; i < stored->run.series_count; i++) {
			if (stored->profiles[i])
				fg_profile_set_release(stored->profiles[i]);
			free(stored->profiles[i]);
		}
	}
	free(stored->profiles);
	free(stored->report);
	free(stored->outcome);
	fg_run_release(&stored->run);
	*stored = (struct fg_stored_run){0};
}

int fg_store_load_history(struct fg_store *store, const struct fg_run *like, int64_t before_ns,
			  struct fg_stored_history *history, struct fg_error *err)
{
	const struct fg_run_filter filter = {
		.project = like->project,
		.branch = like->sides[FG_ARM_CANDIDATE].branch,
		.before_ns = before_ns,
		.complete_only = true,
		.limit = FG_STORED_HISTORY_MAX,
	};
	const struct extent extent = {.report = true};
	struct fg_run_list list = {0};
	int status = fg_store_list(store, &filter, &list, err);

	for (size_t i = list.count; status == FG_OK && i > 0; i--) {
		struct fg_stored_run *earlier = &history->runs[history->count];

		status = load(store, list.items[i - 1].id, &extent, earlier, err);
		if (status == FG_OK)
			history->list[history->count++] = &earlier->run;
	}
	fg_run_list_release(&list);
	return status;
}

void fg_stored_history_release(struct fg_stored_history *history)
{
	for (size_t i = 0; i < history->count; i++)
		fg_stored_run_release(&history->runs[i]);
	*history = (struct fg_stored_history){0};
}
