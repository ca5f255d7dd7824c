// SPDX-License-Identifier: Apache-2.0
/* A profile of two measures, time and bytes, through each format. */
#include "base/gzip.h"
#include "profile/exchange/export.h"
#include "profile/exchange/import.h"
#include "profile/ingest.h"
#include "profile/select.h"
#include "tests/support/fg_test.h"
#include "tests/support/known_profile.h"

enum {
	ALL_BYTES = KNOWN_BYTES * KNOWN_ALLOCATIONS,
};

static void init(struct fg_profile *profile)
{
	known_profile_init(profile);
	known_profile_add_bytes(profile);
}

static void write(const struct fg_profile *profile, const char *format, struct fg_strbuf *text)
{
	const struct fg_export_options options = {.tool_version = "test"};
	struct fg_error err = {0};

	if (fg_export_write(fg_export_find(format), profile, &options, text, &err) != FG_OK)
		fail_msg("%s", err.message);
}

/* Through a format and back. */
static void round_trip(const struct fg_profile *profile, const char *format,
		       struct fg_profile *back)
{
	const struct fg_import_options options = {0};
	struct fg_strbuf text = {0};
	struct fg_error err = {0};

	write(profile, format, &text);
	if (fg_import_read(fg_import_find(format), text.data, text.length, &options, back, &err) !=
	    FG_OK)
		fail_msg("%s", err.message);
	fg_strbuf_release(&text);
}

static void select_bytes(const struct fg_profile *profile, struct fg_profile *selected)
{
	const struct fg_calltree_query query = {.measure = "alloc_space"};
	struct fg_error err = {0};

	assert_int_equal(fg_profile_select(profile, &query, selected, &err), FG_OK);
}

static void expect_both(const struct fg_profile *profile)
{
	uint16_t bytes = 0;

	assert_int_equal(profile->measure_count, 2);
	assert_string_equal(profile->measures[0].is.name, "cpu_time");
	assert_true(profile->measures[0].total == (double)KNOWN_SAMPLES * KNOWN_PERIOD_NS);
	assert_int_equal(fg_profile_find_measure(profile, "alloc_space", &bytes, NULL), FG_OK);
	assert_string_equal(profile->measures[bytes].is.unit, "bytes");
	assert_true(profile->measures[bytes].total == ALL_BYTES);
}

static void json_keeps_both_measures(void **state)
{
	struct fg_profile profile;
	struct fg_profile back;

	(void)state;
	init(&profile);
	round_trip(&profile, "json", &back);
	expect_both(&back);
	fg_profile_release(&back);
	fg_profile_release(&profile);
}

static void json_of_two_measures_is_the_same_after_a_round_trip(void **state)
{
	struct fg_profile profile;
	struct fg_profile back;
	struct fg_strbuf once = {0};
	struct fg_strbuf twice = {0};

	(void)state;
	init(&profile);
	round_trip(&profile, "json", &back);
	write(&profile, "json", &once);
	write(&back, "json", &twice);
	assert_string_equal(once.data, twice.data);
	fg_strbuf_release(&once);
	fg_strbuf_release(&twice);
	fg_profile_release(&back);
	fg_profile_release(&profile);
}

static void json_with_a_measure_that_is_none_is_refused(void **state)
{
	static const struct {
		const char *from, *to, *says;
	} cases[] = {
		{"\"fold\":\"sum\",\"better\":\"lower\",\"exact\":false,\"total\":81920",
		 "\"fold\":\"mul\",\"better\":\"lower\",\"exact\":false,\"total\":81920", "fold"},
		{"\"name\":\"alloc_space\"", "\"name\":\"\"", "name"},
		{"{\"measure\":1,", "{\"measure\":2,", "measure"},
	};
	struct fg_profile profile;
	struct fg_strbuf text = {0};

	(void)state;
	init(&profile);
	write(&profile, "json", &text);
	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		const struct fg_import_options options = {0};
		char *at = strstr(text.data, cases[i].from);
		struct fg_strbuf changed = {0};
		struct fg_profile back;
		struct fg_error err = {0};

		assert_non_null(at);
		fg_strbuf_add(&changed, text.data, (size_t)(at - text.data));
		fg_strbuf_add_text(&changed, cases[i].to);
		fg_strbuf_add_text(&changed, at + strlen(cases[i].from));
		assert_int_equal(fg_import_read(fg_import_find("json"), changed.data,
						changed.length, &options, &back, &err),
				 FG_EPARSE);
		assert_non_null(strstr(err.message, cases[i].says));
		fg_strbuf_release(&changed);
	}
	fg_strbuf_release(&text);
	fg_profile_release(&profile);
}

static void a_selected_measure_is_the_only_one_of_the_selection(void **state)
{
	struct fg_profile profile;
	struct fg_profile selected;
	struct fg_profile back;

	(void)state;
	init(&profile);
	select_bytes(&profile, &selected);
	assert_int_equal(selected.measure_count, 1);
	assert_int_equal(selected.sample_count, KNOWN_ALLOCATIONS);
	assert_true(selected.measures[0].total == ALL_BYTES);
	round_trip(&selected, "json", &back);
	assert_string_equal(back.measures[0].is.name, "alloc_space");
	assert_true(back.measures[0].total == ALL_BYTES);
	fg_profile_release(&back);
	fg_profile_release(&selected);
	fg_profile_release(&profile);
}

static void formats_of_one_number_write_the_first_measure(void **state)
{
	static const struct {
		const char *format, *holds;
	} cases[] = {
		{"folded", "main;loop(Event const&);fit(Track&) 30720\n"},
		{"tables", "\ntotal_alloc_space\t81920\n"},
	};
	struct fg_profile profile;
	struct fg_profile selected;

	(void)state;
	init(&profile);
	select_bytes(&profile, &selected);
	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		struct fg_strbuf text = {0};
		struct fg_strbuf time = {0};

		write(&selected, cases[i].format, &text);
		assert_non_null(strstr(text.data, cases[i].holds));
		write(&profile, cases[i].format, &time);
		assert_null(strstr(time.data, cases[i].holds));
		fg_strbuf_release(&text);
		fg_strbuf_release(&time);
	}
	fg_profile_release(&selected);
	fg_profile_release(&profile);
}

static void a_repetition_is_a_row_for_each_measure_and_comes_back_as_one(void **state)
{
	const struct fg_ingest_row row = {.arm = 1};
	struct fg_profile_set set;
	struct fg_profile profile;
	struct fg_profile back;

	(void)state;
	init(&profile);
	fg_profile_set_init(&set, "reco");
	fg_profile_ingest_profile(&set, &profile, &row, NULL);
	fg_profile_ingest_profile(&set, &profile, &row, NULL);
	assert_int_equal(set.row_count, 4);
	assert_int_equal(fg_profile_set_time(&set), FG_MEASURE_CPU_TIME);
	fg_profile_from_set(&back, &set, 1);
	assert_int_equal(back.repetition_count, 2);
	assert_int_equal(back.measure_count, 2);
	assert_true(back.measures[1].total == 2 * ALL_BYTES);
	assert_true(back.cpu_ns == 2 * (double)KNOWN_SAMPLES * KNOWN_PERIOD_NS);
	fg_profile_release(&back);
	fg_profile_set_release(&set);
	fg_profile_release(&profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_keeps_both_measures),
		cmocka_unit_test(json_of_two_measures_is_the_same_after_a_round_trip),
		cmocka_unit_test(json_with_a_measure_that_is_none_is_refused),
		cmocka_unit_test(a_selected_measure_is_the_only_one_of_the_selection),
		cmocka_unit_test(formats_of_one_number_write_the_first_measure),
		cmocka_unit_test(a_repetition_is_a_row_for_each_measure_and_comes_back_as_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
