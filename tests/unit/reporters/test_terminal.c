// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "reporters/figures.h"
#include "reporters/reporter.h"
#include "reporters/verdict_queries.h"
#include "tests/support/fg_test.h"
#include "tests/support/fixture_report.h"
#include "tests/support/golden.h"

#include <math.h>

FG_TEST(every_outcome_reads_as_agreed)
{
	fg_fixture_check_golden("terminal", NULL, ".txt");
}

FG_TEST(verbose_shows_everything)
{
	fg_fixture_check_golden("terminal", &(struct fg_report_options){.verbose = true},
				".verbose.txt");
}

/* A host's load always differs, so only --verbose shows it. */
FG_TEST(facts_of_the_build_that_differ_are_named)
{
	struct fg_fact_difference differences[] = {
		{.key = "host.load", .baseline = "0.10", .candidate = "0.20"},
		{.key = "user.geometry", .baseline = "v12", .candidate = "v13"},
	};
	struct fg_fixture fixture;
	struct fg_strbuf text = {0};

	fg_fixture_init(&fixture, "pass");
	fixture.verdict.environment_difference = differences;
	fixture.verdict.environment_difference_count = FG_ARRAY_SIZE(differences);
	fg_fixture_write_report(&fixture, "terminal", NULL, &text);
	assert_non_null(strstr(fg_strbuf_text(&text), "differs: user.geometry  v12 → v13"));
	assert_null(strstr(fg_strbuf_text(&text), "host.load"));
	fg_strbuf_release(&text);
	fg_fixture_release(&fixture);
}

FG_TEST(the_worst_benchmark_comes_first_in_every_list)
{
	static const char *const formats[] = {"terminal", "markdown", "github"};
	struct fg_fixture fixture;

	fg_fixture_init(&fixture, "mixed");
	/* The regression is the last benchmark of the run. */
	for (size_t i = 0; i + 1 < fixture.verdict.benchmark_count; i++) {
		struct fg_benchmark_verdict *at = &fixture.verdict.benchmarks[i];
		const struct fg_benchmark_verdict first = at[0];

		at[0] = at[1];
		at[1] = first;
	}
	for (size_t i = 0; i < FG_ARRAY_SIZE(formats); i++) {
		struct fg_strbuf text = {0};
		const char *list = NULL;

		fg_fixture_write_report(&fixture, formats[i], NULL, &text);
		list = strstr(fg_strbuf_text(&text), "network");
		assert_non_null(list);
		assert_true(strstr(fg_strbuf_text(&text), "+4.8") < list);
		fg_strbuf_release(&text);
	}
	fg_fixture_release(&fixture);
}

FG_TEST(unsure_functions_are_never_listed_as_the_cause)
{
	static const char *const formats[] = {"terminal", "junit", "markdown", "comment", "github"};

	for (size_t i = 0; i < FG_ARRAY_SIZE(formats); i++) {
		struct fg_strbuf text = {0};
		const char *not_sure;

		fg_fixture_write("unsure", formats[i], NULL, &text);
		not_sure = strstr(fg_strbuf_text(&text), "ot sure");
		if (!not_sure || strstr(fg_strbuf_text(&text), "fit") < not_sure ||
		    !strstr(fg_strbuf_text(&text),
			    "no single function can be blamed with certainty") ||
		    strstr(fg_strbuf_text(&text), "everything else"))
			fail_msg("%s: %s", formats[i], fg_strbuf_text(&text));
		fg_strbuf_release(&text);
	}
}

/* The last rows cancel the first ones: the rest of a short list is five times the total. */
FG_TEST(the_rest_of_a_short_list_has_no_share_beyond_twice_the_whole)
{
	static const double deltas[] = {15, 15, 15, 15, -19, -19, -12};
	struct fg_node_verdict functions[FG_ARRAY_SIZE(deltas)];
	const struct fg_blame blame = {
		.functions = functions, .function_count = FG_ARRAY_SIZE(deltas), .total_delta = 10};
	struct fg_remainder rest;

	for (size_t i = 0; i < FG_ARRAY_SIZE(deltas); i++)
		functions[i] = (struct fg_node_verdict){.standing = FG_STANDING_GUILTY,
							.delta = deltas[i],
							.share_of_change = deltas[i] / 10};
	rest = fg_report_everything_else(&blame, 4);
	assert_float_equal(rest.delta, -50, 1e-9);
	assert_true(isnan(rest.share));
	rest = fg_report_everything_else(&blame, 2);
	assert_float_equal(rest.share, -2, 1e-9);
	rest = fg_report_everything_else(&blame, 1);
	assert_float_equal(rest.share, -0.5, 1e-9);
}

FG_TEST(a_note_about_several_metrics_is_printed_once)
{
	static const char note[] = "cannot be judged against a stored run yet";
	struct fg_fixture fixture;
	struct fg_strbuf text = {0};
	const char *first;

	fg_fixture_init(&fixture, "inconclusive");
	for (size_t i = 0; i < 2; i++) {
		struct fg_metric_verdict *metric = &fixture.verdict.benchmarks[0].metrics[i];

		metric->gated = metric->decided = true;
		metric->outcome = FG_OUTCOME_INCONCLUSIVE;
		fg_notes_add(&metric->notes, &fixture.verdict.arena, "%s", note);
	}
	fg_reporter_find("terminal", NULL)
		->write(&fixture.report, &(struct fg_report_options){0}, &text);
	first = strstr(fg_strbuf_text(&text), note);
	assert_non_null(first);
	assert_null(strstr(first + 1, note));
	fg_strbuf_release(&text);
	fg_fixture_release(&fixture);
}

static size_t longest_line(const char *text)
{
	size_t longest = 0;

	while (*text) {
		const size_t length = strcspn(text, "\n");
		char *line = fg_xstrndup(text, length);

		if (fg_text_width(line) > longest)
			longest = fg_text_width(line);
		free(line);
		text += length + (text[length] == '\n');
	}
	return longest;
}

FG_TEST(a_narrow_terminal_keeps_name_change_and_verdict)
{
	static const unsigned widths[] = {200, 100, 80, 60, 48};

	for (size_t i = 0; i < FG_ARRAY_SIZE(widths); i++) {
		const struct fg_report_options options = {.width = widths[i]};
		struct fg_strbuf text = {0};
		char name[64];

		fg_fixture_write("mixed", "terminal", &options, &text);
		assert_non_null(strstr(fg_strbuf_text(&text), "+4.8 %"));
		assert_non_null(strstr(fg_strbuf_text(&text), "REGRESSION"));
		assert_non_null(strstr(fg_strbuf_text(&text), "reco"));
		assert_in_range(longest_line(fg_strbuf_text(&text)), 1, widths[i]);
		(void)snprintf(name, sizeof(name), "report/mixed.%u.txt", widths[i]);
		fg_golden_check(name, &text);
		fg_strbuf_release(&text);
	}
}

/* Without its colours the text is the same: colour adds no information. */
FG_TEST(colour_adds_nothing_but_colour)
{
	struct fg_strbuf plain = {0};
	struct fg_strbuf colored = {0};
	struct fg_strbuf stripped = {0};

	fg_fixture_write("mixed", "terminal", &(struct fg_report_options){0}, &plain);
	fg_fixture_write("mixed", "terminal", &(struct fg_report_options){.color = true}, &colored);
	for (const char *at = fg_strbuf_text(&colored); *at; at++) {
		if (*at == '\033')
			at = strchr(at, 'm');
		else
			fg_strbuf_add_char(&stripped, *at);
	}
	assert_null(strchr(fg_strbuf_text(&plain), '\033'));
	assert_non_null(strstr(fg_strbuf_text(&colored), "\033[1;31mREGRESSION\033[0m"));
	assert_string_equal(fg_strbuf_text(&stripped), fg_strbuf_text(&plain));
	fg_strbuf_release(&plain);
	fg_strbuf_release(&colored);
	fg_strbuf_release(&stripped);
}

FG_TEST(names_cannot_drive_the_terminal)
{
	struct fg_strbuf text = {0};

	fg_fixture_write("hostile", "terminal",
			 &(struct fg_report_options){.verbose = true, .width = 120}, &text);
	for (const char *at = fg_strbuf_text(&text); *at; at++)
		assert_true((unsigned char)*at >= 0x20 || *at == '\n');
	assert_in_range(longest_line(fg_strbuf_text(&text)), 1, 120);
	fg_strbuf_release(&text);
}

FG_TEST(a_locale_without_arrows_gets_ascii)
{
	struct fg_strbuf text = {0};

	fg_fixture_write("mixed", "terminal",
			 &(struct fg_report_options){.ascii = true, .verbose = true}, &text);
	for (const char *at = fg_strbuf_text(&text); *at; at++)
		assert_true((unsigned char)*at < 0x80);
	assert_non_null(strstr(fg_strbuf_text(&text), "210 ms -> 220 ms"));
	fg_strbuf_release(&text);
}

FG_TEST(levels_never_fall_where_the_change_rises)
{
	struct fg_metric_verdict metric = {
		.unit = "ns", .ratio = 1.005, .baseline = 66.4e6, .candidate = 66.0e6};
	struct fg_strbuf text = {0};

	fg_report_add_levels(&text, &metric);
	assert_string_equal(fg_strbuf_text(&text), "about 66.2 ms");
	metric.ratio = 0.995;
	fg_strbuf_clear(&text);
	fg_report_add_levels(&text, &metric);
	assert_string_equal(fg_strbuf_text(&text), "66.4 ms → 66.0 ms");
	fg_strbuf_release(&text);
}
