// SPDX-License-Identifier: Apache-2.0
#include "base/radix_sort.h"
#include "base/random.h"
#include "tests/support/fg_test.h"

enum {
	COUNT = 5000
};

/*
 * Checks the definition of sorting: ascending keys, nothing lost, and equal keys in their old order
 * (their values ascend).
 */
static void expect_sorted(uint64_t mask, uint64_t base)
{
	struct fg_keyed *items = fg_xcalloc(COUNT, sizeof(items[0]));
	uint64_t *keys = fg_xcalloc(COUNT, sizeof(keys[0]));
	bool *seen = fg_xcalloc(COUNT, sizeof(seen[0]));
	struct fg_random random;

	fg_random_seed(&random, 7);
	for (uint32_t i = 0; i < COUNT; i++) {
		keys[i] = base | (fg_random_next(&random) & mask);
		items[i] = (struct fg_keyed){.key = keys[i], .value = i};
	}
	fg_keyed_sort(items, COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		assert_true(items[i].key == keys[items[i].value]);
		assert_false(seen[items[i].value]);
		seen[items[i].value] = true;
		assert_true(
			i == 0 || items[i - 1].key < items[i].key ||
			(items[i - 1].key == items[i].key && items[i - 1].value < items[i].value));
	}
	free(items);
	free(keys);
	free(seen);
}

FG_TEST(items_are_sorted_by_all_of_their_bits)
{
	expect_sorted(UINT64_MAX, 0);
	expect_sorted(0xfffff, UINT64_C(0x5555000000000000));
	expect_sorted(UINT64_C(0x8000000000000001), 0);
}

FG_TEST(equal_keys_keep_their_order)
{
	expect_sorted(3, 0);
	expect_sorted(0, 42);
}

FG_TEST(nothing_and_one_are_sorted)
{
	struct fg_keyed one = {.key = 9, .value = 1};

	fg_keyed_sort(NULL, 0);
	fg_keyed_sort(&one, 1);
	assert_int_equal(one.key, 9);
}
