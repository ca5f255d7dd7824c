// SPDX-License-Identifier: Apache-2.0
#include "store/series_values.h"

#include "model/measure.h"
#include "model/profile_set.h"
#include "model/run.h"
#include "store/bytes.h"
#include "store/chunks.h"
#include "store/db.h"
#include "store/matrix.h"
#include "store/measures.h"
#include "store/paths.h"
#include "store/session.h"
#include "store/values.h"

static int put_block(const struct fg_chunk_place *place, int64_t kind, size_t first,
		     const struct fg_bytes *block, struct fg_error *err)
{
	return FG_QUERY_DO(place->store->db, err,
			   place->passing ? FG_SQL_CHUNK_PUT : FG_SQL_CHUNK_ADD,
			   FG_BIND(place->series), FG_BIND(kind), FG_BIND((int64_t)first),
			   FG_BIND(fg_bytes_blob(block)));
}

static int level_of(const struct fg_chunk_place *place)
{
	if (place->passing)
		return FG_PACK_LEVEL_QUICK;
	return place->store->is_durable ? FG_PACK_LEVEL : FG_PACK_LEVEL_TIGHT;
}

/* Stores a chunk and releases its content. */
static int put_chunk(const struct fg_chunk_place *place, int64_t kind, size_t first,
		     struct fg_bytes *content, struct fg_error *err)
{
	struct fg_bytes block = {0};
	int status = fg_pack_bytes(content, level_of(place), &block, err);

	if (status == FG_OK)
		status = put_block(place, kind, first, &block, err);
	fg_bytes_release(&block);
	fg_bytes_release(content);
	return status;
}

/* The pair of a repetition or a row, and whether it counts. */
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
 * Moves the mark to the next chunk to store. Returns false if nothing is new. The chunk begins
 * after the stored items, or with the last stored chunk if its pair continues or was settled.
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

int fg_store_put_repetitions(const struct fg_chunk_place *place, const struct fg_series *series,
			     struct fg_chunk_mark *mark, struct fg_error *err)
{
	struct fg_bytes content = {0};

	if (!next_chunk(mark, series, series->repetition_count, repetition_key))
		return FG_OK;
	fg_repetitions_write(series, mark->first, &content);
	return put_chunk(place, FG_CHUNK_REPETITIONS, mark->first, &content, err);
}

static int put_measure_rows(const struct fg_chunk_place *place, const struct fg_profile_set *set,
			    uint16_t measure, const struct fg_progress_mark *mark,
			    struct fg_error *err)
{
	struct fg_matrix matrix = {0};
	struct fg_bytes content = {0};
	int64_t id = 0;

	FG_TRY(fg_store_measure_id(place->store, fg_measure_at(&set->measures, measure), &id, err));
	fg_matrix_from_set(&matrix, set, measure, mark->rows.first, NULL);
	fg_matrix_write(&matrix, &content);
	fg_matrix_release(&matrix);
	return put_chunk(place, fg_measure_rows_kind(id), mark->rows.first, &content, err);
}

static int put_rows(const struct fg_chunk_place *place, const struct fg_profile_set *set,
		    struct fg_progress_mark *mark, struct fg_error *err)
{
	if (!next_chunk(&mark->rows, set, set->row_count, row_key))
		return FG_OK;
	for (size_t m = 0; m < fg_measure_count(&set->measures); m++) {
		if (fg_profile_set_has(set, (uint16_t)m, mark->rows.first))
			FG_TRY(put_measure_rows(place, set, (uint16_t)m, mark, err));
	}
	return FG_OK;
}

static int put_regions(const struct fg_chunk_place *place, const struct fg_profile_set *set,
		       struct fg_chunk_mark *mark, struct fg_error *err)
{
	struct fg_bytes content = {0};

	if (!next_chunk(mark, set, set->region_row_count, region_key))
		return FG_OK;
	fg_regions_write(set, mark->first, &content);
	return put_chunk(place, FG_CHUNK_REGIONS, mark->first, &content, err);
}

/* Stores the root's name and the call paths added since the mark. */
static int put_paths(const struct fg_chunk_place *place, const struct fg_profile_set *set,
		     struct fg_progress_mark *mark, struct fg_error *err)
{
	const size_t first = mark->node_count ? mark->node_count : 1;
	struct fg_bytes content = {0};
	int status = FG_OK;

	if (mark->node_count == 0) {
		fg_bytes_text(&content, set->functions[0].name);
		status = put_chunk(place, FG_CHUNK_PROGRAM, 0, &content, err);
	}
	if (status != FG_OK)
		return status;
	mark->node_count = set->node_count;
	if (first == set->node_count)
		return FG_OK;
	fg_stored_paths_write(set, first, mark->functions, &content);
	return put_chunk(place, FG_CHUNK_PATHS, first, &content, err);
}

static int find_functions(const struct fg_chunk_place *place, const struct fg_profile_set *set,
			  struct fg_progress_mark *mark, struct fg_error *err)
{
	const size_t had = mark->function_count;
	const size_t more = set->function_count - had;

	mark->functions =
		fg_xreallocarray(mark->functions, set->function_count, sizeof(*mark->functions));
	memset(mark->functions + had, 0, more * sizeof(*mark->functions));
	mark->function_count = set->function_count;
	return fg_store_intern(place->store, set->functions + had, more, mark->functions + had,
			       err);
}

/* Stores the part of the set that is not stored yet. */
int fg_store_put_profile(const struct fg_chunk_place *place, const struct fg_profile_set *set,
			 struct fg_progress_mark *mark, struct fg_error *err)
{
	FG_TRY(find_functions(place, set, mark, err));
	FG_TRY(put_paths(place, set, mark, err));
	FG_TRY(put_rows(place, set, mark, err));
	return put_regions(place, set, &mark->regions, err);
}
