// SPDX-License-Identifier: Apache-2.0
#include "base/pair_index.h"

#include "base/hash.h"

enum {
	FIRST_SLOTS = 256
};

/*
 * Two multiplications mix both halves. Outsiders choose the pairs of an upload, but do not know the
 * seed.
 */
static size_t slot_of(const struct fg_pair_index *index, uint32_t first, uint32_t second)
{
	uint64_t mixed =
		(((uint64_t)first << 32 | second) ^ index->seed) * UINT64_C(0x9e3779b97f4a7c15);

	mixed ^= mixed >> 29;
	mixed *= UINT64_C(0xbf58476d1ce4e5b9);
	return (size_t)(mixed >> 32) & (index->slot_count - 1);
}

static struct fg_pair_slot *find(const struct fg_pair_index *index, uint32_t first, uint32_t second)
{
	size_t at = slot_of(index, first, second);

	for (;;) {
		struct fg_pair_slot *slot = &index->slots[at];

		if (!slot->used || (slot->first == first && slot->second == second))
			return slot;
		at = (at + 1) & (index->slot_count - 1);
	}
}

static void resize(struct fg_pair_index *index, size_t slot_count)
{
	struct fg_pair_index larger = {
		.slot_count = slot_count, .count = index->count, .seed = fg_process_secret()};

	larger.slots = fg_xcalloc(larger.slot_count, sizeof(larger.slots[0]));
	for (size_t i = 0; i < index->slot_count; i++)
		if (index->slots[i].used)
			*find(&larger, index->slots[i].first, index->slots[i].second) =
				index->slots[i];
	free(index->slots);
	*index = larger;
}

void fg_pair_index_reserve(struct fg_pair_index *index, size_t count)
{
	size_t slot_count = index->slot_count ? index->slot_count : FIRST_SLOTS;

	while (count * 3 > slot_count * 2)
		slot_count *= 2;
	if (slot_count > index->slot_count)
		resize(index, slot_count);
}

uint32_t *fg_pair_index_add(struct fg_pair_index *index, uint32_t first, uint32_t second,
			    uint32_t value, bool *is_new)
{
	struct fg_pair_slot *slot;

	if ((index->count + 1) * 3 > index->slot_count * 2)
		fg_pair_index_reserve(index, index->count + 1);
	slot = find(index, first, second);
	if (is_new)
		*is_new = !slot->used;
	if (!slot->used) {
		*slot = (struct fg_pair_slot){
			.first = first, .second = second, .value = value, .used = 1};
		index->count++;
	}
	return &slot->value;
}

const uint32_t *fg_pair_index_get(const struct fg_pair_index *index, uint32_t first,
				  uint32_t second)
{
	const struct fg_pair_slot *slot;

	if (index->slot_count == 0)
		return NULL;
	slot = find(index, first, second);
	return slot->used ? &slot->value : NULL;
}

void fg_pair_index_release(struct fg_pair_index *index)
{
	free(index->slots);
	*index = (struct fg_pair_index){0};
}
