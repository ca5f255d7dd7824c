// SPDX-License-Identifier: Apache-2.0
/* The figures of a view add up to those of its profile. */
#include "profile/calltree.h"
#include "profile/views/view.h"
#include "tests/support/fg_test.h"
#include "tests/support/known_profile.h"

#include <math.h>
#include <string.h>

static double sum_of(const struct fg_view_table *table, const char *key)
{
	double sum = 0;
	size_t column = 0;

	while (column < table->column_count &&
	       !(table->columns[column].key && strcmp(table->columns[column].key, key) == 0))
		column++;
	if (column == table->column_count)
		fail_msg("%s has no column %s", table->name, key);
	for (size_t i = 0; i < table->row_count; i++)
		sum += table->rows[i].cells[column].number;
	return sum;
}

FG_TEST(groupings_divide_all_samples_among_their_rows)
{
	static const struct {
		const char *view;
		const char *key;
		double sum;
	} rows[] = {
		{"flat", "self_ns", 100e6},       {"lines", "self_ns", 100e6},
		{"libraries", "self_ns", 100e6},  {"classes", "self_ns", 100e6},
		{"namespaces", "self_ns", 100e6}, {"files", "self_ns", 100e6},
		{"threads", "samples", 100},
	};
	const struct fg_view_options options = {.all = true};
	struct fg_profile profile;

	known_profile_init(&profile);
	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		struct fg_view_table table;
		struct fg_error err = {0};

		if (fg_view_make(fg_view_find(rows[i].view), &profile, &options, &table, &err) !=
		    FG_OK)
			fail_msg("%s: %s", rows[i].view, err.message);
		if (fabs(sum_of(&table, rows[i].key) - rows[i].sum) > 1)
			fail_msg("%s: %f", rows[i].view, sum_of(&table, rows[i].key));
		fg_view_table_release(&table);
	}
	fg_profile_release(&profile);
}

/* Shows the difference between two profiles by function. */
static void compare(const struct fg_profile *before, const struct fg_profile *after,
		    struct fg_view_table *table)
{
	static const char *const titles[] = {"one", "other"};
	const struct fg_calltree_query query = {0};
	const struct fg_view_options options = {.all = true};
	struct fg_calltree trees[2];
	struct fg_calltree difference;
	struct fg_error err = {0};

	if (fg_calltree_build(before, &query, &trees[0], &err) != FG_OK ||
	    fg_calltree_build(after, &query, &trees[1], &err) != FG_OK)
		fail_msg("%s", err.message);
	fg_calltree_difference(&trees[0], &trees[1], &difference);
	fg_view_difference(&difference, titles, &options, table);
	fg_calltree_release(&difference);
	for (size_t i = 0; i < 2; i++)
		fg_calltree_release(&trees[i]);
}

FG_TEST(a_profile_does_not_differ_from_itself)
{
	struct fg_view_table table;
	struct fg_profile profile;

	known_profile_init(&profile);
	compare(&profile, &profile, &table);
	for (size_t i = 0; i < table.row_count; i++)
		assert_true(fabs(table.rows[i].cells[4].number) < 1);
	assert_true(fabs(sum_of(&table, "before_self_ns") - 100e6) < 1);
	fg_view_table_release(&table);
	fg_profile_release(&profile);
}

FG_TEST(functions_of_both_profiles_are_in_the_difference)
{
	struct fg_view_table table;
	struct fg_profile profile;
	struct fg_profile other;

	known_profile_init(&profile);
	known_profile_single(&other, "added", "libnew.so");
	compare(&profile, &other, &table);
	assert_int_equal(table.row_count, 11);
	assert_true(fabs(sum_of(&table, "before_self_ns") - 100e6) < 1);
	assert_true(sum_of(&table, "after_self_ns") > 0);
	assert_true(fabs(sum_of(&table, "self_difference_ns") -
			 (sum_of(&table, "after_self_ns") - 100e6)) < 1);
	fg_view_table_release(&table);
	fg_profile_release(&other);
	fg_profile_release(&profile);
}
