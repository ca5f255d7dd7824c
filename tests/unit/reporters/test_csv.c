// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fg_test.h"
#include "tests/support/fixture_report.h"

FG_TEST(every_outcome_is_written_as_agreed)
{
	fg_fixture_check_golden("csv", NULL, ".csv");
	fg_fixture_check_one("counted", "csv-raw", NULL, ".raw.csv");
}

/* Returns the number of cells in the record that begins here; advances to the next record. */
static size_t take_record(const char **at)
{
	size_t cells = 1;
	bool quoted = false;

	for (; **at && (quoted || **at != '\n'); (*at)++) {
		quoted = quoted != (**at == '"');
		cells += !quoted && **at == ',';
	}
	assert_false(quoted);
	*at += **at == '\n';
	return cells;
}

FG_TEST(every_record_has_the_cells_of_the_head)
{
	static const char *const formats[] = {"csv", "csv-raw"};

	for (size_t i = 0; i < FG_ARRAY_SIZE(formats); i++) {
		struct fg_strbuf text = {0};
		const char *at = NULL;
		size_t cells = 0;
		size_t records = 0;

		fg_fixture_write("hostile", formats[i], NULL, &text);
		at = fg_strbuf_text(&text);
		cells = take_record(&at);
		for (; *at; records++)
			assert_int_equal(take_record(&at), cells);
		assert_true(records > 10);
		fg_strbuf_release(&text);
	}
}

FG_TEST(a_cell_is_not_a_formula)
{
	struct fg_fixture fixture;
	struct fg_strbuf text = {0};
	const struct fg_report_options options = {0};

	fg_fixture_init(&fixture, "pass");
	fixture.verdict.benchmarks[0].name = "=HYPERLINK(\"x\")";
	fg_reporter_find("csv", NULL)->write(&fixture.report, &options, &text);
	assert_non_null(strstr(fg_strbuf_text(&text), "\n\"'=HYPERLINK(\"\"x\"\")\","));
	fg_strbuf_release(&text);
	fg_fixture_release(&fixture);
}
