/* SPDX-License-Identifier: Apache-2.0 */
/* Binary search in arrays of structs that are sorted by a 64-bit member. */
#ifndef FG_BASE_SORTED_H
#define FG_BASE_SORTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* An array of elements of `size` bytes, sorted by the 64-bit member at `offset`. */
struct fg_sorted {
	const void *items;
	size_t count;
	size_t size;
	size_t offset;
};

#define FG_SORTED(items, count, type, member) \
 (&(const struct fg_sorted){(items), (count), sizeof(type), offsetof(type, member)})

/* Returns the number of elements below the key, or, with `equal`, up to the key. */
static inline size_t fg_sorted_before(const struct fg_sorted *sorted, uint64_t key, bool equal)
{
	const char *members = sorted->items;
	size_t low = 0;
	size_t high = sorted->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		uint64_t value = 0;

		memcpy(&value, members + middle * sorted->size + sorted->offset, sizeof(value));
		if (value < key || (equal && value == key))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns the number of elements below the key. */
static inline size_t fg_sorted_below(const struct fg_sorted *sorted, uint64_t key)
{
	return fg_sorted_before(sorted, key, false);
}

/*
 * Returns the number of elements up to the key: the last of them is the element that begins at or
 * before the key.
 */
static inline size_t fg_sorted_up_to(const struct fg_sorted *sorted, uint64_t key)
{
	return fg_sorted_before(sorted, key, true);
}

#endif
