// SPDX-License-Identifier: Apache-2.0
/* A profile of two measures, time and bytes, through each format. */
#include "profile/ingest.h"
#include "profile/select.h"
#include "tests/support/fg_test.h"
#include "tests/support/known_profile.h"
#include "tests/unit/exchange/format.h"

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

	if (find_format(format)->write(profile, &options, text, &err) != FG_OK)
		fail_msg("%s", err.message);
}

static void select_bytes(const struct fg_profile *profile, struct fg_profile *selected)
{
	const struct fg_calltree_query query = {.measure = "alloc_space"};
	struct fg_error err = {0};

	assert_int_equal(fg_profile_select(profile, &query, selected, &err), FG_OK);
}

FG_TEST(a_selected_measure_is_the_only_one_of_the_selection)
{
	struct fg_profile profile;
	struct fg_profile selected;

	init(&profile);
	select_bytes(&profile, &selected);
	assert_int_equal(selected.measure_count, 1);
	assert_int_equal(selected.sample_count, KNOWN_ALLOCATIONS);
	assert_true(selected.measures[0].total == ALL_BYTES);
	assert_string_equal(selected.measures[0].is.name, "alloc_space");
	fg_profile_release(&selected);
	fg_profile_release(&profile);
}

FG_TEST(formats_of_one_number_write_the_first_measure)
{
	static const struct {
		const char *format, *holds;
	} cases[] = {
		{"folded", "main;loop(Event const&);fit(Track&) 30720\n"},
		{"tables", "\ntotal_alloc_space\t81920\n"},
	};
	struct fg_profile profile;
	struct fg_profile selected;

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

FG_TEST(a_repetition_is_a_row_for_each_measure_and_is_read_back_as_one)
{
	const struct fg_ingest_row row = {.arm = 1};
	struct fg_profile_set set;
	struct fg_profile profile;
	struct fg_profile back;

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
