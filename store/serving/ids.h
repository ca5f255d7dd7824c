/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ids of functions and call paths that are in the database for good, shared by all sessions of one
 * process: what turns the dictionary of an upload into rows without asking the database for each of
 * them.
 *
 * Only what was committed gets in (rows of these two tables never change and never go), so any
 * thread may use what it finds here.  Several threads may read at once; a writer waits for them.
 */
#ifndef FG_STORE_SERVING_IDS_H
#define FG_STORE_SERVING_IDS_H

#include "base/base.h"
#include "base/map.h"

struct fg_store;

struct fg_ids;

struct fg_ids *fg_ids_new(void);
void fg_ids_free(struct fg_ids *ids); /* NULL is fine */

/* Hold the table while many are looked up: begin, find ..., end. */
void fg_ids_begin(struct fg_ids *ids);
void fg_ids_end(struct fg_ids *ids);
/* 0: not known.  `key` is name, NUL, library; `hash` is its fg_map_hash(). */
int64_t fg_ids_function(const struct fg_ids *ids, const void *key, size_t size, uint64_t hash);
uint64_t fg_ids_node(const struct fg_ids *ids, uint64_t parent, uint64_t function);
void fg_ids_node_soon(const struct fg_ids *ids, uint64_t parent, uint64_t function);
size_t fg_ids_function_count(struct fg_ids *ids);
size_t fg_ids_node_count(struct fg_ids *ids);

/*
 * What a committed transaction made or found: name NUL library → id; two 8-byte numbers (parent,
 * function) → id.
 */
void fg_ids_add(struct fg_ids *ids, const struct fg_map *functions, const struct fg_map *nodes);

/* Share the ids that this session commits with all others; `ids` is borrowed. */
void fg_store_share_ids(struct fg_store *store, struct fg_ids *ids);

#endif
