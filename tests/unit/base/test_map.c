// SPDX-License-Identifier: Apache-2.0
#include "base/map.h"
#include "tests/support/fg_test.h"

FG_TEST(many_keys_are_found_again_in_order_of_insertion)
{
	struct fg_map map = {0};
	char key[32];

	for (uint64_t i = 0; i < 5000; i++) {
		bool is_new = false;

		(void)snprintf(key, sizeof(key), "key-%lu", (unsigned long)(i * 7919 % 5000));
		(void)fg_map_add_text(&map, key, i, &is_new);
		assert_true(is_new);
	}
	assert_int_equal(map.count, 5000);
	for (uint64_t i = 0; i < 5000; i++) {
		(void)snprintf(key, sizeof(key), "key-%lu", (unsigned long)(i * 7919 % 5000));
		assert_string_equal(map.entries[i].key, key);
		assert_int_equal(*fg_map_get_text(&map, key), i);
	}
	assert_null(fg_map_get_text(&map, "key-5000"));
	fg_map_release(&map);
	assert_null(fg_map_get_text(&map, "key-1"));
}

FG_TEST(second_insertion_gives_the_first_value)
{
	struct fg_map map = {0};
	bool is_new = true;
	uint64_t *value = NULL;

	(void)fg_map_add_text(&map, "a", 1, NULL);
	value = fg_map_add_text(&map, "a", 2, &is_new);
	assert_false(is_new);
	assert_int_equal(*value, 1);
	*value = 9;
	assert_int_equal(*fg_map_get_text(&map, "a"), 9);
	fg_map_release(&map);
}

FG_TEST(keys_are_bytes_not_texts)
{
	struct fg_map map = {0};

	(void)fg_map_add(&map, "a\0b", 3, 1, NULL);
	(void)fg_map_add(&map, "a\0c", 3, 2, NULL);
	(void)fg_map_add(&map, "", 0, 3, NULL);
	assert_int_equal(*fg_map_get(&map, "a\0c", 3), 2);
	assert_int_equal(*fg_map_get(&map, "", 0), 3);
	assert_null(fg_map_get(&map, "a", 1));
	fg_map_release(&map);
}
