// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "profile/views/view.h"
#include "tests/support/fg_test.h"
#include "tests/support/golden.h"
#include "tests/support/known_profile.h"

#include <math.h>
#include <string.h>

static void make(const char *view, const struct fg_profile *profile,
		 const struct fg_view_options *options, struct fg_view_table *table)
{
	struct fg_error err = {0};

	if (fg_view_make(fg_view_find(view), profile, options, table, &err) != FG_OK)
		fail_msg("%s: %s", view, err.message);
}

FG_TEST(each_view_reads_as_reviewed_at_80_and_200_columns)
{
	static const unsigned widths[] = {80, 200};
	const struct fg_view_options options = {0};
	struct fg_profile profile;

	known_profile_init(&profile);
	for (const struct fg_view *view = fg_views; view->name; view++) {
		struct fg_view_table table;

		if (view->measure && profile.measure_count == 1)
			known_profile_add_heap(&profile);
		if (view->has_no_measure && profile.domain_count == 0) {
			known_profile_add_domains(&profile);
			known_profile_add_durations(&profile);
		}
		if (strcmp(view->name, "growth") == 0)
			known_profile_add_dumps(&profile);
		if (view->needs_code)
			known_profile_add_code(&profile);
		make(view->name, &profile, &options, &table);
		for (size_t i = 0; i < FG_ARRAY_SIZE(widths); i++) {
			const struct fg_view_text_options text_options = {.columns = widths[i],
									  .errors = i > 0};
			char *golden =
				fg_xasprintf("profile/view-%s-%u.txt", view->name, widths[i]);
			struct fg_strbuf text = {0};

			fg_view_write_text(&table, &text_options, &text);
			fg_golden_check(golden, &text);
			free(golden);
			fg_strbuf_release(&text);
		}
		fg_view_table_release(&table);
	}
	fg_profile_release(&profile);
}

static const struct fg_view_row *row_named(const struct fg_view_table *table, const char *name)
{
	for (size_t i = 0; i < table->row_count; i++) {
		const struct fg_view_cell *cell = &table->rows[i].cells[table->column_count - 1];

		if (cell->text && strcmp(cell->text, name) == 0)
			return &table->rows[i];
	}
	fail_msg("no row %s", name);
	return NULL;
}

static double figure(const struct fg_view_table *table, const char *name, const char *key)
{
	const struct fg_view_row *row = row_named(table, name);

	for (size_t i = 0; i < table->column_count; i++) {
		if (table->columns[i].key && strcmp(table->columns[i].key, key) == 0)
			return row->cells[i].number;
	}
	fail_msg("no column %s", key);
	return NAN;
}

FG_TEST(flat_figures_are_the_known_ones)
{
	const struct fg_view_options options = {.all = true};
	struct fg_view_table table;
	struct fg_profile profile;

	known_profile_init(&profile);
	make("flat", &profile, &options, &table);
	assert_int_equal(table.row_count, 10);
	assert_true(figure(&table, "fit(Track&)", "self_ns") == 30e6);
	assert_true(figure(&table, "fit(Track&)", "inclusive_ns") == 45e6);
	assert_true(figure(&table, "visit(Node*)", "inclusive_ns") == 27e6); /* recursion */
	assert_true(figure(&table, "log", "paths") == 2);
	assert_true(figure(&table, "main", "samples") == 90);
	assert_true(figure(&table, "walk(Node*)", "leaf_samples") == 0);
	fg_view_table_release(&table);
	fg_profile_release(&profile);
}

static bool has_note(const struct fg_view_table *table, const char *words)
{
	for (size_t i = 0; i < table->note_count; i++)
		if (strstr(table->notes[i], words))
			return true;
	return false;
}

/* 22 samples are worth 22 equal samples if all weigh the same, and fewer if one weighs more. */
FG_TEST(shares_of_few_samples_come_with_their_interval)
{
	const struct fg_view_options options = {0};
	struct fg_view_table table;
	struct fg_profile profile;

	known_profile_init(&profile);
	make("flat", &profile, &options, &table);
	assert_false(has_note(&table, "as precise as"));
	fg_view_table_release(&table);
	profile.sample_count = 22;
	make("flat", &profile, &options, &table);
	assert_true(has_note(&table,
			     "as precise as 22 equal samples: a share of 50 % means 50 ± 21 %, "
			     "and 10 % means 10 ± 13 %"));
	fg_view_table_release(&table);
	profile.samples[0].value *= 10;
	make("flat", &profile, &options, &table);
	assert_true(has_note(&table, "as precise as 8 equal samples"));
	fg_view_table_release(&table);
	fg_profile_release(&profile);
}

/*
 * 30 of 100 equal samples: the standard error is that of a binomial share, sqrt(0.3 * 0.7 * 100)
 * samples.
 */
FG_TEST(a_figure_carries_its_standard_error)
{
	const struct fg_view_options options = {0};
	struct fg_view_table table;
	struct fg_profile profile;

	known_profile_init(&profile);
	make("flat", &profile, &options, &table);
	assert_true(fabs(row_named(&table, "fit(Track&)")->cells[1].error - 4582575.7) < 1);
	assert_true(fabs(row_named(&table, "fit(Track&)")->cells[0].error - 0.045825757) < 1e-9);
	fg_view_table_release(&table);
	fg_profile_release(&profile);
}

FG_TEST(filters_combine)
{
	static const char *const ignore[] = {"^log", NULL};
	struct fg_view_options options = {.all = true};
	struct fg_view_table table;
	struct fg_profile profile;

	known_profile_init(&profile);
	options.query.region = "^reco";
	options.query.ignore = ignore;
	options.query.from_ns = 15 * INT64_C(1000000);
	make("flat", &profile, &options, &table);
	/* reco is 2 ms to 82 ms: 67 from 15 ms on, 5 of them log's */
	assert_true(figure(&table, "main", "inclusive_ns") == 62e6);
	fg_view_table_release(&table);
	fg_profile_release(&profile);
}

FG_TEST(units_have_their_time_and_spread)
{
	const struct fg_view_options options = {0};
	struct fg_view_table table;
	struct fg_profile profile;

	known_profile_init(&profile);
	make("units", &profile, &options, &table);
	assert_true(figure(&table, "all units of work", "cpu_ns") == 80e6);
	assert_true(figure(&table, "all units of work", "mean_ns") == 20e6);
	assert_true(figure(&table, "all units of work", "sd_ns") == 0);
	assert_true(figure(&table, "event 3", "cpu_ns") == 20e6);
	/* reco/fit: 12 of the first event, 20 of the second, 13 of the third, none of the last */
	assert_true(figure(&table, "reco/fit", "max_ns") == 20e6);
	assert_true(figure(&table, "reco/fit", "mean_ns") == 45e6 / 4);
	fg_view_table_release(&table);
	fg_profile_release(&profile);
}

/* Events of 20 ms each from 2 ms on; of 15 to 65 ms there are 7, 20, 20 and 3 ms. */
FG_TEST(units_have_the_elapsed_time_of_the_shown_part)
{
	struct fg_view_options options = {0};
	struct fg_view_table table;
	struct fg_profile profile;

	known_profile_init(&profile);
	make("units", &profile, &options, &table);
	assert_true(figure(&table, "all units of work", "wall_ns") == 80e6);
	assert_true(figure(&table, "event 1", "wall_ns") == 20e6);
	fg_view_table_release(&table);
	options.query.from_ns = 15 * INT64_C(1000000);
	options.query.to_ns = 65 * INT64_C(1000000);
	make("units", &profile, &options, &table);
	assert_true(figure(&table, "all units of work", "wall_ns") == 50e6);
	assert_true(figure(&table, "event 1", "wall_ns") == 7e6);
	assert_true(figure(&table, "event 2", "wall_ns") == 20e6);
	assert_true(figure(&table, "event 4", "wall_ns") == 3e6);
	fg_view_table_release(&table);
	options.query.from_ns = 0;
	options.query.to_ns = 0;
	options.query.unit_kind = "event";
	options.query.unit_first = 2;
	options.query.unit_last = 3;
	make("units", &profile, &options, &table);
	assert_true(figure(&table, "all units of work", "wall_ns") == 40e6);
	fg_view_table_release(&table);
	fg_profile_release(&profile);
}

FG_TEST(paths_distinguish_conditions)
{
	struct fg_view_options options = {.function = "^log"};
	struct fg_view_table table;
	struct fg_profile profile;

	known_profile_init(&profile);
	make("paths", &profile, &options, &table);
	assert_int_equal(table.row_count, 2);
	assert_true(figure(&table, "main → loop(Event const&) → fit(Track&) → log", "units") == 1);
	/* 0, 0, 5 and 0 ms in the four events */
	assert_true(figure(&table, "main → loop(Event const&) → fit(Track&) → log",
			   "unit_mean_ns") == 1.25e6);
	assert_true(figure(&table, "main → loop(Event const&) → fit(Track&) → log", "unit_sd_ns") ==
		    2.5e6);
	assert_true(figure(&table, "main → loop(Event const&) → fit(Track&) → log",
			   "unit_max_ns") == 5e6);
	assert_true(figure(&table, "main → write_out(Event*) → log", "inclusive_ns") == 5e6);
	fg_view_table_release(&table);
	options.function = "no such function";
	{
		struct fg_error err = {0};

		assert_int_equal(
			fg_view_make(fg_view_find("paths"), &profile, &options, &table, &err),
			FG_ENOENT);
		assert_non_null(strstr(err.message, "'no such function'"));
	}
	fg_profile_release(&profile);
}

static size_t rows_in(const struct fg_strbuf *csv)
{
	size_t lines = 0;

	for (const char *at = fg_strbuf_text(csv); (at = strchr(at, '\n')); at++)
		lines++;
	return lines - 1;
}

FG_TEST(instructions_carry_the_samples_that_ended_at_them)
{
	struct fg_view_options options = {.function = "^norm", .query = {.measure = "cpu_time"}};
	struct fg_view_table table;
	struct fg_strbuf csv = {0};
	struct fg_profile profile;
	struct fg_error err = {0};

	known_profile_init(&profile);
	known_profile_add_code(&profile);
	/* an inlined function shows the instructions of the function that contains it */
	make("instructions", &profile, &options, &table);
	assert_true(figure(&table, "vmovsd xmm0, qword ptr [rdi]", "leaf_samples") == 30);
	assert_true(figure(&table, "vsqrtsd xmm0, xmm0, xmm0", "self_ns") == 10e6);
	assert_true(figure(&table, "test rsi, rsi", "self_ns") == 0);
	fg_view_table_release(&table);
	/* data contain every instruction, without rows that are only for reading */
	options.all = true;
	make("instructions", &profile, &options, &table);
	fg_view_write_csv(&table, &csv);
	assert_int_equal(rows_in(&csv), 10);
	assert_null(strstr(fg_strbuf_text(&csv), "..."));
	fg_strbuf_release(&csv);
	fg_view_table_release(&table);
	/* filters apply */
	options.query.region = "^output$";
	options.function = NULL;
	assert_int_equal(
		fg_view_make(fg_view_find("instructions"), &profile, &options, &table, &err),
		FG_EUNSUPPORTED);
	options.query.region = NULL;
	options.function = "^compress$";
	assert_int_equal(
		fg_view_make(fg_view_find("instructions"), &profile, &options, &table, &err),
		FG_ENOENT);
	fg_profile_release(&profile);
}

FG_TEST(a_view_of_missing_data_names_the_remedy)
{
	static const char *const views[] = {"regions", "units", "timeline", "threads",
					    "instructions"};
	const struct fg_view_options options = {0};
	struct fg_profile profile;

	fg_profile_init(&profile);
	for (size_t i = 0; i < FG_ARRAY_SIZE(views); i++) {
		struct fg_view_table table;
		struct fg_error err = {0};

		assert_int_equal(
			fg_view_make(fg_view_find(views[i]), &profile, &options, &table, &err),
			FG_EUNSUPPORTED);
		assert_true(strlen(err.message) > 20);
	}
	fg_profile_release(&profile);
}

FG_TEST(an_empty_profile_has_empty_views)
{
	static const char *const views[] = {"flat",  "callgraph", "top-down", "bottom-up",
					    "lines", "libraries", "classes",  "paths"};
	const struct fg_view_text_options text_options = {.columns = 80};
	const struct fg_view_options options = {0};
	struct fg_profile profile;

	fg_profile_init(&profile);
	for (size_t i = 0; i < FG_ARRAY_SIZE(views); i++) {
		struct fg_strbuf text = {0};
		struct fg_view_table table;

		make(views[i], &profile, &options, &table);
		assert_int_equal(table.row_count, 0);
		fg_view_write_text(&table, &text_options, &text);
		fg_strbuf_release(&text);
		fg_view_table_release(&table);
	}
	fg_profile_release(&profile);
}

FG_TEST(a_hostile_command_drives_no_terminal)
{
	const struct fg_view_text_options text_options = {.columns = 80};
	const struct fg_view_options options = {0};
	struct fg_strbuf text = {0};
	struct fg_view_table table;
	struct fg_profile profile;

	known_profile_init(&profile);
	profile.title = "./x\033]0;gone\a \xe2\x80\xaetxt\xc2\x9b";
	make("flat", &profile, &options, &table);
	fg_view_write_text(&table, &text_options, &text);
	assert_non_null(strstr(fg_strbuf_text(&text), "./x"));
	assert_null(strpbrk(fg_strbuf_text(&text), "\033\a"));
	assert_null(strstr(fg_strbuf_text(&text), "\xe2\x80\xae"));
	assert_null(strstr(fg_strbuf_text(&text), "\xc2\x9b"));
	fg_strbuf_release(&text);
	fg_view_table_release(&table);
	fg_profile_release(&profile);
}

FG_TEST(a_broken_pattern_is_refused)
{
	struct fg_view_options options = {.function = "(("};
	struct fg_view_table table;
	struct fg_profile profile;
	struct fg_error err = {0};

	known_profile_init(&profile);
	assert_int_equal(fg_view_make(fg_view_find("callgraph"), &profile, &options, &table, &err),
			 FG_EINVAL);
	assert_int_equal(fg_view_make(fg_view_find("paths"), &profile, &options, &table, &err),
			 FG_EINVAL);
	fg_profile_release(&profile);
}

FG_TEST(json_and_csv_carry_every_column_and_error)
{
	const struct fg_view_options options = {.all = true};
	struct fg_strbuf text = {0};
	struct fg_view_table table;
	struct fg_profile profile;
	struct fg_error err = {0};
	cJSON *json = NULL;

	known_profile_init(&profile);
	make("flat", &profile, &options, &table);
	fg_view_write_json(&table, 1, &text);
	if (fg_json_parse(text.data, text.length, 1 << 20, &json, &err) != FG_OK)
		fail_msg("%s", err.message);
	assert_true(fg_json_pointer(json, "/rows/0/self_ns")->valuedouble == 30e6);
	assert_true(fg_json_pointer(json, "/rows/0/self_ns_error")->valuedouble > 4e6);
	assert_string_equal(fg_json_pointer(json, "/rows/0/place")->valuestring, "src/fit.cpp:88");
	cJSON_Delete(json);
	fg_strbuf_clear(&text);
	fg_view_write_csv(&table, &text);
	assert_non_null(strstr(text.data, "self_share,self_share_error,self_ns,"));
	assert_non_null(strstr(text.data, ",fit(Track&)\n"));
	fg_strbuf_release(&text);
	fg_view_table_release(&table);
	fg_profile_release(&profile);
}

FG_TEST(another_measure_is_shown_in_its_own_unit)
{
	const struct fg_view_options options = {.all = true, .query.measure = "alloc_space"};
	const struct fg_view_text_options text_options = {.columns = 120};
	struct fg_strbuf text = {0};
	struct fg_view_table table;
	struct fg_profile profile;

	known_profile_init(&profile);
	known_profile_add_bytes(&profile);
	make("flat", &profile, &options, &table);
	assert_true(figure(&table, "fit(Track&)", "self") == 30 * KNOWN_BYTES);
	assert_true(figure(&table, "loop(Event const&)", "inclusive") ==
		    KNOWN_ALLOCATIONS * KNOWN_BYTES);
	fg_view_write_text(&table, &text_options, &text);
	assert_non_null(strstr(text.data, "80.0 KiB of alloc_space in 80 samples"));
	assert_non_null(strstr(text.data, "self KiB"));
	assert_null(strstr(text.data, "ms"));
	fg_strbuf_release(&text);
	fg_view_table_release(&table);
	fg_profile_release(&profile);
}

FG_TEST(a_second_measure_leaves_the_first_as_it_was)
{
	const struct fg_view_options options = {.all = true};
	struct fg_view_table table;
	struct fg_profile profile;

	known_profile_init(&profile);
	known_profile_add_bytes(&profile);
	make("flat", &profile, &options, &table);
	assert_true(figure(&table, "fit(Track&)", "self_ns") == 30e6);
	assert_true(figure(&table, "main", "samples") == 90);
	fg_view_table_release(&table);
	fg_profile_release(&profile);
}

FG_TEST(domains_of_call_paths_join_in_those_of_functions)
{
	struct fg_view_options options = {.all = true};
	struct fg_view_table table;
	struct fg_profile profile;
	struct fg_error err = {0};

	known_profile_init(&profile);
	assert_int_equal(fg_view_make(fg_view_find("domains"), &profile, &options, &table, &err),
			 FG_EUNSUPPORTED);
	known_profile_add_domains(&profile);
	make("domains", &profile, &options, &table);
	assert_int_equal(table.row_count, 1);
	assert_true(figure(&table, "log", "calls") == 2001);
	assert_true(figure(&table, "log", "nan") == 1);
	assert_true(figure(&table, "log", "min") == 0.25);
	assert_true(figure(&table, "log", "mean") == 0.375);
	assert_true(figure(&table, "log", "traces") == (double)profile.domain_count);
	fg_view_table_release(&table);
	options.function = "^log$";
	make("domains", &profile, &options, &table);
	assert_int_equal(table.row_count, profile.domain_count);
	options.trace = (unsigned)table.rows[0].cells[11].number;
	fg_view_table_release(&table);
	make("domains", &profile, &options, &table);
	assert_true(figure(&table, "log", "calls") >= 20);
	assert_true(row_named(&table, "main") < row_named(&table, "log"));
	fg_view_table_release(&table);
	options.trace = 4000000;
	assert_int_equal(fg_view_make(fg_view_find("domains"), &profile, &options, &table, &err),
			 FG_ENOENT);
	fg_profile_release(&profile);
}

FG_TEST(durations_of_call_paths_join_in_those_of_functions)
{
	struct fg_view_options options = {.all = true};
	struct fg_view_table table;
	struct fg_profile profile;
	struct fg_error err = {0};

	known_profile_init(&profile);
	assert_int_equal(fg_view_make(fg_view_find("times"), &profile, &options, &table, &err),
			 FG_EUNSUPPORTED);
	known_profile_add_durations(&profile);
	make("times", &profile, &options, &table);
	assert_int_equal(table.row_count, 1);
	assert_true(figure(&table, "log", "calls") == 20 * KNOWN_SAMPLES);
	assert_true(figure(&table, "log", "total_ns") == 6500.0 * KNOWN_SAMPLES);
	assert_true(figure(&table, "log", "min_ns") == 100);
	assert_true(figure(&table, "log", "max_ns") == 1000);
	assert_in_range(figure(&table, "log", "median_ns"), 100, 112);
	assert_in_range(figure(&table, "log", "p90_ns"), 896, 1000);
	assert_true(figure(&table, "log", "traces") == (double)profile.duration_count);
	fg_view_table_release(&table);
	options.function = "^log$";
	make("times", &profile, &options, &table);
	assert_int_equal(table.row_count, profile.duration_count);
	options.trace = (unsigned)table.rows[0].cells[10].number;
	fg_view_table_release(&table);
	make("times", &profile, &options, &table);
	assert_true(row_named(&table, "main") < row_named(&table, "log"));
	fg_view_table_release(&table);
	options.trace = 4000000;
	assert_int_equal(fg_view_make(fg_view_find("times"), &profile, &options, &table, &err),
			 FG_ENOENT);
	fg_profile_release(&profile);
}

FG_TEST(without_leaks_a_sentence_says_so)
{
	const struct fg_view_options options = {.all = true};
	struct fg_strbuf text = {0};
	struct fg_view_table table;
	struct fg_profile profile;
	uint16_t leaked = 0;
	uint16_t blocks = 0;

	known_profile_init(&profile);
	known_profile_add_heap(&profile);
	assert_int_equal(fg_profile_find_measure(&profile, "heap.leaked", &leaked, NULL), FG_OK);
	assert_int_equal(fg_profile_find_measure(&profile, "heap.leaked_blocks", &blocks, NULL),
			 FG_OK);
	for (size_t i = 0; i < profile.sample_count; i++) {
		if (profile.samples[i].measure == leaked || profile.samples[i].measure == blocks)
			profile.samples[i].value = 0;
	}
	make("leaks", &profile, &options, &table);
	assert_int_equal(table.row_count, 0);
	fg_view_write_text(&table, &(struct fg_view_text_options){0}, &text);
	assert_non_null(strstr(fg_strbuf_text(&text), "nothing was lost"));
	assert_null(strstr(fg_strbuf_text(&text), "allocations"));
	fg_strbuf_release(&text);
	fg_view_table_release(&table);
	fg_profile_release(&profile);
}

FG_TEST(leaks_are_paths_and_memory_is_by_function)
{
	const struct fg_view_options options = {.all = true};
	static const char path[] = "fit(Track&) ← loop(Event const&) ← main";
	const struct fg_view_options by_blocks = {.query.measure = "heap.live_blocks"};
	const struct fg_view_options held = {.query.measure = "heap.live"};
	struct fg_view_table table;
	struct fg_profile profile;
	struct fg_error err = {0};

	known_profile_init(&profile);
	assert_int_equal(fg_view_make(fg_view_find("leaks"), &profile, &options, &table, &err),
			 FG_EUNSUPPORTED);
	assert_non_null(strstr(err.message, "record --measure heap"));
	known_profile_add_heap(&profile);
	make("leaks", &profile, &options, &table);
	assert_true(figure(&table, path, "allocations") == 30);
	assert_true(figure(&table, path, "blocks") == 6);
	assert_true(figure(&table, path, "bytes") == 6 * KNOWN_BYTES);
	fg_view_table_release(&table);
	make("leaks", &profile, &held, &table);
	assert_true(figure(&table, path, "blocks") == 7);
	fg_view_table_release(&table);
	make("memory", &profile, &options, &table);
	assert_true(figure(&table, "fit(Track&)", "bytes") == 30 * KNOWN_BYTES);
	assert_true(figure(&table, "fit(Track&)", "allocations") == 30);
	assert_true(figure(&table, "fit(Track&)", "largest") == KNOWN_BYTES);
	fg_view_table_release(&table);
	assert_int_equal(fg_view_make(fg_view_find("leaks"), &profile, &by_blocks, &table, &err),
			 FG_EUNSUPPORTED);
	fg_profile_release(&profile);
}

static bool shows_column(const struct fg_view_table *table, const char *title)
{
	struct fg_strbuf text = {0};
	bool is_shown = false;

	fg_view_write_text(table, &(struct fg_view_text_options){0}, &text);
	is_shown = strstr(fg_strbuf_text(&text), title) != NULL;
	fg_strbuf_release(&text);
	return is_shown;
}

FG_TEST(leaks_that_are_not_known_are_missing_in_memory)
{
	const struct fg_view_options options = {.all = true};
	struct fg_view_table table;
	struct fg_profile profile;
	uint16_t leaked = 0;

	known_profile_init(&profile);
	known_profile_add_heap(&profile);
	make("memory", &profile, &options, &table);
	assert_true(shows_column(&table, "lost"));
	fg_view_table_release(&table);
	assert_int_equal(fg_profile_find_measure(&profile, "heap.leaked", &leaked, NULL), FG_OK);
	profile.measures[leaked].is.name = "other";
	make("memory", &profile, &options, &table);
	assert_false(shows_column(&table, "lost"));
	assert_true(shows_column(&table, "live"));
	fg_view_table_release(&table);
	fg_profile_release(&profile);
}

static void hold_more(struct fg_profile *profile, const char *measure, double value)
{
	const struct fg_measure is = fg_measure_describe(measure, NULL);
	struct fg_sample *sample = fg_profile_add_sample(profile);

	sample->stack = profile->samples[0].stack;
	sample->value = value;
	sample->kind = FG_TIME_BOTH;
	sample->measure = fg_profile_measure(profile, &is);
	fg_profile_add_up(profile, sample);
}

FG_TEST(growth_is_between_two_dumps)
{
	struct fg_view_options options = {.all = true};
	struct fg_view_table table;
	struct fg_profile profile;
	struct fg_error err = {0};

	known_profile_init(&profile);
	known_profile_add_heap(&profile);
	assert_int_equal(fg_view_make(fg_view_find("growth"), &profile, &options, &table, &err),
			 FG_EUNSUPPORTED);
	assert_non_null(strstr(err.message, "fg_dump()"));
	hold_more(&profile, "heap.live.1", 100);
	hold_more(&profile, "heap.live_blocks.1", 1);
	hold_more(&profile, "heap.live.2", 250);
	hold_more(&profile, "heap.live_blocks.2", 3);
	make("growth", &profile, &options, &table);
	assert_int_equal(table.row_count, 1);
	assert_true(table.rows[0].cells[1].number == 150); /* grown by */
	assert_true(table.rows[0].cells[2].number == 2);   /* blocks */
	assert_true(table.rows[0].cells[3].number == 100); /* before */
	assert_true(table.rows[0].cells[4].number == 250); /* after */
	fg_view_table_release(&table);
	options.dump_from = 2;
	options.dump_to = 1;
	make("growth", &profile, &options, &table);
	assert_int_equal(table.row_count, 0);
	fg_view_table_release(&table);
	options.dump_to = 3;
	assert_int_equal(fg_view_make(fg_view_find("growth"), &profile, &options, &table, &err),
			 FG_ENOENT);
	fg_profile_release(&profile);
}

FG_TEST(a_measure_that_is_not_there_is_refused_with_those_that_are)
{
	const struct fg_view_options options = {.query.measure = "heap.bytes"};
	struct fg_view_table table;
	struct fg_profile profile;
	struct fg_error err = {0};

	known_profile_init(&profile);
	known_profile_add_bytes(&profile);
	assert_int_equal(fg_view_make(fg_view_find("flat"), &profile, &options, &table, &err),
			 FG_ENOENT);
	assert_string_equal(err.message, "this profile has no measure 'heap.bytes'; it has "
					 "cpu_time, alloc_space");
	fg_profile_release(&profile);
}

FG_TEST(a_timeline_is_of_time_only)
{
	const struct fg_view_options options = {.query.measure = "alloc_space"};
	struct fg_view_table table;
	struct fg_profile profile;
	struct fg_error err = {0};

	known_profile_init(&profile);
	known_profile_add_bytes(&profile);
	assert_int_equal(fg_view_make(fg_view_find("timeline"), &profile, &options, &table, &err),
			 FG_EUNSUPPORTED);
	assert_non_null(strstr(err.message, "alloc_space"));
	fg_profile_release(&profile);
}

FG_TEST(json_has_an_object_for_each_measure_of_a_row)
{
	const struct fg_view_options options[2] = {{.all = true},
						   {.all = true, .query.measure = "alloc_space"}};
	struct fg_strbuf text = {0};
	struct fg_view_table tables[2];
	struct fg_profile profile;
	struct fg_error err = {0};
	cJSON *json = NULL;

	known_profile_init(&profile);
	known_profile_add_bytes(&profile);
	for (size_t i = 0; i < 2; i++)
		make("top-down", &profile, &options[i], &tables[i]);
	fg_view_write_json(tables, 2, &text);
	if (fg_json_parse(text.data, text.length, 1 << 20, &json, &err) != FG_OK)
		fail_msg("%s", err.message);
	assert_string_equal(fg_json_pointer(json, "/measures/1/unit")->valuestring, "bytes");
	assert_string_equal(fg_json_pointer(json, "/rows/1/name")->valuestring,
			    "loop(Event const&)");
	assert_true(fg_json_pointer(json, "/rows/1/inclusive_ns")->valuedouble == 80e6);
	assert_true(fg_json_pointer(json, "/rows/1/measures/cpu_time/inclusive")->valuedouble ==
		    80e6);
	assert_true(fg_json_pointer(json, "/rows/1/measures/alloc_space/inclusive")->valuedouble ==
		    KNOWN_ALLOCATIONS * KNOWN_BYTES);
	assert_null(fg_json_pointer(json, "/rows/1/alloc_space"));
	cJSON_Delete(json);
	fg_strbuf_release(&text);
	for (size_t i = 0; i < 2; i++)
		fg_view_table_release(&tables[i]);
	fg_profile_release(&profile);
}
