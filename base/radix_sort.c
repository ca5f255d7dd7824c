// SPDX-License-Identifier: Apache-2.0
#include "base/radix_sort.h"

enum {
	DIGIT_BITS = 11,
	DIGITS = 1 << DIGIT_BITS,
	KEY_BITS = 64
};

static size_t digit_of(const struct fg_keyed *item, unsigned shift)
{
	return item->key >> shift & (DIGITS - 1);
}

static void distribute(const struct fg_keyed *from, struct fg_keyed *to, size_t count,
		       unsigned shift)
{
	size_t starts[DIGITS] = {0};
	size_t sum = 0;

	for (size_t i = 0; i < count; i++)
		starts[digit_of(&from[i], shift)]++;
	for (size_t d = 0; d < DIGITS; d++) {
		const size_t here = starts[d];

		starts[d] = sum;
		sum += here;
	}
	for (size_t i = 0; i < count; i++)
		to[starts[digit_of(&from[i], shift)]++] = from[i];
}

/*
 * Sorts by the least significant digit first and skips digits that all keys share: three passes for
 * most files' addresses.
 */
void fg_keyed_sort(struct fg_keyed *items, size_t count)
{
	struct fg_keyed *spare = fg_xcalloc(count ? count : 1, sizeof(struct fg_keyed));
	struct fg_keyed *from = items;
	struct fg_keyed *to = spare;
	uint64_t differing = 0;

	for (size_t i = 1; i < count; i++)
		differing |= items[i].key ^ items[0].key;
	for (unsigned shift = 0; shift < KEY_BITS; shift += DIGIT_BITS) {
		struct fg_keyed *swap = from;

		if ((differing >> shift & (DIGITS - 1)) == 0)
			continue;
		distribute(from, to, count, shift);
		from = to;
		to = swap;
	}
	if (from != items)
		memcpy(items, from, count * sizeof(items[0]));
	free(spare);
}
