// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "tests/support/fg_test.h"
#include "tests/support/fixture_report.h"

FG_TEST(every_outcome_is_written_as_agreed)
{
	fg_fixture_check_golden("markdown", NULL, ".md");
	fg_fixture_check_one("mixed", "comment", NULL, ".comment.md");
	fg_fixture_check_one("hostile", "comment", NULL, ".comment.md");
}

/* No name is read as HTML, a table border, a link or a mention. */
FG_TEST(hostile_names_stay_names)
{
	static const char *const never[] = {"<script", "<img",     "](",       "`code`",
					    "|pipe|",  "@someone", "**bold**", "\033"};
	struct fg_strbuf text = {0};

	fg_fixture_write("hostile", "comment", NULL, &text);
	for (size_t i = 0; i < FG_ARRAY_SIZE(never); i++) {
		if (strstr(fg_strbuf_text(&text), never[i]))
			fail_msg("'%s' came through", never[i]);
	}
	assert_non_null(
		strstr(fg_strbuf_text(&text), "<code>&#60;/script&#62;&#60;script&#62;alert(1)"));
	fg_strbuf_release(&text);
}

/*
 * Commits and places are links if the run has templates, and plain text if the templates are
 * invalid.
 */
FG_TEST(templates_of_the_run_make_links)
{
	static const char link[] = "<a href=\"https&#58;//h/";
	struct fg_strbuf text = {0};
	struct fg_fixture fixture;
	struct fg_environment *build = &fixture.run.sides[FG_ARM_CANDIDATE].build;

	fg_fixture_init(&fixture, "regression");
	fixture.run.sides[FG_ARM_CANDIDATE].dirty = false;
	fg_environment_set(build, "link.commit", "https://h/c/{commit}", false);
	fg_environment_set(build, "link.line", "https://h/{commit}/{file}#L{line}", false);
	fg_fixture_write_report(&fixture, "comment", NULL, &text);
	assert_non_null(strstr(fg_strbuf_text(&text), link));
	assert_non_null(strstr(fg_strbuf_text(&text), "fit.cpp&#35;L"));
	fg_environment_set(build, "link.commit", "javascript:alert({commit})", false);
	fg_environment_set(build, "link.line", "https://h/\"><script>{file}", false);
	fg_fixture_write_report(&fixture, "comment", NULL, &text);
	assert_null(strstr(fg_strbuf_text(&text), "<a "));
	assert_null(strstr(fg_strbuf_text(&text), "\"><script>"));
	fg_strbuf_release(&text);
	fg_fixture_release(&fixture);
}

static bool is_within(const char *text, const char *at, const char *open, const char *close)
{
	const char *last_open = NULL;
	const char *last_close = NULL;

	for (const char *found = strstr(text, open); found && found < at;
	     found = strstr(found + 1, open))
		last_open = found;
	for (const char *found = strstr(text, close); found && found < at;
	     found = strstr(found + 1, close))
		last_close = found;
	return last_open && (!last_close || last_close < last_open);
}

/*
 * GitHub looks for names in the rendered page, with references resolved, but not in <code> and
 * <pre>.
 */
FG_TEST(no_user_is_mentioned)
{
	struct fg_strbuf text = {0};

	fg_fixture_write("hostile", "markdown", NULL, &text);
	for (const char *at = strstr(fg_strbuf_text(&text), "&#64;"); at;
	     at = strstr(at + 1, "&#64;")) {
		if (is_within(text.data, at, "<code>", "</code>") ||
		    is_within(text.data, at, "<pre>", "</pre>"))
			continue;
		if (fg_text_starts_with(at, "&#64;someone"))
			fail_msg("mentioned in '%.*s'", (int)strcspn(at, "\n"), at);
	}
	assert_non_null(strstr(fg_strbuf_text(&text), "&#64;someone"));
	fg_strbuf_release(&text);
}

/* GitLab executes lines that begin with "/merge". */
FG_TEST(no_line_gives_orders)
{
	struct fg_strbuf text = {0};

	fg_fixture_write("hostile", "markdown", NULL, &text);
	for (const char *at = fg_strbuf_text(&text); *at;) {
		at += strspn(at, " ");
		assert_true(*at != '/');
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	fg_strbuf_release(&text);
}

/* A run from elsewhere may have any text as its commit. */
FG_TEST(a_commit_is_not_markup)
{
	struct fg_fixture fixture;
	const struct fg_report_options options = {0};
	struct fg_strbuf text = {0};
	struct fg_error err = {0};

	fg_fixture_init(&fixture, "pass");
	free(fixture.run.sides[FG_ARM_CANDIDATE].commit);
	fixture.run.sides[FG_ARM_CANDIDATE].commit = fg_xstrdup("</code>@abc\nrest");
	fg_reporter_find("comment", &err)->write(&fixture.report, &options, &text);
	assert_non_null(strstr(fg_strbuf_text(&text),
			       "candidate <code>&#60;/code&#62;&#64;abc\xef\xbf\xbd</code>"));
	fg_strbuf_release(&text);
	fg_fixture_release(&fixture);
}

/* Every line of a table has as many cells as the table's head. */
FG_TEST(tables_keep_their_columns)
{
	struct fg_strbuf text = {0};
	size_t columns = 0;

	fg_fixture_write("hostile", "markdown", NULL, &text);
	for (const char *at = fg_strbuf_text(&text); *at;) {
		const size_t length = strcspn(at, "\n");
		size_t bars = 0;

		for (size_t i = 0; i < length; i++)
			bars += at[i] == '|';
		if (*at != '|')
			columns = 0;
		else if (columns == 0)
			columns = bars;
		else
			assert_int_equal(bars, columns);
		at += length + (at[length] == '\n');
	}
	fg_strbuf_release(&text);
}

FG_TEST(the_comment_begins_with_its_marker)
{
	struct fg_fixture fixture;
	struct fg_strbuf text = {0};
	struct fg_strbuf marker = {0};

	fg_fixture_write("pass", "comment", NULL, &text);
	assert_true(fg_text_starts_with(fg_strbuf_text(&text), "<!-- fastgate:tracker -->\n"));
	fg_fixture_init(&fixture, "hostile"); /* the project is called --> <b>"p" */
	fg_report_comment_marker(&fixture.run, &marker);
	assert_string_equal(fg_strbuf_text(&marker), "<!-- fastgate:_____b__p__ -->");
	fg_strbuf_release(&text);
	fg_strbuf_release(&marker);
	fg_fixture_release(&fixture);
}

/*
 * Five regressions and two undecided benchmarks among fifty benchmarks with the names of templates.
 */
FG_TEST(a_comment_of_fifty_benchmarks_stays_short_with_the_regression_first)
{
	enum {
		COUNT = 50,
		LOUD = 5
	};
	struct fg_fixture fixture;
	struct fg_fixture loud[2];
	struct fg_benchmark_verdict *all = NULL;
	struct fg_strbuf text = {0};
	const char *lead = NULL;

	fg_fixture_init(&fixture, "pass");
	fg_fixture_init(&loud[0], "regression");
	fg_fixture_init(&loud[1], "inconclusive");
	fg_fixture_repeat(&fixture, COUNT);
	all = fixture.verdict.benchmarks;
	for (size_t i = 0; i < LOUD + 2; i++)
		all[COUNT - 1 - i] = loud[i >= LOUD].verdict.benchmarks[0];
	for (unsigned i = 0; i < COUNT; i++)
		all[i].name = fg_arena_printf(
			&fixture.verdict.arena,
			"BM_Insert<std::unordered_map<std::basic_string<char>, "
			"std::vector<tracker::Hit<double, %u>>, tracker::Hash<std::string>>>/%u/real",
			i, i << 10U);
	fixture.verdict.outcome = FG_OUTCOME_REGRESSION;
	fg_fixture_write_report(&fixture, "comment", NULL, &text);
	if (text.length > 4096)
		fail_msg("%zu bytes:\n%s", text.length, fg_strbuf_text(&text));
	lead = strstr(fg_strbuf_text(&text), " is 4.8 % slower");
	assert_non_null(lead);
	assert_true(lead < strstr(fg_strbuf_text(&text), "| ❌ regression |"));
	assert_true(strstr(fg_strbuf_text(&text), "| ❌ regression |") <
		    strstr(fg_strbuf_text(&text), "| 🤷 inconclusive |"));
	assert_non_null(strstr(fg_strbuf_text(&text), "```diff\n-   91  19.8 ms"));
	assert_true(lead < strstr(fg_strbuf_text(&text), "43 passed"));
	fg_strbuf_release(&text);
	for (size_t i = 0; i < FG_ARRAY_SIZE(loud); i++)
		fg_fixture_release(&loud[i]);
	fg_fixture_release(&fixture);
}

static bool leaves_out(struct fg_fixture *fixture, const char *format, size_t count, size_t *length)
{
	const struct fg_report_options options = {0};
	struct fg_strbuf text = {0};
	bool left_out = false;
	char summary[64];

	fg_fixture_repeat(fixture, count);
	fg_reporter_find(format, NULL)->write(&fixture->report, &options, &text);
	left_out = strstr(fg_strbuf_text(&text), "parts did not fit here") != NULL;
	(void)snprintf(summary, sizeof(summary), "%zu benchmarks: %zu regressed", count, count);
	assert_non_null(strstr(fg_strbuf_text(&text), summary));
	*length = text.length;
	fg_strbuf_release(&text);
	return left_out;
}

/* The comment is complete up to the last benchmark that fits; beyond it, the limit still holds. */
FG_TEST(parts_are_left_out_at_the_budget_and_not_before)
{
	static const struct {
		const char *format;
		size_t limit;
		size_t much; /* share of the limit that is used before anything is left out */
	} formats[] = {{"markdown", 1024UL * 1024, 600UL * 1000}, {"comment", 4096, 1500}};

	for (size_t i = 0; i < FG_ARRAY_SIZE(formats); i++) {
		struct fg_fixture fixture;
		size_t fits = 1;
		size_t exceeds = 3000;
		size_t length = 0;

		fg_fixture_init(&fixture, "regression");
		while (exceeds - fits > 1) {
			const size_t middle = (fits + exceeds) / 2;

			if (leaves_out(&fixture, formats[i].format, middle, &length))
				exceeds = middle;
			else
				fits = middle;
			assert_true(length <= formats[i].limit);
		}
		assert_true(leaves_out(&fixture, formats[i].format, 3000, &length));
		assert_in_range(length, formats[i].limit / 2, formats[i].limit);
		assert_false(leaves_out(&fixture, formats[i].format, fits, &length));
		assert_in_range(length, formats[i].much, formats[i].limit);
		assert_true(leaves_out(&fixture, formats[i].format, exceeds, &length));
		assert_in_range(length, formats[i].much, formats[i].limit);
		fg_fixture_release(&fixture);
	}
}
