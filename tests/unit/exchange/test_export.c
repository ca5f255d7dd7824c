// SPDX-License-Identifier: Apache-2.0
#include "base/csv.h"
#include "base/json.h"
#include "profile/exchange/import.h"
#include "tests/support/fg_test.h"
#include "tests/support/golden.h"
#include "tests/support/known_profile.h"
#include "tests/unit/exchange/format.h"

#include <string.h>

static void export(const char *format, const struct fg_profile *profile, bool samples,
		   struct fg_strbuf *text)
{
	const struct fg_export_options options = {.samples = samples, .tool_version = "fastgate"};
	struct fg_error err = {0};

	if (find_format(format)->write(profile, &options, text, &err) != FG_OK)
		fail_msg("%s: %s", format, err.message);
}

FG_TEST(text_formats_are_as_reviewed)
{
	static const struct {
		const char *format;
		const char *golden;
	} cases[] = {
		{"folded", "profile/known.folded"},
		{"chrome", "profile/known.trace.json"},
		{"json", "profile/known.json"},
		{"tables", "profile/known.tables.txt"},
	};
	struct fg_profile profile;

	known_profile_init(&profile);
	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		struct fg_strbuf text = {0};

		export(cases[i].format, &profile, false, &text);
		fg_golden_check(cases[i].golden, &text);
		fg_strbuf_release(&text);
	}
	fg_profile_release(&profile);
}

/* Adds the stack that ends in this function at this address, below `parent`. */
static uint32_t at_address(struct fg_profile *p, uint32_t parent, const char *name,
			   uint64_t address, uint32_t module)
{
	const struct fg_profile_function function = {.name = name, .library = "app"};
	const struct fg_frame frame = {.function = fg_profile_function(p, &function),
				       .address = address,
				       .module = module};

	return fg_profile_stack(p, parent, fg_profile_frame(p, &frame));
}

static void count(struct fg_profile *p, uint32_t stack, double value)
{
	struct fg_sample *sample = fg_profile_add_sample(p);

	sample->stack = stack;
	sample->value = value;
	fg_profile_add_up(p, sample);
}

FG_TEST(tables_count_samples_by_instruction)
{
	struct fg_strbuf text = {0};
	struct fg_profile p;
	uint32_t root;

	fg_profile_init(&p);
	fg_profile_add_module(&p)->name = "app";
	root = at_address(&p, 0, "main", 0x1000, 1);
	count(&p, at_address(&p, root, "fit", 0x2008, 1), 5);
	count(&p, at_address(&p, root, "fit", 0x2004, 1), 7);
	count(&p, at_address(&p, 0, "fit", 0x2008, 1), 6); /* on a different path */
	count(&p, at_address(&p, root, "[unknown]", 0, 0), 1);
	export("tables", &p, false, &text);
	assert_non_null(strstr(text.data, "\n[addresses]\naddress\tleaf\tleaf_ns\tlibrary\tname\n"
					  "0x2004\t1\t7\tapp\tfit\n"
					  "0x2008\t2\t11\tapp\tfit\n"));
	assert_null(strstr(text.data, "0x1000"));
	fg_profile_release(&p);
	fg_strbuf_release(&text);
}

FG_TEST(folded_text_can_count_samples)
{
	struct fg_strbuf text = {0};
	struct fg_profile profile;

	known_profile_init(&profile);
	export("folded", &profile, true, &text);
	assert_non_null(strstr(text.data, "main;loop(Event const&);fit(Track&) 30\n"));
	fg_profile_release(&profile);
	fg_strbuf_release(&text);
}

FG_TEST(a_name_of_every_hostile_character_keeps_each_format_whole)
{
	static const char hostile[] = "a;b\"c\\d\n\xff,<&>'(1) 5 \xc3\xa4";
	struct fg_profile profile;

	known_profile_single(&profile, hostile, "lib;x.so");
	for (const struct fg_export_format *format = fg_export_formats; format->name; format++) {
		struct fg_strbuf text = {0};
		struct fg_error err = {0};
		cJSON *json = NULL;

		if (strcmp(format->name, "chrome") == 0 || format->has_calls)
			continue; /* shows regions or arguments, which are missing */
		export(format->name, &profile, false, &text);
		assert_true(text.length > 0);
		if (strstr(format->extension, "json")) {
			if (fg_json_parse(text.data, text.length, 1 << 20, &json, &err) != FG_OK)
				fail_msg("%s: %s", format->name, err.message);
			cJSON_Delete(json);
		}
		if (strcmp(format->name, "folded") == 0)
			assert_string_equal(
				text.data,
				"a:b\"c\\d\xef\xbf\xbd\xef\xbf\xbd,<&>'(1) 5 \xc3\xa4 1000000\n");
		fg_strbuf_release(&text);
	}
	fg_profile_release(&profile);
}

FG_TEST(an_empty_profile_is_written_without_a_crash)
{
	struct fg_profile profile;

	fg_profile_init(&profile);
	for (const struct fg_export_format *format = fg_export_formats; format->name; format++) {
		const struct fg_export_options options = {0};
		struct fg_strbuf text = {0};
		struct fg_error err = {0};

		if (format->write(&profile, &options, &text, &err) != FG_OK)
			assert_int_equal(err.code, FG_EUNSUPPORTED);
		fg_strbuf_release(&text);
	}
	fg_profile_release(&profile);
}

FG_TEST(short_stays_in_regions_are_reported_as_summed_up)
{
	const struct fg_export_options options = {0};
	struct fg_strbuf text = {0};
	struct fg_profile profile;
	struct fg_error err = {0};

	known_profile_init(&profile);
	profile.span_count = 0;
	profile.unit_count = 1;
	assert_int_equal(find_format("chrome")->write(&profile, &options, &text, &err),
			 FG_EUNSUPPORTED);
	assert_non_null(strstr(err.message, "no region visits of 100 µs or longer"));
	fg_strbuf_release(&text);
	fg_profile_release(&profile);
}

FG_TEST(names_are_not_formulas_in_a_spreadsheet)
{
	static const char *const names[] = {
		"=cmd|' /C calc'!A0", "+1", "-rf", "@SUM(1)", "a=b", "", "\"=1\"", NULL};
	struct fg_strbuf text = {0};
	struct fg_csv csv = {.out = &text};

	for (size_t i = 0; names[i]; i++)
		fg_csv_text(&csv, names[i]);
	fg_csv_number(&csv, -1);
	fg_csv_end(&csv);
	assert_string_equal(
		fg_strbuf_text(&text),
		"\"'=cmd|' /C calc'!A0\",\"'+1\",\"'-rf\",\"'@SUM(1)\",a=b,,\"\"\"=1\"\"\",-1\n");
	fg_strbuf_release(&text);
}
