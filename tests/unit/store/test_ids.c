// SPDX-License-Identifier: Apache-2.0
#include "store/id_table.h"
#include "store/serving/ids.h"
#include "tests/support/fg_test.h"

static void table_gives_back_what_was_put_in(void **state)
{
	struct fg_id_table table = {0};

	(void)state;
	assert_int_equal(fg_id_table_get(&table, 7), 0);
	for (uint64_t key = 1; key <= 5000; key++)
		assert_int_equal(fg_id_table_add(&table, key * 4096, key), key);
	for (uint64_t key = 1; key <= 5000; key++)
		assert_int_equal(fg_id_table_get(&table, key * 4096), key);
	assert_int_equal(fg_id_table_get(&table, 4097), 0);
	assert_int_equal(fg_id_table_add(&table, 4096, 99), 1);
	assert_int_equal(table.count, 5000);
	fg_id_table_release(&table);
}

static void ids_know_what_was_added_and_nothing_else(void **state)
{
	struct fg_ids *ids = fg_ids_new();
	struct fg_map functions = {0};
	struct fg_map nodes = {0};
	const uint64_t paths[3][2] = {{0, 3}, {12, 3}, {(uint64_t)UINT32_MAX + 1, 3}};

	(void)state;
	(void)fg_map_add(&functions, "f\0lib", 5, 3, NULL);
	for (uint64_t i = 0; i < FG_ARRAY_SIZE(paths); i++)
		(void)fg_map_add(&nodes, paths[i], sizeof(paths[i]), 20 + i, NULL);
	fg_ids_add(ids, &functions, &nodes);
	fg_ids_begin(ids);
	assert_int_equal(fg_ids_function(ids, "f\0lib", 5, fg_map_hash("f\0lib", 5)), 3);
	assert_int_equal(fg_ids_function(ids, "f\0li", 4, fg_map_hash("f\0li", 4)), 0);
	assert_int_equal(fg_ids_node(ids, 0, 3), 20);
	assert_int_equal(fg_ids_node(ids, 12, 3), 21);
	assert_int_equal(fg_ids_node(ids, 12, 4), 0);
	/* Too large for this table: it is looked up in the database, as one that is not known. */
	assert_int_equal(fg_ids_node(ids, (uint64_t)UINT32_MAX + 1, 3), 0);
	fg_ids_end(ids);
	assert_int_equal(fg_ids_node_count(ids), 2);
	fg_map_release(&functions);
	fg_map_release(&nodes);
	fg_ids_free(ids);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_gives_back_what_was_put_in),
		cmocka_unit_test(ids_know_what_was_added_and_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
