/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles: the totals of 256 series, turned around into one blob per function. */
#ifndef FG_STORE_SERVING_TILES_H
#define FG_STORE_SERVING_TILES_H

#include "base/base.h"
#include "base/error.h"

struct fg_store;

/* A tile (tiles.c) holds the values of one function in this many series, in whole steps. */
enum {
	FG_TILE_MEMBERS = 256,
	FG_TILE_STEP_NS = 100
};

/* What a seal notes of a member's run. */
enum {
	FG_MEMBER_DIRTY = 1,
	FG_MEMBER_COMPLETE = 2
};

/*
 * Seal: transpose every 256 unsealed series of a benchmark into one blob per function.  For a
 * background thread; `sealed` becomes the number of tiles written, 0 when there was nothing to do.
 */
int fg_store_seal(struct fg_store *store, size_t *sealed, struct fg_error *err) FG_NODISCARD;

#endif
