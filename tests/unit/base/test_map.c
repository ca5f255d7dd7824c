// SPDX-License-Identifier: Apache-2.0
#include "base/map.h"
#include "tests/support/fg_test.h"

static void many_keys_are_found_again_in_order_of_insertion(void **state)
{
	struct fg_map map = {0};
	char key[32];

	(void)state;
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

static void second_insertion_gives_the_first_value(void **state)
{
	struct fg_map map = {0};
	bool is_new = true;
	uint64_t *value = NULL;

	(void)state;
	(void)fg_map_add_text(&map, "a", 1, NULL);
	value = fg_map_add_text(&map, "a", 2, &is_new);
	assert_false(is_new);
	assert_int_equal(*value, 1);
	*value = 9;
	assert_int_equal(*fg_map_get_text(&map, "a"), 9);
	fg_map_release(&map);
}

static void keys_are_bytes_not_texts(void **state)
{
	struct fg_map map = {0};

	(void)state;
	(void)fg_map_add(&map, "a\0b", 3, 1, NULL);
	(void)fg_map_add(&map, "a\0c", 3, 2, NULL);
	(void)fg_map_add(&map, "", 0, 3, NULL);
	assert_int_equal(*fg_map_get(&map, "a\0c", 3), 2);
	assert_int_equal(*fg_map_get(&map, "", 0), 3);
	assert_null(fg_map_get(&map, "a", 1));
	fg_map_release(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_keys_are_found_again_in_order_of_insertion),
		cmocka_unit_test(second_insertion_gives_the_first_value),
		cmocka_unit_test(keys_are_bytes_not_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
