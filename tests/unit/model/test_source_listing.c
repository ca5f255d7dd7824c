// SPDX-License-Identifier: Apache-2.0
#include "base/strbuf.h"
#include "model/source_listing.h"
#include "tests/support/fg_test.h"

#include <math.h>

static const char before[] = "int a;\n"
			     "int find(int key)\n" /* 2 */
			     "{\n"
			     "\twhile (hash(key) && same(key))\n" /* 4 */
			     "\t\tkey = next(key);\n"
			     "\treturn key;\n"
			     "}\n";
static const char after[] = "int a;\n"
			    "int b;\n"
			    "int find(int key)\n" /* 3 */
			    "{\n"
			    "\twhile (same(key))\n" /* 5 */
			    "\t\tkey = next(key);\n"
			    "\treturn key;\n"
			    "}\n";

static const struct fg_line_cost costs_before[] = {{.line = 4, .cost = 20},
						   {.line = 5, .cost = 10}};
static const struct fg_line_cost costs_after[] = {{.line = 5, .cost = 50}, {.line = 6, .cost = 10}};

static struct fg_arena arena;
static struct fg_strbuf text;

static int end(void **state)
{
	(void)state;
	fg_strbuf_release(&text);
	fg_arena_release(&arena);
	return 0;
}

static struct fg_source_side side_of(const char *text, const struct fg_line_cost *costs,
				     size_t count, unsigned first)
{
	return (struct fg_source_side){
		.text = text, .costs = costs, .cost_count = count, .first = first, .scale = 0.5};
}

FG_TEST_IN(a_line_that_changed_is_there_twice_and_others_once, NULL, end)
{
	const struct fg_source_side sides[2] = {side_of(before, costs_before, 2, 2),
						side_of(after, costs_after, 2, 3)};
	const struct fg_source_listing *listing = fg_source_listing_make(sides, "find.c", &arena);
	static const unsigned lines[][2] = {{2, 3}, {3, 4}, {4, 0}, {0, 5}, {5, 6}, {6, 7}, {7, 8}};

	assert_non_null(listing);
	assert_string_equal(listing->file, "find.c");
	assert_int_equal(listing->row_count, FG_ARRAY_SIZE(lines));
	for (size_t i = 0; i < listing->row_count; i++) {
		assert_int_equal(listing->rows[i].line[0], lines[i][0]);
		assert_int_equal(listing->rows[i].line[1], lines[i][1]);
	}
	assert_true(listing->rows[2].cost[0] == 10.0 && isnan(listing->rows[2].cost[1]));
	assert_true(listing->rows[3].cost[1] == 25.0 && isnan(listing->rows[3].cost[0]));
	assert_true(listing->rows[4].cost[0] == 5.0 && listing->rows[4].cost[1] == 5.0);
	assert_string_equal(listing->rows[3].text, "        while (same(key))");
	assert_int_equal(listing->hottest, 3);
	assert_int_equal(fg_source_listing_line(listing), 5);
}

/* One side was sampled on more lines than the other; these lines did not change. */
FG_TEST_IN(lines_seen_on_one_side_only_are_not_new, NULL, end)
{
	static const struct fg_line_cost few[] = {{.line = 10, .cost = 20}};
	static const struct fg_line_cost many[] = {
		{.line = 5, .cost = 10}, {.line = 10, .cost = 20}, {.line = 16, .cost = 10}};

	for (unsigned i = 1; i <= 17; i++)
		fg_strbuf_printf(&text, "line %u;\n", i);
	for (size_t swap = 0; swap < 2; swap++) {
		struct fg_source_side sides[2];
		const struct fg_source_listing *listing = NULL;

		sides[swap] = side_of(fg_strbuf_text(&text), few, FG_ARRAY_SIZE(few), 0);
		sides[1 - swap] = side_of(fg_strbuf_text(&text), many, FG_ARRAY_SIZE(many), 0);
		listing = fg_source_listing_make(sides, "find.c", &arena);
		assert_non_null(listing);
		assert_int_equal(listing->row_count, 12);
		for (size_t i = 0; i < listing->row_count; i++)
			assert_int_equal(listing->rows[i].line[0], listing->rows[i].line[1]);
	}
}

FG_TEST_IN(a_side_without_source_leaves_the_other, NULL, end)
{
	const struct fg_source_side sides[2] = {side_of(NULL, costs_before, 2, 2),
						side_of(after, costs_after, 2, 3)};
	const struct fg_source_side none[2] = {side_of(before, NULL, 0, 2),
					       side_of(NULL, NULL, 0, 0)};
	const struct fg_source_listing *listing = fg_source_listing_make(sides, "find.c", &arena);

	assert_non_null(listing);
	assert_false(listing->has_side[0]);
	assert_true(listing->has_side[1]);
	for (size_t i = 0; i < listing->row_count; i++)
		assert_int_equal(listing->rows[i].line[0], 0);
	assert_int_equal(fg_source_listing_line(listing), 5);
	assert_null(fg_source_listing_make(none, "find.c", &arena));
}

/* A thousand lines, few of them with a cost; some costs are beyond the end of the file. */
FG_TEST_IN(a_long_function_shows_expensive_lines_only, NULL, end)
{
	static const struct fg_line_cost costs[] = {{.line = 10, .cost = 30},
						    {.line = 200, .cost = 60},
						    {.line = 900, .cost = 10},
						    {.line = 5000, .cost = 1}};
	struct fg_source_side sides[2];
	const struct fg_source_listing *listing = NULL;

	for (unsigned i = 1; i <= 1000; i++)
		fg_strbuf_printf(&text, "line %u;\n", i);
	sides[0] = sides[1] = side_of(fg_strbuf_text(&text), costs, FG_ARRAY_SIZE(costs), 1);
	listing = fg_source_listing_make(sides, "long.c", &arena);
	assert_non_null(listing);
	assert_true(listing->row_count <= FG_SOURCE_ROWS_MAX);
	assert_int_equal(listing->rows[listing->hottest].line[1], 200);
	assert_string_equal(listing->rows[listing->hottest].text, "line 200;");
	for (size_t i = 1; i < listing->row_count; i++)
		assert_true(listing->rows[i].line[1] > listing->rows[i - 1].line[1]);
}

/* The text before the function differs, and one side has a cost in it. */
FG_TEST_IN(lines_of_an_unchanged_neighbour_are_never_new, NULL, end)
{
	static const char old_text[] =
		"int first(int n)\n{\n\tint sum = 0;\n\tfor (int i = 0; i < n; i++)\n"
		"\t\tsum += i;\n\treturn sum;\n}\n\nint second(int n)\n{\n"
		"\treturn first(n);\n}\n";
	static const char new_text[] =
		"int added;\nint first(int n)\n{\n\tint sum = 0;\n\tfor (int i = 0; i < n; "
		"i++)\n\t\tsum += i;\n\treturn sum;\n}\n\nlong second(int n)\n{\n"
		"\tn += added;\n\treturn first(n);\n}\n";
	/* On one side the neighbour was inlined, so the function has costs on its lines. */
	static const struct fg_line_cost old_costs[] = {{.line = 11, .cost = 5}};
	static const struct fg_line_cost new_costs[] = {
		{.line = 5, .cost = 40}, {.line = 12, .cost = 5}, {.line = 13, .cost = 5}};
	const struct fg_source_side sides[2] = {side_of(old_text, old_costs, 1, 9),
						side_of(new_text, new_costs, 3, 10)};
	const struct fg_source_listing *listing = fg_source_listing_make(sides, "sum.c", &arena);
	size_t came = 0;

	assert_non_null(listing);
	for (size_t i = 0; i < listing->row_count; i++) {
		const struct fg_source_row *row = &listing->rows[i];

		came += row->line[0] == 0;
		if (row->line[0] == 0)
			assert_true(strstr(row->text, "n += added") ||
				    strstr(row->text, "long second"));
		if (row->line[1] == 0)
			assert_non_null(strstr(row->text, "int second"));
	}
	assert_int_equal(came, 2);
}

/* There are more changed lines than fit; the most expensive ones are kept. */
FG_TEST_IN(a_rewritten_function_keeps_its_costly_lines, NULL, end)
{
	struct fg_line_cost costs[2][100];
	struct fg_strbuf texts[2] = {0};
	struct fg_source_side sides[2];
	const struct fg_source_listing *listing = NULL;
	bool found = false;

	for (unsigned side = 0; side < 2; side++) {
		for (unsigned i = 0; i < 100; i++) {
			fg_strbuf_printf(&texts[side], "%s %u;\n", side ? "new" : "old", i);
			costs[side][i] =
				(struct fg_line_cost){.line = i + 1, .cost = i == 70 ? 500 : 2};
		}
		sides[side] = side_of(fg_strbuf_text(&texts[side]), costs[side], 100, 1);
	}
	listing = fg_source_listing_make(sides, "all.c", &arena);
	assert_non_null(listing);
	assert_int_equal(listing->row_count, FG_SOURCE_ROWS_MAX);
	for (size_t i = 0; i < listing->row_count; i++)
		found |= strcmp(listing->rows[i].text, "new 70;") == 0;
	assert_true(found);
	assert_int_equal(fg_source_listing_line(listing), 71);
	fg_strbuf_release(&texts[0]);
	fg_strbuf_release(&texts[1]);
}

FG_TEST_IN(a_strange_line_is_cut_and_clean, NULL, end)
{
	static const struct fg_line_cost costs[] = {{.line = 1, .cost = 1}};
	struct fg_source_side sides[2] = {0};
	const struct fg_source_listing *listing = NULL;

	fg_strbuf_add_text(&text, "\x1b[2J\xff");
	fg_strbuf_add_repeated(&text, 'x', 100000);
	sides[1] = side_of(fg_strbuf_text(&text), costs, 1, 0);
	listing = fg_source_listing_make(sides, "x.c", &arena);
	assert_non_null(listing);
	assert_int_equal(listing->row_count, 1);
	assert_null(strchr(listing->rows[0].text, '\x1b'));
	assert_null(strchr(listing->rows[0].text, '\xff'));
	assert_true(strlen(listing->rows[0].text) <= FG_SOURCE_TEXT_MAX + 8);
}

FG_TEST(costs_add_up_by_line_and_come_from_the_file_with_most)
{
	struct fg_line_costs costs = {0};
	struct fg_function_lines lines;

	fg_line_costs_add(&costs, "a.c",
			  &(struct fg_line_cost){.function = 3, .line = 9, .cost = 2});
	fg_line_costs_add(&costs, "b.h",
			  &(struct fg_line_cost){.function = 3, .line = 1, .cost = 1});
	fg_line_costs_add(&costs, "a.c",
			  &(struct fg_line_cost){.function = 3, .line = 7, .cost = 4});
	fg_line_costs_add(&costs, "a.c",
			  &(struct fg_line_cost){.function = 3, .line = 9, .cost = 3});
	fg_line_costs_add(&costs, "a.c",
			  &(struct fg_line_cost){.function = 3, .arm = 1, .line = 9, .cost = 50});
	fg_line_costs_add(&costs, "a.c",
			  &(struct fg_line_cost){.function = 4, .line = 9, .cost = 50});
	lines = fg_line_costs_of(&costs, 3, 0);
	assert_string_equal(lines.file, "a.c");
	assert_int_equal(lines.count, 2);
	assert_int_equal(lines.items[0].line, 7);
	assert_true(lines.items[1].line == 9 && lines.items[1].cost == 5.0);
	assert_true(lines.total == 10.0);
	free(lines.items);
	assert_null(fg_line_costs_of(&costs, 5, 0).file);
	fg_line_costs_release(&costs);
}
