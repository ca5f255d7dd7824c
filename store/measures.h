/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The measures of a profile in the store. CPU time has its own kind of chunk (chunks.h); every
 * other measure is a row of `measure`, and its id determines the kind of its chunks. On the wire, a
 * measure has its name instead of an id: docs/formats/upload.md.
 */
#ifndef FG_STORE_MEASURES_H
#define FG_STORE_MEASURES_H

#include "base/arena.h"
#include "base/base.h"
#include "base/error.h"
#include "model/measure.h"
#include "model/profile_set.h"
#include "store/bytes.h"
#include "store/chunks.h"

/* Returns the kind of chunk that holds a measure's rows. */
static inline int64_t fg_measure_rows_kind(int64_t id)
{
	return id ? FG_CHUNK_MEASURES + id : FG_CHUNK_ROWS;
}

/* Returns true if chunks of this kind hold rows of a measure. */
static inline bool fg_measure_is_rows(int64_t kind)
{
	return kind == FG_CHUNK_ROWS || kind > FG_CHUNK_MEASURES;
}

/* Finds or adds the row of a measure. CPU time has no row; its id is 0. */
int fg_store_measure_id(struct fg_store *store, const struct fg_measure *measure, int64_t *id,
			struct fg_error *err) FG_NODISCARD;

struct fg_series_measure {
	struct fg_measure measure; /* strings are in the list's arena */
	int64_t id;                /* 0: CPU time */
};

/* The measures of a series: CPU time first, then each measure with chunks in the series. */
struct fg_series_measures {
	struct fg_arena arena;
	struct fg_series_measure *items;
	size_t count, capacity;
};

int fg_store_series_measures(struct fg_store *store, int64_t series,
			     struct fg_series_measures *measures, struct fg_error *err)
	FG_NODISCARD;
void fg_series_measures_release(struct fg_series_measures *measures);

/* Returns true if the set has rows of this measure from `first` on. */
bool fg_profile_set_has(const struct fg_profile_set *set, uint16_t measure, size_t first);

/* Writes a measure's name, unit and traits, which precede its weights on the wire. */
void fg_measure_write(const struct fg_measure *measure, struct fg_bytes *bytes);
/* Reads a measure into the arena. Sets reader->failed if its bytes are damaged. */
struct fg_measure fg_measure_read(struct fg_byte_reader *reader, struct fg_arena *arena);

#endif
