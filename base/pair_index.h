/* SPDX-License-Identifier: Apache-2.0 */
/*
 * (parent, child) → index, for trees built from millions of steps: one open-addressing table of
 * 16-byte slots, about ten nanoseconds per step. `struct fg_pair_index index = {0};` is empty.
 */
#ifndef FG_BASE_PAIR_INDEX_H
#define FG_BASE_PAIR_INDEX_H

#include "base/base.h"

struct fg_pair_slot {
	uint32_t first;
	uint32_t second;
	uint32_t value;
	uint32_t used;
};

struct fg_pair_index {
	struct fg_pair_slot *slots;
	size_t slot_count; /* a power of two, or 0 */
	size_t count;
	uint64_t seed;
};

/* Returns a pointer to the pair's value; a new pair gets `value`. Valid until the next call. */
uint32_t *fg_pair_index_add(struct fg_pair_index *index, uint32_t first, uint32_t second,
			    uint32_t value, bool *is_new);
/* Returns NULL if the pair is absent. */
const uint32_t *fg_pair_index_get(const struct fg_pair_index *index, uint32_t first,
				  uint32_t second);
/* Reserves room for this many pairs: growing step by step would move every pair several times. */
void fg_pair_index_reserve(struct fg_pair_index *index, size_t count);
void fg_pair_index_release(struct fg_pair_index *index);

#endif
