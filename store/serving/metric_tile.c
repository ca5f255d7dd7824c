// SPDX-License-Identifier: Apache-2.0
/*
 * A metric's levels in the 256 members of a seal, column by column: is it there; pairs; the five
 * values; the outcome.
 */
#include "store/serving/seals.h"

#include <math.h>

enum {
	VALUES = 5,
	OUTCOME_BYTES = 1 << 10
};

int64_t fg_metric_key(int64_t metric)
{
	return -metric;
}

static double *value_of(struct fg_level *level, int which)
{
	switch (which) {
	case 0:
		return &level->medians[0];
	case 1:
		return &level->medians[1];
	case 2:
		return &level->ratio;
	case 3:
		return &level->low;
	default:
		return &level->high;
	}
}

void fg_metric_tile_write(const struct fg_level levels[FG_TILE_MEMBERS], struct fg_bytes *content)
{
	for (size_t i = 0; i < FG_TILE_MEMBERS; i++)
		fg_bytes_varint(content, levels[i].is_there);
	for (size_t i = 0; i < FG_TILE_MEMBERS; i++)
		fg_bytes_signed(content, levels[i].pairs);
	for (int v = 0; v < VALUES; v++) {
		for (size_t i = 0; i < FG_TILE_MEMBERS; i++) {
			struct fg_level level = levels[i];
			const double value = *value_of(&level, v);

			/* One NaN for all: they pack to nothing. */
			fg_bytes_double(content, isnan(value) ? (double)NAN : value);
		}
	}
	for (size_t i = 0; i < FG_TILE_MEMBERS; i++)
		fg_bytes_text(content, levels[i].outcome);
}

int fg_metric_tile_read(const struct fg_bytes *content, struct fg_level levels[FG_TILE_MEMBERS],
			struct fg_arena *arena, struct fg_error *err)
{
	struct fg_byte_reader reader = {content->data, content->data + content->size, false};
	const char *last = NULL;

	memset(levels, 0, FG_TILE_MEMBERS * sizeof(*levels));
	if (content->size == 0)
		return FG_OK;
	for (size_t i = 0; i < FG_TILE_MEMBERS; i++)
		levels[i].is_there = fg_read_varint(&reader) != 0;
	for (size_t i = 0; i < FG_TILE_MEMBERS; i++)
		levels[i].pairs = fg_read_signed(&reader);
	for (int v = 0; v < VALUES; v++) {
		for (size_t i = 0; i < FG_TILE_MEMBERS; i++)
			*value_of(&levels[i], v) = fg_read_double(&reader);
	}
	for (size_t i = 0; i < FG_TILE_MEMBERS; i++) {
		struct fg_member_text text = {0};

		text.length = fg_read_text(&reader, OUTCOME_BYTES, &text.at);
		levels[i].outcome = fg_member_copy(arena, &text, last);
		last = levels[i].outcome ? levels[i].outcome : last;
	}
	return reader.failed ? fg_error_set(err, FG_EPARSE, "a metric's tile is damaged") : FG_OK;
}
