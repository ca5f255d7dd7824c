// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "tests/support/fg_test.h"
#include "tests/support/fixture_report.h"

static const struct fg_report_options in_checkout = {.source_root = "/src/"};

FG_TEST(every_outcome_is_written_as_agreed)
{
	fg_fixture_check_golden("github", &in_checkout, ".github.txt");
}

FG_TEST(files_are_named_as_in_the_checkout)
{
	struct fg_strbuf text = {0};

	fg_fixture_write("regression", "github", &in_checkout, &text);
	assert_true(fg_text_starts_with(
		fg_strbuf_text(&text),
		"::error file=reco/fit.cpp,line=92,title=reconstruct is 4.8 %25 slower%3A "));
	fg_strbuf_clear(&text);
	fg_fixture_write("regression", "github", &(struct fg_report_options){.source_root = "/sr"},
			 &text);
	assert_true(fg_text_starts_with(fg_strbuf_text(&text), "::error title="));
	fg_strbuf_release(&text);
}

/* memcpy became slower: the annotation is at its nearest caller in the checkout. */
FG_TEST(a_function_from_elsewhere_is_shown_at_its_caller)
{
	struct fg_fixture fixture;
	struct fg_strbuf text = {0};

	fg_fixture_init(&fixture, "regression");
	fixture.verdict.benchmarks[0].time.functions[0].file = "/usr/src/libc/fit.c";
	fixture.verdict.benchmarks[0].time.functions[0].paths[0].frame_count = 2; /* main, loop */
	fg_reporter_find("github", NULL)->write(&fixture.report, &in_checkout, &text);
	assert_true(fg_text_starts_with(fg_strbuf_text(&text),
					"::error file=reco/loop.cpp,line=88,title="));
	fg_strbuf_release(&text);
	fg_fixture_release(&fixture);
}

/* A name can neither start a command nor end our properties. */
FG_TEST(names_cannot_give_commands)
{
	struct fg_strbuf text = {0};
	size_t lines = 0;

	fg_fixture_write("hostile", "github", &in_checkout, &text);
	for (const char *at = fg_strbuf_text(&text); *at;) {
		const size_t length = strcspn(at, "\n");
		const char *message = strstr(at + 2, "::");

		assert_true(fg_text_starts_with(at, "::error ") ||
			    fg_text_starts_with(at, "::warning "));
		assert_non_null(message);
		assert_true(message < at + length);
		lines++;
		at += length + 1;
	}
	assert_in_range(lines, 5, 20);
	fg_strbuf_release(&text);
}

/* Up to ten annotations are shown in full; beyond that, one line counts the remaining ones. */
FG_TEST(ten_are_all_shown_and_eleven_are_not)
{
	static const struct {
		size_t count;
		const char *more;
	} cases[] = {{9, NULL},
		     {10, NULL},
		     {11, "2 more; the report"},
		     {40, "::error title=fastgate::31 more; the report lists them all\n"}};

	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		struct fg_fixture fixture;
		struct fg_strbuf text = {0};
		size_t lines = 0;

		fg_fixture_init(&fixture, "regression");
		fg_fixture_repeat(&fixture, cases[i].count);
		fg_reporter_find("github", NULL)->write(&fixture.report, &in_checkout, &text);
		for (const char *at = fg_strbuf_text(&text); *at; at++)
			lines += *at == '\n';
		assert_int_equal(lines, fg_min_size(cases[i].count, 10));
		if (cases[i].more)
			assert_non_null(strstr(fg_strbuf_text(&text), cases[i].more));
		else
			assert_null(strstr(fg_strbuf_text(&text), " more; "));
		fg_strbuf_release(&text);
		fg_fixture_release(&fixture);
	}
}

/* A benchmark that the policy fails is an error, whatever its outcome. */
FG_TEST(what_the_policy_fails_is_an_error)
{
	static const enum fg_outcome outcomes[] = {FG_OUTCOME_CREEP, FG_OUTCOME_PLACEMENT,
						   FG_OUTCOME_INCONCLUSIVE};
	struct fg_strbuf text = {0};

	for (size_t i = 0; i < FG_ARRAY_SIZE(outcomes); i++) {
		for (unsigned fails = 0; fails < 2; fails++) {
			struct fg_fixture fixture;

			fg_fixture_init(&fixture, "creeping");
			fixture.verdict.benchmarks[0].outcome = outcomes[i];
			fixture.verdict.benchmarks[0].exit_code =
				fails ? FG_EXIT_REGRESSION : FG_EXIT_PASS;
			fg_fixture_write_report(&fixture, "github", &in_checkout, &text);
			assert_int_equal(strstr(fg_strbuf_text(&text), "::error ") != NULL, fails);
			fg_strbuf_clear(&text);
			fg_fixture_release(&fixture);
		}
	}
	fg_strbuf_release(&text);
}
