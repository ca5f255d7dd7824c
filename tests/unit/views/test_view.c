// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "profile/views/view.h"
#include "tests/support/fg_test.h"
#include "tests/support/golden.h"
#include "tests/support/known_profile.h"

#include <math.h>
#include <string.h>

static struct fg_profile profile;
static struct fg_view_table table;

static int set_up(void **state)
{
	(void)state;
	known_profile_init(&profile);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fg_view_table_release(&table);
	fg_profile_release(&profile);
	return 0;
}

static void make(const char *view, const struct fg_view_options *options)
{
	struct fg_error err = {0};

	fg_view_table_release(&table);
	if (fg_view_make(fg_view_find(view), &profile, options, &table, &err) != FG_OK)
		fail_msg("%s: %s", view, err.message);
}

static void refuse(const char *view, const struct fg_view_options *options, int status,
		   const char *words)
{
	struct fg_error err = {0};

	assert_int_equal(fg_view_make(fg_view_find(view), &profile, options, &table, &err), status);
	assert_non_null(strstr(err.message, words));
}

FG_TEST_IN(each_view_reads_as_reviewed_at_80_and_200_columns, set_up, tear_down)
{
	static const unsigned widths[] = {80, 200};
	const struct fg_view_options options = {0};

	for (const struct fg_view *view = fg_views; view->name; view++) {
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
		make(view->name, &options);
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
	}
}

static const struct fg_view_row *row_named(const char *name)
{
	for (size_t i = 0; i < table.row_count; i++) {
		const struct fg_view_cell *cell = &table.rows[i].cells[table.column_count - 1];

		if (cell->text && strcmp(cell->text, name) == 0)
			return &table.rows[i];
	}
	fail_msg("no row %s", name);
	return NULL;
}

static double figure(const char *name, const char *key)
{
	const struct fg_view_row *row = row_named(name);

	for (size_t i = 0; i < table.column_count; i++) {
		if (table.columns[i].key && strcmp(table.columns[i].key, key) == 0)
			return row->cells[i].number;
	}
	fail_msg("no column %s", key);
	return NAN;
}

FG_TEST_IN(flat_figures_are_the_known_ones, set_up, tear_down)
{
	const struct fg_view_options options = {.all = true};

	make("flat", &options);
	assert_int_equal(table.row_count, 10);
	assert_true(figure("fit(Track&)", "self_ns") == 30e6);
	assert_true(figure("fit(Track&)", "inclusive_ns") == 45e6);
	assert_true(figure("visit(Node*)", "inclusive_ns") == 27e6); /* recursion */
	assert_true(figure("log", "paths") == 2);
	assert_true(figure("main", "samples") == 90);
	assert_true(figure("walk(Node*)", "leaf_samples") == 0);
}

static bool has_note(const char *words)
{
	for (size_t i = 0; i < table.note_count; i++)
		if (strstr(table.notes[i], words))
			return true;
	return false;
}

/* 22 samples are worth 22 equal samples if all weigh the same, and fewer if one weighs more. */
FG_TEST_IN(shares_of_few_samples_come_with_their_interval, set_up, tear_down)
{
	const struct fg_view_options options = {0};

	make("flat", &options);
	assert_false(has_note("as precise as"));
	profile.sample_count = 22;
	make("flat", &options);
	assert_true(has_note("as precise as 22 equal samples: a share of 50 % means 50 ± 21 %, "
			     "and 10 % means 10 ± 13 %"));
	profile.samples[0].value *= 10;
	make("flat", &options);
	assert_true(has_note("as precise as 8 equal samples"));
}

/*
 * 30 of 100 equal samples: the standard error is that of a binomial share, sqrt(0.3 * 0.7 * 100)
 * samples.
 */
FG_TEST_IN(a_figure_carries_its_standard_error, set_up, tear_down)
{
	const struct fg_view_options options = {0};

	make("flat", &options);
	assert_true(fabs(row_named("fit(Track&)")->cells[1].error - 4582575.7) < 1);
	assert_true(fabs(row_named("fit(Track&)")->cells[0].error - 0.045825757) < 1e-9);
}

FG_TEST_IN(filters_combine, set_up, tear_down)
{
	static const char *const ignore[] = {"^log", NULL};
	struct fg_view_options options = {.all = true};

	options.query.region = "^reco";
	options.query.ignore = ignore;
	options.query.from_ns = 15 * INT64_C(1000000);
	make("flat", &options);
	/* reco is 2 ms to 82 ms: 67 from 15 ms on, 5 of them log's */
	assert_true(figure("main", "inclusive_ns") == 62e6);
}

FG_TEST_IN(units_have_their_time_and_spread, set_up, tear_down)
{
	const struct fg_view_options options = {0};

	make("units", &options);
	assert_true(figure("all units of work", "cpu_ns") == 80e6);
	assert_true(figure("all units of work", "mean_ns") == 20e6);
	assert_true(figure("all units of work", "sd_ns") == 0);
	assert_true(figure("event 3", "cpu_ns") == 20e6);
	/* reco/fit: 12 of the first event, 20 of the second, 13 of the third, none of the last */
	assert_true(figure("reco/fit", "max_ns") == 20e6);
	assert_true(figure("reco/fit", "mean_ns") == 45e6 / 4);
}

/* Events of 20 ms each, from 2 ms on; the part from 15 to 65 ms has 7, 20, 20 and 3 ms of them. */
FG_TEST_IN(units_have_the_elapsed_time_of_the_shown_part, set_up, tear_down)
{
	struct fg_view_options options = {0};

	make("units", &options);
	assert_true(figure("all units of work", "wall_ns") == 80e6);
	assert_true(figure("event 1", "wall_ns") == 20e6);
	options.query.from_ns = 15 * INT64_C(1000000);
	options.query.to_ns = 65 * INT64_C(1000000);
	make("units", &options);
	assert_true(figure("all units of work", "wall_ns") == 50e6);
	assert_true(figure("event 1", "wall_ns") == 7e6);
	assert_true(figure("event 2", "wall_ns") == 20e6);
	assert_true(figure("event 4", "wall_ns") == 3e6);
	options.query.from_ns = 0;
	options.query.to_ns = 0;
	options.query.unit_kind = "event";
	options.query.unit_first = 2;
	options.query.unit_last = 3;
	make("units", &options);
	assert_true(figure("all units of work", "wall_ns") == 40e6);
}

FG_TEST_IN(paths_distinguish_conditions, set_up, tear_down)
{
	static const char path[] = "main → loop(Event const&) → fit(Track&) → log";
	struct fg_view_options options = {.function = "^log"};

	make("paths", &options);
	assert_int_equal(table.row_count, 2);
	assert_true(figure(path, "units") == 1);
	/* 0, 0, 5 and 0 ms in the four events */
	assert_true(figure(path, "unit_mean_ns") == 1.25e6);
	assert_true(figure(path, "unit_sd_ns") == 2.5e6);
	assert_true(figure(path, "unit_max_ns") == 5e6);
	assert_true(figure("main → write_out(Event*) → log", "inclusive_ns") == 5e6);
	options.function = "no such function";
	refuse("paths", &options, FG_ENOENT, "'no such function'");
}

static size_t rows_in(const struct fg_strbuf *csv)
{
	size_t lines = 0;

	for (const char *at = fg_strbuf_text(csv); (at = strchr(at, '\n')); at++)
		lines++;
	return lines - 1;
}

FG_TEST_IN(instructions_carry_the_samples_that_ended_at_them, set_up, tear_down)
{
	struct fg_view_options options = {.function = "^norm", .query = {.measure = "cpu_time"}};
	struct fg_strbuf csv = {0};

	known_profile_add_code(&profile);
	/* an inlined function shows the instructions of the function that contains it */
	make("instructions", &options);
	assert_true(figure("vmovsd xmm0, qword ptr [rdi]", "leaf_samples") == 30);
	assert_true(figure("vsqrtsd xmm0, xmm0, xmm0", "self_ns") == 10e6);
	assert_true(figure("test rsi, rsi", "self_ns") == 0);
	/* data contain every instruction, without rows that are only for reading */
	options.all = true;
	make("instructions", &options);
	fg_view_write_csv(&table, &csv);
	assert_int_equal(rows_in(&csv), 10);
	assert_null(strstr(fg_strbuf_text(&csv), "..."));
	fg_strbuf_release(&csv);
	/* filters apply */
	options.query.region = "^output$";
	options.function = NULL;
	refuse("instructions", &options, FG_EUNSUPPORTED, "");
	options.query.region = NULL;
	options.function = "^compress$";
	refuse("instructions", &options, FG_ENOENT, "");
}

FG_TEST_IN(a_view_of_missing_data_names_the_remedy, NULL, tear_down)
{
	static const char *const views[] = {"regions", "units", "timeline", "threads",
					    "instructions"};
	const struct fg_view_options options = {0};

	fg_profile_init(&profile);
	for (size_t i = 0; i < FG_ARRAY_SIZE(views); i++) {
		struct fg_error err = {0};

		assert_int_equal(
			fg_view_make(fg_view_find(views[i]), &profile, &options, &table, &err),
			FG_EUNSUPPORTED);
		assert_true(strlen(err.message) > 20);
	}
}

FG_TEST_IN(an_empty_profile_has_empty_views, NULL, tear_down)
{
	static const char *const views[] = {"flat",  "callgraph", "top-down", "bottom-up",
					    "lines", "libraries", "classes",  "paths"};
	const struct fg_view_text_options text_options = {.columns = 80};
	const struct fg_view_options options = {0};

	fg_profile_init(&profile);
	for (size_t i = 0; i < FG_ARRAY_SIZE(views); i++) {
		struct fg_strbuf text = {0};

		make(views[i], &options);
		assert_int_equal(table.row_count, 0);
		fg_view_write_text(&table, &text_options, &text);
		fg_strbuf_release(&text);
	}
}

FG_TEST_IN(a_hostile_command_drives_no_terminal, set_up, tear_down)
{
	const struct fg_view_text_options text_options = {.columns = 80};
	const struct fg_view_options options = {0};
	struct fg_strbuf text = {0};

	profile.title = "./x\033]0;gone\a \xe2\x80\xaetxt\xc2\x9b";
	make("flat", &options);
	fg_view_write_text(&table, &text_options, &text);
	assert_non_null(strstr(fg_strbuf_text(&text), "./x"));
	assert_null(strpbrk(fg_strbuf_text(&text), "\033\a"));
	assert_null(strstr(fg_strbuf_text(&text), "\xe2\x80\xae"));
	assert_null(strstr(fg_strbuf_text(&text), "\xc2\x9b"));
	fg_strbuf_release(&text);
}

FG_TEST_IN(a_broken_pattern_is_refused, set_up, tear_down)
{
	struct fg_view_options options = {.function = "(("};

	refuse("callgraph", &options, FG_EINVAL, "");
	refuse("paths", &options, FG_EINVAL, "");
}

FG_TEST_IN(json_and_csv_carry_every_column_and_error, set_up, tear_down)
{
	const struct fg_view_options options = {.all = true};
	struct fg_strbuf text = {0};
	struct fg_error err = {0};
	cJSON *json = NULL;

	make("flat", &options);
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
}

FG_TEST_IN(another_measure_is_shown_in_its_own_unit, set_up, tear_down)
{
	const struct fg_view_options options = {.all = true, .query.measure = "alloc_space"};
	const struct fg_view_text_options text_options = {.columns = 120};
	struct fg_strbuf text = {0};

	known_profile_add_bytes(&profile);
	make("flat", &options);
	assert_true(figure("fit(Track&)", "self") == 30 * KNOWN_BYTES);
	assert_true(figure("loop(Event const&)", "inclusive") == KNOWN_ALLOCATIONS * KNOWN_BYTES);
	fg_view_write_text(&table, &text_options, &text);
	assert_non_null(strstr(text.data, "80.0 KiB of alloc_space in 80 samples"));
	assert_non_null(strstr(text.data, "self KiB"));
	assert_null(strstr(text.data, "ms"));
	fg_strbuf_release(&text);
}

FG_TEST_IN(domains_of_call_paths_join_in_those_of_functions, set_up, tear_down)
{
	struct fg_view_options options = {.all = true};

	refuse("domains", &options, FG_EUNSUPPORTED, "");
	known_profile_add_domains(&profile);
	make("domains", &options);
	assert_int_equal(table.row_count, 1);
	assert_true(figure("log", "calls") == 2001);
	assert_true(figure("log", "nan") == 1);
	assert_true(figure("log", "min") == 0.25);
	assert_true(figure("log", "mean") == 0.375);
	assert_true(figure("log", "traces") == (double)profile.domain_count);
	options.function = "^log$";
	make("domains", &options);
	assert_int_equal(table.row_count, profile.domain_count);
	options.trace = (unsigned)table.rows[0].cells[11].number;
	make("domains", &options);
	assert_true(figure("log", "calls") >= 20);
	assert_true(row_named("main") < row_named("log"));
	options.trace = 4000000;
	refuse("domains", &options, FG_ENOENT, "");
}

FG_TEST_IN(durations_of_call_paths_join_in_those_of_functions, set_up, tear_down)
{
	struct fg_view_options options = {.all = true};

	refuse("times", &options, FG_EUNSUPPORTED, "");
	known_profile_add_durations(&profile);
	make("times", &options);
	assert_int_equal(table.row_count, 1);
	assert_true(figure("log", "calls") == 20 * KNOWN_SAMPLES);
	assert_true(figure("log", "total_ns") == 6500.0 * KNOWN_SAMPLES);
	assert_true(figure("log", "min_ns") == 100);
	assert_true(figure("log", "max_ns") == 1000);
	assert_in_range(figure("log", "median_ns"), 100, 112);
	assert_in_range(figure("log", "p90_ns"), 896, 1000);
	assert_true(figure("log", "traces") == (double)profile.duration_count);
	options.function = "^log$";
	make("times", &options);
	assert_int_equal(table.row_count, profile.duration_count);
	options.trace = (unsigned)table.rows[0].cells[10].number;
	make("times", &options);
	assert_true(row_named("main") < row_named("log"));
	options.trace = 4000000;
	refuse("times", &options, FG_ENOENT, "");
}

FG_TEST_IN(without_leaks_a_sentence_says_so, set_up, tear_down)
{
	const struct fg_view_options options = {.all = true};
	struct fg_strbuf text = {0};
	uint16_t leaked = 0;
	uint16_t blocks = 0;

	known_profile_add_heap(&profile);
	assert_int_equal(fg_profile_find_measure(&profile, "heap.leaked", &leaked, NULL), FG_OK);
	assert_int_equal(fg_profile_find_measure(&profile, "heap.leaked_blocks", &blocks, NULL),
			 FG_OK);
	for (size_t i = 0; i < profile.sample_count; i++) {
		if (profile.samples[i].measure == leaked || profile.samples[i].measure == blocks)
			profile.samples[i].value = 0;
	}
	make("leaks", &options);
	assert_int_equal(table.row_count, 0);
	fg_view_write_text(&table, &(struct fg_view_text_options){0}, &text);
	assert_non_null(strstr(fg_strbuf_text(&text), "nothing was lost"));
	assert_null(strstr(fg_strbuf_text(&text), "allocations"));
	fg_strbuf_release(&text);
}

FG_TEST_IN(leaks_are_paths_and_memory_is_by_function, set_up, tear_down)
{
	const struct fg_view_options options = {.all = true};
	static const char path[] = "fit(Track&) ← loop(Event const&) ← main";
	const struct fg_view_options by_blocks = {.query.measure = "heap.live_blocks"};
	const struct fg_view_options held = {.query.measure = "heap.live"};

	refuse("leaks", &options, FG_EUNSUPPORTED, "record --measure heap");
	known_profile_add_heap(&profile);
	make("leaks", &options);
	assert_true(figure(path, "allocations") == 30);
	assert_true(figure(path, "blocks") == 6);
	assert_true(figure(path, "bytes") == 6 * KNOWN_BYTES);
	make("leaks", &held);
	assert_true(figure(path, "blocks") == 7);
	make("memory", &options);
	assert_true(figure("fit(Track&)", "bytes") == 30 * KNOWN_BYTES);
	assert_true(figure("fit(Track&)", "allocations") == 30);
	assert_true(figure("fit(Track&)", "largest") == KNOWN_BYTES);
	refuse("leaks", &by_blocks, FG_EUNSUPPORTED, "");
}

static bool shows_column(const char *title)
{
	struct fg_strbuf text = {0};
	bool is_shown = false;

	fg_view_write_text(&table, &(struct fg_view_text_options){0}, &text);
	is_shown = strstr(fg_strbuf_text(&text), title) != NULL;
	fg_strbuf_release(&text);
	return is_shown;
}

FG_TEST_IN(leaks_that_are_not_known_are_missing_in_memory, set_up, tear_down)
{
	const struct fg_view_options options = {.all = true};
	uint16_t leaked = 0;

	known_profile_add_heap(&profile);
	make("memory", &options);
	assert_true(shows_column("lost"));
	assert_int_equal(fg_profile_find_measure(&profile, "heap.leaked", &leaked, NULL), FG_OK);
	profile.measures[leaked].is.name = "other";
	make("memory", &options);
	assert_false(shows_column("lost"));
	assert_true(shows_column("live"));
}

static void hold_more(const char *measure, double value)
{
	const struct fg_measure is = fg_measure_describe(measure, NULL);
	struct fg_sample *sample = fg_profile_add_sample(&profile);

	sample->stack = profile.samples[0].stack;
	sample->value = value;
	sample->kind = FG_TIME_BOTH;
	sample->measure = fg_profile_measure(&profile, &is);
	fg_profile_add_up(&profile, sample);
}

FG_TEST_IN(growth_is_between_two_dumps, set_up, tear_down)
{
	struct fg_view_options options = {.all = true};

	known_profile_add_heap(&profile);
	refuse("growth", &options, FG_EUNSUPPORTED, "fg_dump()");
	hold_more("heap.live.1", 100);
	hold_more("heap.live_blocks.1", 1);
	hold_more("heap.live.2", 250);
	hold_more("heap.live_blocks.2", 3);
	make("growth", &options);
	assert_int_equal(table.row_count, 1);
	assert_true(table.rows[0].cells[1].number == 150); /* grown by */
	assert_true(table.rows[0].cells[2].number == 2);   /* blocks */
	assert_true(table.rows[0].cells[3].number == 100); /* before */
	assert_true(table.rows[0].cells[4].number == 250); /* after */
	options.dump_from = 2;
	options.dump_to = 1;
	make("growth", &options);
	assert_int_equal(table.row_count, 0);
	options.dump_to = 3;
	refuse("growth", &options, FG_ENOENT, "");
}

FG_TEST_IN(a_measure_that_is_not_there_is_refused_with_those_that_are, set_up, tear_down)
{
	const struct fg_view_options options = {.query.measure = "heap.bytes"};

	known_profile_add_bytes(&profile);
	refuse("flat", &options, FG_ENOENT,
	       "this profile has no measure 'heap.bytes'; it has cpu_time, alloc_space");
}

FG_TEST_IN(a_timeline_is_of_time_only, set_up, tear_down)
{
	const struct fg_view_options options = {.query.measure = "alloc_space"};

	known_profile_add_bytes(&profile);
	refuse("timeline", &options, FG_EUNSUPPORTED, "alloc_space");
}

FG_TEST_IN(json_has_an_object_for_each_measure_of_a_row, set_up, tear_down)
{
	const struct fg_view_options options[2] = {{.all = true},
						   {.all = true, .query.measure = "alloc_space"}};
	struct fg_strbuf text = {0};
	struct fg_view_table tables[2];
	struct fg_error err = {0};
	cJSON *json = NULL;

	known_profile_add_bytes(&profile);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(fg_view_make(fg_view_find("top-down"), &profile, &options[i],
					      &tables[i], &err),
				 FG_OK);
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
}
