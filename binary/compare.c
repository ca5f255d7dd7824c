// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"
#include "binary/code.h"

static int compare_items(const struct fg_code_item *a, const struct fg_code_item *b)
{
	const int by_name = strcmp(a->name, b->name);
	const int by_unit = by_name ? by_name : strcmp(a->unit, b->unit);

	return by_unit ? by_unit : (a->ordinal > b->ordinal) - (a->ordinal < b->ordinal);
}

static struct fg_code_pair pair_of(const struct fg_code *before, size_t b,
				   const struct fg_code *after, size_t a)
{
	struct fg_code_pair pair = {.before = (uint32_t)b, .after = (uint32_t)a};
	const int order = b == before->item_count ? 1
			  : a == after->item_count
				  ? -1
				  : compare_items(&before->items[b], &after->items[a]);

	if (order > 0) {
		pair.before = FG_CODE_NONE;
		pair.change = FG_CODE_ADDED;
	} else if (order < 0) {
		pair.after = FG_CODE_NONE;
		pair.change = FG_CODE_REMOVED;
	} else if (memcmp(before->items[b].digest, after->items[a].digest, FG_CODE_DIGEST_SIZE) !=
		   0) {
		pair.change = FG_CODE_CHANGED;
	}
	return pair;
}

/*
 * Marks everything from which a changed item can be reached, following the uses of the newer build
 * backwards.
 */
static void spread(const struct fg_code *after, struct fg_code_difference *difference,
		   const uint32_t *pair_of_item)
{
	uint32_t *first = fg_xcalloc(after->item_count + 2, sizeof(first[0]));
	uint32_t *users = fg_xcalloc(after->use_count + 1, sizeof(users[0]));
	uint32_t *queue = fg_xcalloc(after->item_count + 1, sizeof(queue[0]));
	size_t head = 0;
	size_t tail = 0;

	for (size_t u = 0; u < after->use_count; u++)
		first[after->uses[u] + 2]++;
	for (size_t i = 2; i < after->item_count + 2; i++)
		first[i] += first[i - 1];
	for (size_t i = 0; i < after->item_count; i++) {
		const struct fg_code_item *item = &after->items[i];

		for (uint32_t u = 0; u < item->use_count; u++)
			users[first[after->uses[item->first_use + u] + 1]++] = (uint32_t)i;
	}
	for (size_t i = 0; i < after->item_count; i++) {
		struct fg_code_pair *pair = &difference->pairs[pair_of_item[i]];

		if (pair->change != FG_CODE_SAME) {
			pair->reaches_change = true;
			queue[tail++] = (uint32_t)i;
		}
	}
	while (head < tail) {
		const uint32_t item = queue[head++];

		for (uint32_t u = first[item]; u < first[item + 1]; u++) {
			struct fg_code_pair *pair = &difference->pairs[pair_of_item[users[u]]];

			if (!pair->reaches_change) {
				pair->reaches_change = true;
				queue[tail++] = users[u];
			}
		}
	}
	free(first);
	free(users);
	free(queue);
}

void fg_code_compare(const struct fg_code *before, const struct fg_code *after,
		     struct fg_code_difference *difference)
{
	uint32_t *pair_of_item = fg_xcalloc(after->item_count + 1, sizeof(pair_of_item[0]));
	size_t b = 0;
	size_t a = 0;

	*difference = (struct fg_code_difference){0};
	difference->pairs = fg_xcalloc(before->item_count + after->item_count + 1,
				       sizeof(difference->pairs[0]));
	while (b < before->item_count || a < after->item_count) {
		const struct fg_code_pair pair = pair_of(before, b, after, a);

		if (pair.after != FG_CODE_NONE)
			pair_of_item[a++] = (uint32_t)difference->pair_count;
		if (pair.before != FG_CODE_NONE)
			b++;
		difference->counts[pair.change]++;
		difference->pairs[difference->pair_count++] = pair;
	}
	spread(after, difference, pair_of_item);
	free(pair_of_item);
}

void fg_code_difference_release(struct fg_code_difference *difference)
{
	free(difference->pairs);
	*difference = (struct fg_code_difference){0};
}
