// SPDX-License-Identifier: Apache-2.0
#include "model/measure.h"
#include "tests/support/fg_test.h"

FG_TEST(every_builtin_measure_has_what_a_column_needs)
{
	const struct fg_measure_list list = {0};

	for (uint16_t id = 0; id < FG_MEASURE_BUILTIN_COUNT; id++) {
		const struct fg_measure *measure = fg_measure_at(&list, id);
		uint16_t found = UINT16_MAX;

		assert_non_null(measure->name);
		assert_non_null(measure->label);
		assert_non_null(measure->unit);
		assert_non_null(measure->format);
		assert_true(fg_measure_find(&list, measure->name, &found));
		assert_int_equal(found, id);
	}
}

FG_TEST(time_comes_first_and_reads_as_time)
{
	const struct fg_measure_list list = {0};
	char text[FG_NUMBER_TEXT_SIZE];

	assert_int_equal(FG_MEASURE_CPU_TIME, 0);
	assert_true(fg_measure_is_time(FG_MEASURE_WALL_TIME));
	assert_false(fg_measure_is_time(FG_MEASURE_BUILTIN_COUNT));
	assert_string_equal(fg_measure_text(fg_measure_at(&list, 0), 12.5e6, text), "12.5 ms");
}

FG_TEST(a_member_is_described_by_its_family_and_by_a_row_of_its_own_before_that)
{
	const struct fg_measure table[] = {
		{.name = "calls.", .unit = "1"},
		{.name = "calls.all", .unit = "1", .exact = true},
	};

	assert_ptr_equal(fg_measure_match(table, 2, "calls.fit"), &table[0]);
	assert_ptr_equal(fg_measure_match(table, 2, "calls.all"), &table[1]);
	assert_null(fg_measure_match(table, 2, "calls"));
	assert_null(fg_measure_match(table, 2, "heap.bytes"));
}

FG_TEST(a_measure_outside_the_table_follows_its_unit)
{
	const struct fg_measure bytes = fg_measure_describe("alloc_space", "bytes");
	const struct fg_measure time = fg_measure_describe("wall_time", "bytes");
	char text[FG_NUMBER_TEXT_SIZE];

	assert_string_equal(bytes.name, "alloc_space");
	assert_string_equal(fg_measure_text(&bytes, 3 * 1048576.0, text), "3.00 MiB");
	assert_string_equal(time.unit, "ns");
	assert_string_equal(fg_measure_describe("things", NULL).unit, "1");
}

FG_TEST(a_list_keeps_one_copy_of_each_name_after_the_builtin_ones)
{
	struct fg_arena arena = {0};
	struct fg_measure_list list = {0};
	char name[] = "alloc_space";
	struct fg_measure measure = fg_measure_describe(name, "bytes");
	uint16_t id = 0;

	assert_false(fg_measure_find(&list, "alloc_space", &id));
	id = fg_measure_add(&list, &arena, &measure);
	assert_int_equal(id, FG_MEASURE_BUILTIN_COUNT);
	assert_int_equal(fg_measure_add(&list, &arena, &measure), id);
	memset(name, 'x', sizeof(name) - 1);
	assert_string_equal(fg_measure_at(&list, id)->name, "alloc_space");
	measure = fg_measure_describe("cpu_time", NULL);
	assert_int_equal(fg_measure_add(&list, &arena, &measure), FG_MEASURE_CPU_TIME);
	assert_int_equal(fg_measure_count(&list), FG_MEASURE_BUILTIN_COUNT + 1);
	fg_arena_release(&arena);
}

FG_TEST(nothing_seen_is_neutral_however_values_fold)
{
	assert_true(fg_measure_join(FG_FOLD_SUM, 3, 4) == 7);
	assert_true(fg_measure_join(FG_FOLD_MAX, 3, 4) == 4);
	assert_true(fg_measure_join(FG_FOLD_MIN, 3, 4) == 3);
	assert_true(fg_measure_join(FG_FOLD_MIN, 0, 4) == 4);
	assert_true(fg_measure_join(FG_FOLD_MAX, -3, 0) == -3);
}
