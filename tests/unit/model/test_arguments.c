// SPDX-License-Identifier: Apache-2.0
#include "base/strbuf.h"
#include "model/arguments.h"
#include "tests/support/fg_test.h"

#include <math.h>

enum {
	BASELINE,
	CANDIDATE
};

static struct fg_argument_sums sums;
static struct fg_arena arena;

static int begin(void **state)
{
	(void)state;
	fg_argument_sums_release(&sums);
	fg_arena_release(&arena);
	return 0;
}

static struct fg_argument_figures figures_of(double values, double least, double most)
{
	return (struct fg_argument_figures){
		.values = values, .least = least, .most = most, .sum = values * least};
}

static void add(struct fg_argument_sums *sums, unsigned side, const char *name,
		const char *const *frames, size_t frame_count, double values)
{
	const struct fg_argument_figures figures = figures_of(values, -values, values);
	const struct fg_argument_call call = {.name = name,
					      .signature = "double(double)",
					      .side = side,
					      .frames = frames,
					      .frame_count = frame_count,
					      .figures = &figures};

	fg_argument_sums_add(sums, &call);
}

static const char *const to_fit[] = {"main", "fit"};
static const char *const to_draw[] = {"main", "draw"};

FG_TEST_IN(both_sides_meet_by_function_and_by_call_path, begin, begin)
{
	const struct fg_argument_table *table = NULL;

	add(&sums, BASELINE, "log", to_fit, 2, 10);
	add(&sums, BASELINE, "log", to_fit, 2, 5); /* another line of the same caller */
	add(&sums, CANDIDATE, "log", to_fit, 2, 20);
	add(&sums, CANDIDATE, "log", to_draw, 2, 30);
	add(&sums, CANDIDATE, "exp", to_draw, 2, 100);
	table = fg_argument_table_make(&sums, fg_argument_room_of_run, &arena);
	assert_int_equal(table->function_count, 2);
	assert_string_equal(table->functions[0].name, "exp");
	assert_null(table->functions[0].sides[BASELINE]);
	assert_string_equal(table->functions[1].name, "log");
	assert_float_equal(table->functions[1].sides[BASELINE]->values, 15, 0);
	assert_float_equal(table->functions[1].sides[BASELINE]->least, -10, 0);
	assert_float_equal(table->functions[1].sides[CANDIDATE]->values, 50, 0);
	assert_int_equal(table->functions[1].traces[BASELINE], 1);
	assert_int_equal(table->functions[1].traces[CANDIDATE], 2);
	assert_int_equal(table->functions[1].path_count, 2);
	assert_int_equal(table->functions[1].paths_left_out, 0);
	assert_null(table->functions[1].paths[0].sides[BASELINE]); /* 30 calls from draw */
	assert_string_equal(table->names[table->functions[1].paths[0].frames[1]], "draw");
	assert_float_equal(table->functions[1].paths[1].sides[BASELINE]->values, 15, 0);
}

static void add_many(struct fg_argument_sums *sums, unsigned functions, unsigned paths)
{
	for (unsigned i = 0; i < functions; i++) {
		for (unsigned k = 0; k < paths; k++) {
			char name[32];
			char caller[32];
			const char *const frames[] = {"main", caller};

			(void)snprintf(name, sizeof(name), "f%u", i);
			(void)snprintf(caller, sizeof(caller), "caller%u", k);
			add(sums, CANDIDATE, name, frames, 2, 1 + k + 100 * i);
		}
	}
}

FG_TEST_IN(the_most_called_stay_and_the_rest_is_counted, begin, begin)
{
	const struct fg_argument_table *table = NULL;

	add_many(&sums, FG_ARGUMENT_FUNCTIONS_MAX + 6, FG_ARGUMENT_PATHS_MAX + 8);
	table = fg_argument_table_make(&sums, fg_argument_room_of_run, &arena);
	assert_int_equal(table->function_count, FG_ARGUMENT_FUNCTIONS_MAX);
	assert_int_equal(table->functions_left_out, 6);
	assert_string_equal(table->functions[0].name, "f69");
	assert_int_equal(table->functions[0].path_count, FG_ARGUMENT_PATHS_MAX);
	assert_int_equal(table->functions[0].paths_left_out, 8);
	assert_int_equal(table->functions[0].traces[CANDIDATE], FG_ARGUMENT_PATHS_MAX + 8);
	/* 6901 + ... + 6940, including omitted ones */
	assert_float_equal(table->functions[0].sides[CANDIDATE]->values, 276820, 0);
	assert_string_equal(table->names[table->functions[0].paths[0].frames[1]], "caller39");
}

FG_TEST_IN(nothing_is_larger_than_its_room, begin, begin)
{
	const struct fg_argument_room few = {.functions = 4, .paths = 8, .bytes = 1 << 20};
	const struct fg_argument_room narrow = {.functions = 4, .paths = 100, .bytes = 60};
	const struct fg_argument_room none = {0};
	const struct fg_argument_table *table = NULL;
	size_t paths = 0;

	add_many(&sums, 5, 5);
	table = fg_argument_table_make(&sums, few, &arena);
	assert_int_equal(table->function_count, 4);
	for (size_t i = 0; i < table->function_count; i++) {
		assert_int_equal(table->functions[i].path_count, 2);
		assert_int_equal(table->functions[i].paths_left_out, 3);
	}
	table = fg_argument_table_make(&sums, narrow, &arena);
	for (size_t i = 0; i < table->function_count; i++)
		paths += table->functions[i].path_count;
	assert_int_equal(paths, 2); /* "main", two callers, twice two frames: 60 bytes */
	table = fg_argument_table_make(&sums, none, &arena);
	assert_int_equal(table->function_count, 0);
	assert_int_equal(table->functions_left_out, 5);
	(void)begin(state);
	assert_null(fg_argument_table_make(&sums, few, &arena));
}

FG_TEST_IN(a_deep_path_keeps_its_ends_and_a_long_name_its_beginning, begin, begin)
{
	enum {
		DEEP = FG_ARGUMENT_FRAMES_MAX + 50
	};
	static char texts[DEEP][600];
	const char *frames[DEEP];
	const struct fg_argument_table *table = NULL;
	const struct fg_argument_path *path = NULL;

	for (unsigned i = 0; i < DEEP; i++) {
		(void)snprintf(texts[i], sizeof(texts[i]), "frame%u", i);
		frames[i] = texts[i];
	}
	memset(texts[0], 'a', sizeof(texts[0]) - 1);
	texts[1][0] = '\x01';
	add(&sums, CANDIDATE, "exp", frames, DEEP, 1);
	table = fg_argument_table_make(&sums, fg_argument_room_of_run, &arena);
	path = &table->functions[0].paths[0];
	assert_int_equal(path->frame_count, FG_ARGUMENT_FRAMES_MAX);
	assert_int_equal(path->frames_left_out, 50);
	assert_int_equal(strlen(table->names[path->frames[0]]), FG_ARGUMENT_NAME_MAX);
	assert_string_equal(table->names[path->frames[1]], "\xef\xbf\xbdrame1");
	assert_string_equal(table->names[path->frames[FG_ARGUMENT_FRAMES_OUTER - 1]], "frame31");
	assert_string_equal(table->names[path->frames[FG_ARGUMENT_FRAMES_OUTER]], "frame82");
	assert_string_equal(table->names[path->frames[FG_ARGUMENT_FRAMES_MAX - 1]], "frame177");
}

FG_TEST_IN(a_table_joins_other_sums_with_its_omitted_rest, begin, begin)
{
	const struct fg_argument_room few = {.functions = 3, .paths = 6, .bytes = 1 << 20};
	struct fg_argument_sums joined = {0};
	const struct fg_argument_table *table = NULL;
	const struct fg_argument_table *again = NULL;

	add_many(&sums, 5, 5);
	table = fg_argument_table_make(&sums, few, &arena);
	fg_argument_sums_add_table(&joined, table, CANDIDATE, BASELINE);
	add(&joined, CANDIDATE, "f4", to_fit, 2, 7);
	again = fg_argument_table_make(&joined, fg_argument_room_of_run, &arena);
	assert_int_equal(again->function_count, 3);
	assert_int_equal(again->functions_left_out, 2);
	assert_string_equal(again->functions[0].name, "f4");
	assert_float_equal(again->functions[0].sides[BASELINE]->values,
			   table->functions[0].sides[CANDIDATE]->values, 0);
	assert_float_equal(again->functions[0].sides[CANDIDATE]->values, 7, 0);
	assert_int_equal(again->functions[0].traces[BASELINE], 5);
	assert_int_equal(again->functions[0].traces[CANDIDATE], 1);
	assert_int_equal(again->functions[0].path_count, 3);
	assert_int_equal(again->functions[0].paths_left_out, 3);
	fg_argument_sums_release(&joined);
}

static void hint_is(const char *function, const struct fg_argument_figures *figures,
		    const char *wanted)
{
	struct fg_strbuf text = {0};

	fg_argument_hint(function, figures, &text);
	assert_string_equal(fg_strbuf_text(&text), wanted);
	fg_strbuf_release(&text);
}

FG_TEST(hints_are_true_and_complete)
{
	struct fg_argument_figures figures = figures_of(2000, 0.25, 0.5);

	hint_is("expf", &figures,
		"always in [0.25, 0.5]: a polynomial could replace the "
		"function\n");
	hint_is("explode", &figures, "");
	figures.repeats = 1999;
	hint_is("pow #2", &figures, "called 2000 times with the same argument\n");
	figures.repeats = 0;
	figures.nans = 1;
	hint_is("exp", &figures, "1 of 2000 arguments are not a number (NaN)\n");
	figures.nans = 0;
	figures.most = (double)NAN; /* the value in a report without this member */
	hint_is("exp", &figures, "");
}
