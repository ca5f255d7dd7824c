// SPDX-License-Identifier: Apache-2.0
/*
 * Writing runs.  A whole run is one transaction; a run in progress is one transaction per call,
 * each writing a chunk per benchmark that has something new: a chunk for each pair, which grows
 * with the pair.  Saving the whole run afterwards replaces the small chunks by large ones, which
 * pack far better.
 */
#include "store/store_private.h"

#include <math.h>

static const char *side_fact(const struct fg_run *run, const char *key)
{
	const char *value = fg_environment_get(&run->sides[FG_ARM_CANDIDATE].build, key);

	return value ? value : fg_environment_get(&run->host, key);
}

/* What put_run() writes beside the run itself. */
struct run_words {
	bool complete;
	const char *outcome;
	const char *digest;
};

static int put_run(struct fg_store *store, const struct fg_run *run, const struct run_words *words,
		   int64_t *id, struct fg_error *err)
{
	const struct fg_side *candidate = &run->sides[FG_ARM_CANDIDATE];
	const struct fg_side *baseline = &run->sides[FG_ARM_BASELINE];
	char fingerprint[17];
	char seed[24];
	struct fg_query q;
	int64_t project = 0;
	int status = fg_store_project(store, run->project ? run->project : "", &project, err);

	if (status != FG_OK)
		return status;
	fg_environment_fingerprint(&run->host, fingerprint);
	(void)snprintf(seed, sizeof(seed), "%016llx", (unsigned long long)run->seed);
	fg_query_begin(&q, store->db, FG_SQL_RUN_PUT);
	fg_query_text(&q, run->id);
	fg_query_int(&q, project);
	fg_query_int(&q, run->started_ns);
	fg_query_int(&q, run->ended_ns);
	fg_query_int(&q, words->complete);
	fg_query_int(&q, run->has_baseline);
	fg_query_text(&q, seed);
	fg_query_text(&q, run->tool_version);
	fg_query_text(&q, words->outcome);
	fg_query_text(&q, fingerprint);
	fg_query_text(&q, candidate->commit);
	fg_query_text(&q, candidate->branch);
	fg_query_text(&q, candidate->describe);
	fg_query_int(&q, candidate->dirty);
	fg_query_text(&q, baseline->commit);
	fg_query_text(&q, baseline->branch);
	fg_query_text(&q, baseline->describe);
	fg_query_int(&q, baseline->dirty);
	fg_query_text(&q, side_fact(run, "git.tag"));
	fg_query_text(&q, words->digest);
	return fg_query_value(&q, id, err);
}

/* The rows of one statement that has one number for a parameter. */
static int clear(struct fg_store *store, enum fg_sql sql, int64_t id, struct fg_error *err)
{
	struct fg_query q;

	fg_query_begin(&q, store->db, sql);
	fg_query_int(&q, id);
	return fg_query_run(&q, err);
}

/* What hangs from a run that was there before. */
static int clear_run(struct fg_store *store, int64_t id, struct fg_error *err)
{
	static const enum fg_sql sweeps[] = {FG_SQL_SERIES_CLEAR, FG_SQL_RUN_FACTS_CLEAR,
					     FG_SQL_RUN_SETS_CLEAR, FG_SQL_REPORT_CLEAR};
	int status = FG_OK;

	for (size_t i = 0; i < FG_ARRAY_SIZE(sweeps) && status == FG_OK; i++)
		status = clear(store, sweeps[i], id, err);
	return status == FG_OK ? fg_store_cut_seals(store, err) : status;
}

static int put_facts(struct fg_store *store, int64_t id, const struct fg_run *run,
		     struct fg_error *err)
{
	const struct fg_scoped scoped[] = {
		{FG_SCOPE_HOST, &run->host},
		{FG_SCOPE_SIDES + FG_ARM_BASELINE, &run->sides[FG_ARM_BASELINE].build},
		{FG_SCOPE_SIDES + FG_ARM_CANDIDATE, &run->sides[FG_ARM_CANDIDATE].build},
	};

	return fg_store_put_conditions(store, id, scoped, FG_ARRAY_SIZE(scoped), err);
}

static int put_series_facts(struct fg_store *store, int64_t run, const struct fg_series *series,
			    size_t position, struct fg_error *err)
{
	const int64_t scope = FG_SCOPE_SERIES + 2 * (int64_t)position;
	const struct fg_scoped scoped[] = {
		{scope + FG_ARM_BASELINE, &series->build[FG_ARM_BASELINE]},
		{scope + FG_ARM_CANDIDATE, &series->build[FG_ARM_CANDIDATE]},
	};

	return fg_store_put_conditions(store, run, scoped, FG_ARRAY_SIZE(scoped), err);
}

static int metrics_words(struct fg_store *store, const struct fg_series *series, int64_t *id,
			 struct fg_error *err)
{
	struct fg_strbuf text = {0};
	struct fg_json_writer w;
	int status = FG_OK;

	fg_json_writer_init(&w, &text, 0);
	fg_metrics_write(series, &w, NULL);
	status = fg_store_words(store, fg_strbuf_text(&text), id, err);
	fg_strbuf_release(&text);
	return status;
}

static int find_benchmark(struct fg_store *store, int64_t project, const char *name, int64_t *id,
			  struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_BENCHMARK_FIND);
	fg_query_int(&q, project);
	fg_query_text(&q, name);
	status = fg_query_value(&q, id, err);
	if (status != FG_ENOENT)
		return status;
	fg_query_begin(&q, store->db, FG_SQL_BENCHMARK_ADD);
	fg_query_int(&q, project);
	fg_query_text(&q, name);
	return fg_query_value(&q, id, err);
}

static int benchmark_id(struct fg_store *store, const struct fg_run *run, const char *name,
			int64_t *id, struct fg_error *err)
{
	const char *project_name = run->project ? run->project : "";
	struct fg_strbuf key = {0};
	const uint64_t *known = NULL;
	int64_t project = 0;
	int status = FG_OK;

	fg_strbuf_add_text(&key, project_name);
	fg_strbuf_add_char(&key, '\0');
	fg_strbuf_add_text(&key, name);
	known = fg_map_get(&store->places, key.data, key.length);
	if (known) {
		*id = (int64_t)*known;
	} else {
		status = fg_store_project(store, project_name, &project, err);
		if (status == FG_OK)
			status = find_benchmark(store, project, name, id, err);
		if (status == FG_OK && store->in_batch)
			(void)fg_map_add(&store->places, key.data, key.length, (uint64_t)*id, NULL);
	}
	fg_strbuf_release(&key);
	return status;
}

static char *details_text(const struct fg_series *series)
{
	struct fg_strbuf text = {0};
	struct fg_json_writer w;

	fg_json_writer_init(&w, &text, 0);
	fg_details_write(series, &w, NULL);
	return fg_strbuf_detach(&text);
}

/* The series' row without its values. */
static int put_series(struct fg_store *store, int64_t run_id, const struct fg_run *run,
		      size_t position, int64_t *id, struct fg_error *err)
{
	const struct fg_series *series = &run->series[position];
	char *details = details_text(series);
	struct fg_query q;
	int64_t benchmark = 0;
	int64_t metrics = 0;
	int64_t command = 0;
	int status = benchmark_id(store, run, series->name, &benchmark, err);

	if (status == FG_OK)
		status = metrics_words(store, series, &metrics, err);
	if (status == FG_OK && series->command)
		status = fg_store_words(store, series->command, &command, err);
	if (status == FG_OK) {
		fg_query_begin(&q, store->db, FG_SQL_SERIES_ADD);
		fg_query_int(&q, run_id);
		fg_query_int(&q, (int64_t)position);
		fg_query_int(&q, benchmark);
		if (series->command)
			fg_query_int(&q, command);
		else
			fg_query_text(&q, NULL);
		fg_query_int(&q, metrics);
		fg_query_text(&q, details);
		status = fg_query_value(&q, id, err);
	}
	if (status == FG_OK)
		status = put_series_facts(store, run_id, series, position, err);
	free(details);
	return status;
}

static int update_series(struct fg_store *store, const struct fg_series *series, int64_t id,
			 struct fg_error *err)
{
	char *details = details_text(series);
	struct fg_query q;
	int64_t metrics = 0;
	int status = metrics_words(store, series, &metrics, err);

	if (status == FG_OK) {
		fg_query_begin(&q, store->db, FG_SQL_SERIES_UPDATE);
		fg_query_int(&q, id);
		fg_query_int(&q, metrics);
		fg_query_text(&q, details);
		status = fg_query_run(&q, err);
	}
	free(details);
	return status;
}

/* Where the chunks of a series go. */
struct chunk_place {
	struct fg_store *store;
	int64_t series;
	/* of a run in progress: written again before long, and in place of what is there */
	bool passing;
};

static int put_block(const struct chunk_place *place, enum fg_chunk_kind kind, size_t first,
		     const struct fg_bytes *block, struct fg_error *err)
{
	struct fg_query q;

	fg_query_begin(&q, place->store->db, place->passing ? FG_SQL_CHUNK_PUT : FG_SQL_CHUNK_ADD);
	fg_query_int(&q, place->series);
	fg_query_int(&q, kind);
	fg_query_int(&q, (int64_t)first);
	fg_query_bytes(&q, block->data, block->size);
	return fg_query_run(&q, err);
}

/* Releases the content. */
static int put_chunk(const struct chunk_place *place, enum fg_chunk_kind kind, size_t first,
		     struct fg_bytes *content, struct fg_error *err)
{
	const int lasting = place->store->for_server ? FG_SEAL_LEVEL : FG_SEAL_LEVEL_TIGHT;
	struct fg_bytes block = {0};
	int status =
		fg_seal_bytes(content, place->passing ? FG_SEAL_LEVEL_QUICK : lasting, &block, err);

	if (status == FG_OK)
		status = put_block(place, kind, first, &block, err);
	fg_bytes_release(&block);
	fg_bytes_release(content);
	return status;
}

/* What a repetition or a row is known by. */
struct pair_key {
	uint32_t pair;
	uint16_t aside;
};

static struct pair_key repetition_key(const void *of, size_t i)
{
	const struct fg_repetition *r = &((const struct fg_series *)of)->repetitions[i];

	return (struct pair_key){r->pair, r->aside};
}

static struct pair_key row_key(const void *of, size_t i)
{
	const struct fg_profile_row *row = &((const struct fg_profile_set *)of)->rows[i];

	return (struct pair_key){row->pair, row->aside};
}

static struct pair_key region_key(const void *of, size_t i)
{
	const struct fg_profile_region_row *row =
		&((const struct fg_profile_set *)of)->region_rows[i];

	return (struct pair_key){row->pair, row->aside};
}

typedef struct pair_key key_reader(const void *of, size_t i);

/*
 * Is there something to store, and from which item on?  Behind what is stored; or the last chunk again, when its pair goes on or was
 * settled meanwhile.  Takes the mark there.
 */
static bool next_chunk(struct fg_chunk_mark *mark, const void *of, size_t count, key_reader *key)
{
	bool is_open = false;

	if (mark->count > 0)
		is_open = key(of, mark->count - 1).aside != mark->aside ||
			  (mark->count < count && key(of, mark->count).pair == mark->pair);
	if (!is_open && mark->count >= count)
		return false;
	if (!is_open)
		mark->first = mark->count;
	mark->count = count;
	mark->pair = key(of, count - 1).pair;
	mark->aside = key(of, count - 1).aside;
	return true;
}

static int put_repetitions(const struct chunk_place *place, const struct fg_series *series,
			   struct fg_chunk_mark *mark, struct fg_error *err)
{
	struct fg_bytes content = {0};

	if (!next_chunk(mark, series, series->repetition_count, repetition_key))
		return FG_OK;
	fg_repetitions_write(series, mark->first, &content);
	return put_chunk(place, FG_CHUNK_REPETITIONS, mark->first, &content, err);
}

static int put_rows(const struct chunk_place *place, const struct fg_profile_set *set,
		    struct fg_progress_mark *mark, struct fg_error *err)
{
	struct fg_matrix matrix = {0};
	struct fg_bytes content = {0};

	if (!next_chunk(&mark->rows, set, set->row_count, row_key))
		return FG_OK;
	fg_matrix_from_set(&matrix, set, fg_profile_set_time(set), mark->rows.first, mark->nodes);
	fg_matrix_write(&matrix, &content);
	fg_matrix_release(&matrix);
	return put_chunk(place, FG_CHUNK_ROWS, mark->rows.first, &content, err);
}

static int put_regions(const struct chunk_place *place, const struct fg_profile_set *set,
		       struct fg_chunk_mark *mark, struct fg_error *err)
{
	struct fg_bytes content = {0};

	if (!next_chunk(mark, set, set->region_row_count, region_key))
		return FG_OK;
	fg_regions_write(set, mark->first, &content);
	return put_chunk(place, FG_CHUNK_REGIONS, mark->first, &content, err);
}

/* What of the set is not stored yet. */
static int put_profile(const struct chunk_place *place, const struct fg_profile_set *set,
		       struct fg_progress_mark *mark, struct fg_error *err)
{
	struct fg_interned interned = {mark->functions, mark->function_count, mark->nodes,
				       mark->node_count};
	struct fg_bytes content = {0};
	int status = FG_OK;

	if (mark->node_count == 0) {
		fg_bytes_text(&content, set->functions[0].name);
		status = put_chunk(place, FG_CHUNK_PROGRAM, 0, &content, err);
	}
	if (status == FG_OK)
		status = fg_store_intern(place->store, set, &interned, err);
	mark->functions = interned.functions;
	mark->function_count = interned.function_count;
	mark->nodes = interned.nodes;
	mark->node_count = interned.node_count;
	if (status == FG_OK)
		status = put_rows(place, set, mark, err);
	return status == FG_OK ? put_regions(place, set, &mark->regions, err) : status;
}

static int put_functions(const struct chunk_place *place, const struct fg_profile_set *set,
			 const struct fg_progress_mark *mark, struct fg_error *err)
{
	struct fg_totals totals = {0};
	struct fg_bytes content = {0};
	int status = FG_OK;

	if (set->row_count == 0 || !place->store->for_server)
		return FG_OK;
	fg_totals_from_set(&totals, set, mark->functions);
	status = fg_totals_write(&totals, &content, err);
	fg_totals_release(&totals);
	if (status == FG_OK)
		return put_chunk(place, FG_CHUNK_TOTALS, 0, &content, err);
	fg_bytes_release(&content);
	return status;
}

/* The verdict of a metric in a report, or NULL. */
static const cJSON *find_named(const cJSON *list, const char *name)
{
	const cJSON *item = NULL;

	cJSON_ArrayForEach(item, list)
	{
		if (strcmp(fg_json_text_or(item, "name", ""), name) == 0)
			return item;
	}
	return NULL;
}

static double bound_or_nan(const cJSON *interval, int place)
{
	const cJSON *item = cJSON_GetArrayItem(interval, place);

	return cJSON_IsNumber(item) ? item->valuedouble : (double)NAN;
}

struct fg_level *fg_levels_make(const struct fg_series *series, const cJSON *report)
{
	const cJSON *benchmarks = report ? fg_json_find(report, "benchmarks") : NULL;
	const cJSON *mine = find_named(benchmarks, series->name);
	const cJSON *metrics = mine ? fg_json_find(mine, "metrics") : NULL;
	struct fg_level *levels = fg_xcalloc(series->metric_count, sizeof(*levels));

	for (size_t m = 0; m < series->metric_count; m++) {
		const cJSON *verdict = find_named(metrics, series->metrics[m].name);
		const cJSON *interval = fg_json_find(verdict, "interval");
		size_t counts[FG_ARM_COUNT] = {0};

		for (unsigned arm = 0; arm < FG_ARM_COUNT; arm++)
			levels[m].medians[arm] =
				fg_series_median(series, m, (enum fg_arm)arm, &counts[arm]);
		levels[m].is_there = counts[0] + counts[1] > 0;
		levels[m].pairs = (int64_t)fg_json_double_or(verdict, "pairs",
							     (double)counts[FG_ARM_CANDIDATE]);
		levels[m].ratio = fg_json_double_or(verdict, "ratio", (double)NAN);
		levels[m].low = bound_or_nan(interval, 0);
		levels[m].high = bound_or_nan(interval, 1);
		levels[m].outcome = fg_json_text_or(verdict, "verdict", NULL);
	}
	return levels;
}

/* Columns of `level`, in the order of the query. */
struct level_columns {
	struct fg_arena arena;
	int64_t *whole[4]; /* benchmark, metric, series, pairs */
	double *real[5];   /* baseline, candidate, ratio, low, high */
	const char **outcomes;
	size_t count;
};

static void add_level(struct level_columns *c, const int64_t whole[3], const struct fg_level *level)
{
	const double real[] = {level->medians[FG_ARM_BASELINE], level->medians[FG_ARM_CANDIDATE],
			       level->ratio, level->low, level->high};

	for (size_t i = 0; i < 3; i++)
		c->whole[i][c->count] = whole[i];
	c->whole[3][c->count] = level->pairs;
	for (size_t i = 0; i < FG_ARRAY_SIZE(real); i++)
		c->real[i][c->count] = real[i];
	c->outcomes[c->count++] = level->outcome;
}

static void make_columns(struct level_columns *c, size_t count)
{
	*c = (struct level_columns){0};
	for (size_t i = 0; i < FG_ARRAY_SIZE(c->whole); i++)
		c->whole[i] = fg_arena_array(&c->arena, count, sizeof(*c->whole[i]));
	for (size_t i = 0; i < FG_ARRAY_SIZE(c->real); i++)
		c->real[i] = fg_arena_array(&c->arena, count, sizeof(*c->real[i]));
	c->outcomes = fg_arena_array(&c->arena, count, sizeof(*c->outcomes));
}

/* Releases the columns. */
static int put_columns(struct fg_store *store, struct level_columns *c, struct fg_error *err)
{
	struct fg_rows rows = {.count = c->count};
	int status = FG_OK;

	for (size_t i = 0; i < FG_ARRAY_SIZE(c->whole); i++)
		rows.columns[rows.column_count++].numbers = c->whole[i];
	for (size_t i = 0; i < FG_ARRAY_SIZE(c->real); i++)
		rows.columns[rows.column_count++].doubles = c->real[i];
	rows.columns[rows.column_count++].texts = c->outcomes;
	status = fg_query_rows(store->db, FG_SQL_LEVEL_ADD, &rows, NULL, err);
	fg_arena_release(&c->arena);
	return status;
}

/* For a series that was just made: there are none of it yet. */
static int put_levels(struct fg_store *store, const struct fg_run *run, int64_t series_id,
		      const struct fg_series *series, const struct fg_level *levels,
		      struct fg_error *err)
{
	struct level_columns columns;
	int64_t benchmark = 0;
	int status = benchmark_id(store, run, series->name, &benchmark, err);

	make_columns(&columns, series->metric_count);
	for (size_t m = 0; m < series->metric_count && status == FG_OK; m++) {
		int64_t name = 0;

		if (!levels[m].is_there)
			continue;
		status = fg_store_words(store, series->metrics[m].name, &name, err);
		add_level(&columns, (const int64_t[]){benchmark, name, series_id}, &levels[m]);
	}
	if (status == FG_OK)
		return put_columns(store, &columns, err);
	fg_arena_release(&columns.arena);
	return status;
}

static int put_report(struct fg_store *store, int64_t run, const struct fg_bytes *block,
		      struct fg_error *err)
{
	struct fg_query q;

	fg_query_begin(&q, store->db, FG_SQL_REPORT_ADD);
	fg_query_int(&q, run);
	fg_query_text(&q, "json");
	fg_query_bytes(&q, block->data, block->size);
	return fg_query_run(&q, err);
}

static int check_run(const struct fg_run *run, struct fg_error *err)
{
	if (strlen(run->id) != 36)
		return fg_error_set(
			err, FG_EINVAL,
			"a run needs an id of 36 characters before it can be stored; '%s' has %zu",
			run->id, strlen(run->id));
	if (run->series_count > FG_MAX_SERIES)
		return fg_error_set(err, FG_ELIMIT, "a run has %zu benchmarks; the store takes %d",
				    run->series_count, FG_MAX_SERIES);
	if (run->project && strlen(run->project) > FG_MAX_NAME_BYTES)
		return fg_error_set(err, FG_ELIMIT, "the project's name is longer than %d bytes",
				    FG_MAX_NAME_BYTES);
	for (size_t i = 0; i < run->series_count; i++) {
		if (strlen(run->series[i].name) > FG_MAX_NAME_BYTES)
			return fg_error_set(
				err, FG_ELIMIT,
				"the name of a benchmark is longer than %d bytes: '%.60s...'",
				FG_MAX_NAME_BYTES, run->series[i].name);
	}
	return FG_OK;
}

static int put_made(struct fg_store *store, int64_t series, const struct fg_series_parts *parts,
		    struct fg_error *err)
{
	int64_t all_series[FG_CHUNK_KINDS];
	int64_t kinds[FG_CHUNK_KINDS];
	int64_t firsts[FG_CHUNK_KINDS] = {0};
	struct fg_blob blocks[FG_CHUNK_KINDS];
	struct fg_rows rows = {.columns = {{.numbers = all_series},
					   {.numbers = kinds},
					   {.numbers = firsts},
					   {.blobs = blocks}},
			       .column_count = 4};

	for (int kind = 1; kind < FG_CHUNK_KINDS; kind++) {
		if (parts->blocks[kind].size == 0)
			continue;
		all_series[rows.count] = series;
		kinds[rows.count] = kind;
		blocks[rows.count++] =
			(struct fg_blob){parts->blocks[kind].data, parts->blocks[kind].size};
	}
	return fg_query_rows(store->db, FG_SQL_CHUNK_ADD, &rows, NULL, err);
}

static int put_values(struct fg_store *store, int64_t id, const struct fg_series *series,
		      const struct fg_profile_set *set, struct fg_error *err)
{
	const struct chunk_place place = {.store = store, .series = id};
	struct fg_progress_mark mark = {0};
	int status = put_repetitions(&place, series, &mark.repetitions, err);

	if (status == FG_OK && set)
		status = put_profile(&place, set, &mark, err);
	if (status == FG_OK && set)
		status = put_functions(&place, set, &mark, err);
	free(mark.functions);
	free(mark.nodes);
	return status;
}

static int save_series(struct fg_store *store, int64_t run_id, const struct fg_save *save,
		       size_t position, struct fg_error *err)
{
	const struct fg_series *series = &save->run->series[position];
	int64_t id = 0;
	int status = put_series(store, run_id, save->run, position, &id, err);

	if (status != FG_OK)
		return status;
	if (save->parts) {
		const struct fg_series_parts *parts = &save->parts[position];

		status = put_made(store, id, parts, err);
		if (status == FG_OK)
			status = put_levels(store, save->run, id, series, parts->levels, err);
	} else {
		struct fg_level *levels = fg_levels_make(series, save->report);

		status = put_values(store, id, series,
				    save->profiles ? save->profiles[position] : NULL, err);
		if (status == FG_OK)
			status = put_levels(store, save->run, id, series, levels, err);
		free(levels);
	}
	return status;
}

int fg_store_write_run(struct fg_store *store, const struct fg_save *save, struct fg_error *err)
{
	const struct run_words words = {
		save->run->complete,
		save->report ? fg_json_text_or(save->report, "verdict", NULL) : NULL, save->digest};
	int64_t id = 0;
	int status = fg_store_begin(store, err);

	if (status != FG_OK)
		return status;
	status = put_run(store, save->run, &words, &id, err);
	if (status == FG_OK && !save->is_new)
		status = clear_run(store, id, err);
	if (status == FG_OK)
		status = put_facts(store, id, save->run, err);
	for (size_t i = 0; i < save->run->series_count && status == FG_OK; i++)
		status = save_series(store, id, save, i, err);
	if (status == FG_OK && save->report_block->size)
		status = put_report(store, id, save->report_block, err);
	return fg_store_end(store, status, err);
}

int fg_report_make(const struct fg_run *run, const char *report, cJSON **json,
		   struct fg_bytes *block, struct fg_error *err)
{
	enum {
		REPORT_MAX_BYTES = 256 << 20
	};
	int status = check_run(run, err);

	if (status != FG_OK || !report)
		return status;
	status = fg_json_parse(report, strlen(report), REPORT_MAX_BYTES, json, err);
	if (status != FG_OK) {
		fg_error_prefix(err, "the report of run %s", run->id);
		return status;
	}
	return fg_seal(report, strlen(report), FG_SEAL_LEVEL, block, err);
}

int fg_store_save(struct fg_store *store, const struct fg_run *run,
		  struct fg_profile_set *const *profiles, const char *report, struct fg_error *err)
{
	struct fg_bytes block = {0};
	cJSON *json = NULL;
	int status = fg_report_make(run, report, &json, &block, err);

	if (status == FG_OK)
		status = fg_store_write_run(store,
					    &(struct fg_save){.run = run,
							      .profiles = profiles,
							      .report = json,
							      .report_block = &block},
					    err);
	fg_bytes_release(&block);
	cJSON_Delete(json);
	return status;
}

int fg_store_set_report(struct fg_store *store, const char *id, const char *report,
			struct fg_error *err)
{
	struct fg_stored_run stored = {0};
	int status = fg_store_load(store, id, &stored, err);

	if (status == FG_OK)
		status = fg_store_save(store, &stored.run, stored.profiles, report, err);
	fg_stored_run_release(&stored);
	return status;
}

/* The marks of another run are of no use; this run is written anew, and goes on from there. */
static int start_progress(struct fg_store *store, const struct fg_run *run, struct fg_error *err)
{
	int64_t id = 0;
	int status = put_run(store, run, &(struct run_words){0}, &id, err);

	if (status == FG_OK)
		status = clear_run(store, id, err);
	if (status == FG_OK)
		status = put_facts(store, id, run, err);
	fg_store_forget_progress(store);
	memcpy(store->progress_run, run->id, sizeof(run->id));
	store->progress_id = id;
	return status;
}

/*
 * With another schedule than the one that was chosen first, the pairs of that are set aside, all at
 * once: what is stored of them is written anew.
 */
static int forget_chunks(struct fg_store *store, struct fg_progress_mark *mark,
			 struct fg_error *err)
{
	static const enum fg_chunk_kind kinds[] = {FG_CHUNK_REPETITIONS, FG_CHUNK_ROWS,
						   FG_CHUNK_REGIONS};
	int status = FG_OK;

	for (size_t i = 0; i < FG_ARRAY_SIZE(kinds) && status == FG_OK; i++) {
		struct fg_query q;

		fg_query_begin(&q, store->db, FG_SQL_CHUNKS_FORGET);
		fg_query_int(&q, mark->series);
		fg_query_int(&q, kinds[i]);
		status = fg_query_run(&q, err);
	}
	mark->repetitions = mark->rows = mark->regions = (struct fg_chunk_mark){0};
	return status;
}

/* The series' row, made or brought up to date. */
static int progress_row(struct fg_store *store, const struct fg_run *run, size_t position,
			struct fg_error *err)
{
	const struct fg_series *series = &run->series[position];
	const size_t facts = series->build[0].count + series->build[1].count;
	struct fg_progress_mark *mark = &store->marks[position];
	const bool given_up = mark->series && mark->schedule != FG_SCHEDULE_AUTO &&
			      mark->schedule != series->schedule;
	int status = FG_OK;

	if (!mark->series) {
		status = put_series(store, store->progress_id, run, position, &mark->series, err);
		mark->facts = facts;
	} else if (mark->repetitions.count != series->repetition_count ||
		   mark->state != series->state || mark->metrics != series->metric_count ||
		   mark->schedule != series->schedule) {
		status = update_series(store, series, mark->series, err);
	}
	if (status == FG_OK && given_up)
		status = forget_chunks(store, mark, err);
	if (status == FG_OK && mark->facts != facts)
		status = put_series_facts(store, store->progress_id, series, position, err);
	mark->metrics = series->metric_count;
	mark->facts = facts;
	mark->state = series->state;
	mark->schedule = series->schedule;
	return status;
}

static int progress_series(struct fg_store *store, const struct fg_run *run, size_t position,
			   const struct fg_profile_set *set, struct fg_error *err)
{
	struct fg_progress_mark *mark = &store->marks[position];
	int status = progress_row(store, run, position, err);
	const struct chunk_place place = {.store = store, .series = mark->series, .passing = true};

	if (status == FG_OK)
		status = put_repetitions(&place, &run->series[position], &mark->repetitions, err);
	if (status == FG_OK && set && set->row_count + set->region_row_count > 0)
		status = put_profile(&place, set, mark, err);
	return status;
}

int fg_store_progress(struct fg_store *store, const struct fg_run *run,
		      struct fg_profile_set *const *profiles, struct fg_error *err)
{
	struct fg_query q;
	int status = check_run(run, err);

	if (status == FG_OK)
		status = fg_store_begin(store, err);
	if (status != FG_OK)
		return status;
	if (strcmp(store->progress_run, run->id) != 0)
		status = start_progress(store, run, err);
	if (status == FG_OK && store->mark_count < run->series_count) {
		store->marks =
			fg_xreallocarray(store->marks, run->series_count, sizeof(*store->marks));
		memset(store->marks + store->mark_count, 0,
		       (run->series_count - store->mark_count) * sizeof(*store->marks));
		store->mark_count = run->series_count;
	}
	for (size_t i = 0; i < run->series_count && status == FG_OK; i++)
		status = progress_series(store, run, i, profiles ? profiles[i] : NULL, err);
	if (status == FG_OK) {
		fg_query_begin(&q, store->db, FG_SQL_RUN_TOUCH);
		fg_query_int(&q, store->progress_id);
		fg_query_int(&q, run->ended_ns);
		status = fg_query_run(&q, err);
	}
	return fg_store_end(store, status, err);
}
