// SPDX-License-Identifier: Apache-2.0
#include "store/serving/likeness.h"

#include "model/profile_set.h"
#include "store/serving/dictionary.h"

enum {
	CLOSE_BY = 8, /* functions that may have gone at one place */
	PATIENCE =
		/* after this many misses, only one place in this many is tried */
		64,
	PATIENCE_PART = 8,
	BLOCK = 256
};

static size_t common_bytes(const uint8_t *a, const uint8_t *b, size_t most)
{
	size_t n = 0;

	while (most - n >= BLOCK && memcmp(a + n, b + n, BLOCK) == 0)
		n += BLOCK;
	while (n < most && a[n] == b[n])
		n++;
	return n;
}

/* Two that have nothing to do with each other are not tried to the end. */
static void miss(struct fg_likeness *walk, size_t i)
{
	if (++walk->misses > PATIENCE + i / PATIENCE_PART)
		walk->base = NULL;
}

/*
 * The places to try: as if others had been put in the place of those since the last match, or
 * added, or taken away.
 */
static size_t place_to_try(const struct fg_likeness *walk, size_t i, size_t attempt)
{
	return attempt == 0 ? walk->there + (i - walk->here) : walk->there + attempt;
}

/* Functions of the base from `first` on whose bytes begin at `at`. */
static size_t run_of_functions(const struct fg_dictionary *base, size_t first, size_t most,
			       const uint8_t *at, const uint8_t *end)
{
	const uint32_t begin = base->texts.at[first];
	const size_t left = base->texts.at[base->function_count] - begin;
	const size_t common = common_bytes(at, base->texts.content.data + begin,
					   left < (size_t)(end - at) ? left : (size_t)(end - at));
	size_t count = 0;

	while (count < most && first + count < base->function_count &&
	       base->texts.at[first + count + 1] - begin <= common)
		count++;
	return count;
}

size_t fg_alike_functions(struct fg_likeness *walk, size_t i, size_t most, const uint8_t *at,
			  const uint8_t *end, size_t *first)
{
	for (size_t attempt = 0; walk->base && attempt <= CLOSE_BY; attempt++) {
		const size_t place = place_to_try(walk, i, attempt);
		size_t count = 0;

		if (place >= walk->base->function_count)
			continue;
		count = run_of_functions(walk->base, place, most, at, end);
		if (count == 0)
			continue;
		walk->here = i + count - 1;
		walk->there = place + count - 1;
		*first = place;
		return count;
	}
	if (walk->base)
		miss(walk, i);
	return 0;
}

uint32_t fg_alike_node(struct fg_likeness *walk, size_t i, uint32_t parent, uint32_t function)
{
	for (size_t attempt = 0; walk->base && attempt <= CLOSE_BY; attempt++) {
		const size_t place = place_to_try(walk, i, attempt);
		const struct fg_profile_node *node = NULL;

		if (place >= walk->base->node_count)
			continue;
		node = &walk->base->nodes[place];
		if (place == 0 || node->parent != parent || node->function != function)
			continue;
		walk->here = i;
		walk->there = place;
		return (uint32_t)place;
	}
	if (walk->base)
		miss(walk, i);
	return 0;
}
