/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles: the totals of 256 series, turned around into one blob per function. */
#ifndef FG_STORE_SERVING_TILES_H
#define FG_STORE_SERVING_TILES_H

#include "base/base.h"
#include "base/error.h"

struct fg_store;

/* A tile (tiles.c) has the values of one function in so many series, in whole steps. */
enum {
	FG_TILE_MEMBERS = 256,
	FG_TILE_STEP_NS = 100
};

/*
 * Seal tiles: every 256 series of a benchmark that were not yet are turned around into one blob per
 * function. For a background thread; `sealed` is the number of tiles' rows written.  Nothing to do
 * is FG_OK.
 */
int fg_store_seal(struct fg_store *store, size_t *sealed, struct fg_error *err) FG_NODISCARD;

#endif
