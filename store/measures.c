// SPDX-License-Identifier: Apache-2.0
#include "store/measures.h"

#include "base/arena.h"
#include "model/measure.h"
#include "model/metric.h"
#include "model/profile_set.h"
#include "store/bytes.h"
#include "store/db.h"
#include "store/names.h"
#include "store/session.h"
#include "store/values.h"

/* Bits for the traits of a measure on the wire. */
enum {
	FOLD_BITS = 3,
	HIGHER_IS_BETTER = 1 << 2,
	IS_EXACT = 1 << 3,
	KNOWN_BITS = (1 << 4) - 1
};

static unsigned traits_of(const struct fg_measure *measure)
{
	return (unsigned)measure->fold |
	       (measure->better == FG_BETTER_HIGHER ? HIGHER_IS_BETTER : 0U) |
	       (measure->exact ? IS_EXACT : 0U);
}

static const struct fg_measure *cpu_time(void)
{
	return fg_measure_at(&(struct fg_measure_list){0}, FG_MEASURE_CPU_TIME);
}

static bool is_cpu_time(const struct fg_measure *measure)
{
	return strcmp(measure->name, cpu_time()->name) == 0;
}

static int add_row(struct fg_store *store, const struct fg_measure *measure,
		   const uint8_t digest[16], int64_t *id, struct fg_error *err)
{
	return FG_QUERY_FIND(store->db, id, err, FG_SQL_MEASURE_ADD,
			     FG_BIND(fg_digest_blob(digest)), FG_BIND(measure->name),
			     FG_BIND(measure->unit), FG_BIND(measure->fold),
			     FG_BIND(measure->better), FG_BIND(measure->exact));
}

int fg_store_measure_id(struct fg_store *store, const struct fg_measure *measure, int64_t *id,
			struct fg_error *err)
{
	const char traits[] = {(char)('a' + traits_of(measure)), '\0'};
	uint8_t digest[FG_DIGEST_SIZE];
	int status = FG_OK;

	*id = 0;
	if (is_cpu_time(measure))
		return FG_OK;
	fg_digest(measure->name, measure->unit, traits, digest);
	status = fg_store_look_up(store, FG_SQL_MEASURE_FIND, digest, id, err);
	return status == FG_ENOENT ? add_row(store, measure, digest, id, err) : status;
}

static void add_item(struct fg_series_measures *to, const struct fg_measure *measure, int64_t id)
{
	FG_APPEND(to->items, to->count, to->capacity) = (struct fg_series_measure){*measure, id};
}

static struct fg_measure described(struct fg_arena *arena, const char *name, const char *unit)
{
	return fg_measure_describe(fg_arena_strdup(arena, name), fg_arena_strdup(arena, unit));
}

int fg_store_series_measures(struct fg_store *store, int64_t series,
			     struct fg_series_measures *measures, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	add_item(measures, cpu_time(), 0);
	FG_QUERY_WITH(&q, store->db, FG_SQL_MEASURES_OF_SERIES, FG_BIND(series));
	while ((status = fg_query_step(&q, err)) > 0) {
		struct fg_measure m =
			described(&measures->arena, fg_column_text(&q, 1), fg_column_text(&q, 2));

		m.fold = (enum fg_measure_fold)fg_column_int(&q, 3);
		m.better = (enum fg_better)fg_column_int(&q, 4);
		m.exact = fg_column_int(&q, 5) != 0;
		add_item(measures, &m, fg_column_int(&q, 0));
	}
	fg_query_end(&q);
	return status;
}

void fg_series_measures_release(struct fg_series_measures *measures)
{
	free(measures->items);
	fg_arena_release(&measures->arena);
	*measures = (struct fg_series_measures){0};
}

bool fg_profile_set_has(const struct fg_profile_set *set, uint16_t measure, size_t first)
{
	for (size_t r = first; r < set->row_count; r++) {
		if (set->rows[r].measure == measure)
			return true;
	}
	return false;
}

void fg_measure_write(const struct fg_measure *measure, struct fg_bytes *bytes)
{
	fg_bytes_text(bytes, measure->name);
	fg_bytes_text(bytes, measure->unit);
	fg_bytes_varint(bytes, traits_of(measure));
}

static const char *read_name(struct fg_byte_reader *reader, struct fg_arena *arena)
{
	const char *text = NULL;
	const size_t length = fg_read_text(reader, FG_MAX_NAME_BYTES, &text);

	if (!text || length == 0)
		reader->failed = true;
	return fg_arena_strndup(arena, text ? text : "", text ? length : 0);
}

struct fg_measure fg_measure_read(struct fg_byte_reader *reader, struct fg_arena *arena)
{
	const char *name = read_name(reader, arena);
	const char *unit = read_name(reader, arena);
	const uint64_t traits = fg_read_varint(reader);
	struct fg_measure measure = fg_measure_describe(name, unit);

	if (traits > KNOWN_BITS || (traits & FOLD_BITS) > FG_FOLD_MIN)
		reader->failed = true;
	measure.fold = (enum fg_measure_fold)(reader->failed ? 0 : traits & FOLD_BITS);
	measure.better = traits & HIGHER_IS_BETTER ? FG_BETTER_HIGHER : FG_BETTER_LOWER;
	measure.exact = (traits & IS_EXACT) != 0;
	return measure;
}
