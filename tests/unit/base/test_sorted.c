// SPDX-License-Identifier: Apache-2.0
#include "base/sorted.h"
#include "tests/support/fg_test.h"

struct place {
	const char *name;
	uint64_t start;
};

static const struct place places[] = {{"a", 16}, {"b", 32}, {"b again", 32}, {"c", UINT64_MAX}};

static const struct fg_sorted sorted = {places, 4, sizeof(struct place),
					offsetof(struct place, start)};

FG_TEST(equal_keys_are_counted_up_to_and_not_below)
{
	assert_int_equal(fg_sorted_below(&sorted, 32), 1);
	assert_int_equal(fg_sorted_up_to(&sorted, 32), 3);
	assert_int_equal(fg_sorted_up_to(&sorted, 31), 1);
	assert_int_equal(fg_sorted_below(&sorted, 33), 3);
}

FG_TEST(keys_outside_of_the_array_have_none_or_all_before_them)
{
	assert_int_equal(fg_sorted_up_to(&sorted, 15), 0);
	assert_int_equal(fg_sorted_below(&sorted, 0), 0);
	assert_int_equal(fg_sorted_below(&sorted, UINT64_MAX), 3);
	assert_int_equal(fg_sorted_up_to(&sorted, UINT64_MAX), 4);
	assert_int_equal(fg_sorted_up_to(FG_SORTED(NULL, 0, struct place, start), 7), 0);
}
