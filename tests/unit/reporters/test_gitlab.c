// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fg_test.h"
#include "tests/support/fixture_report.h"

FG_TEST(every_outcome_is_written_as_agreed)
{
	fg_fixture_check_golden("gitlab", NULL, ".metrics.txt");
}

/* GitLab compares texts: a difference within the noise must not show. */
FG_TEST(values_within_the_noise_are_the_same_text)
{
	struct fg_fixture fixture;
	struct fg_strbuf text[2] = {{0}, {0}};
	const struct fg_report_options options = {0};

	fg_fixture_init(&fixture, "pass");
	for (size_t i = 0; i < 2; i++) {
		fg_reporter_find("gitlab", NULL)->write(&fixture.report, &options, &text[i]);
		fixture.verdict.benchmarks[0].metrics[0].candidate *=
			1.0008; /* the interval is ±0.6 % */
	}
	assert_non_null(strstr(fg_strbuf_text(&text[0]),
			       "fastgate_cpu_time_seconds{benchmark=\"parse\"} 0.0641\n"));
	assert_string_equal(fg_strbuf_text(&text[0]), fg_strbuf_text(&text[1]));
	fg_strbuf_release(&text[0]);
	fg_strbuf_release(&text[1]);
	fg_fixture_release(&fixture);
}

/* OpenMetrics requires each family once and in one piece. */
FG_TEST(families_are_adjacent)
{
	static const char family[] = "# TYPE fastgate_cpu_time_seconds gauge\n";
	struct fg_strbuf text = {0};
	const char *first = NULL;

	fg_fixture_write("hostile", "gitlab", NULL, &text);
	assert_string_equal(strstr(fg_strbuf_text(&text), "# EOF"), "# EOF\n");
	first = strstr(fg_strbuf_text(&text), family);
	assert_non_null(first);
	assert_null(strstr(first + 1, family));
	assert_non_null(
		strstr(fg_strbuf_text(&text), "{benchmark=\"\\\"quoted\\\" 'single' `code`"));
	fg_strbuf_release(&text);
}
