// SPDX-License-Identifier: Apache-2.0
#include "model/links.h"
#include "tests/support/fg_test.h"

static const struct fg_web_link_values known = {
	.project = "tracker", .commit = "3ab2cd9", .file = "src/fit.cpp", .line = 17};

static void check(const char *pattern, const struct fg_web_link_values *values,
		  const char *expected)
{
	struct fg_strbuf url = {0};

	assert_int_equal(fg_web_link_expand(pattern, values, &url), expected != NULL);
	assert_string_equal(fg_strbuf_text(&url), expected ? expected : "");
	fg_strbuf_release(&url);
}

FG_TEST(placeholders_are_replaced_and_escaped)
{
	const struct fg_web_link_values hostile = {
		.project = "a\"><b>", .commit = "c", .file = "./dir/#1 ä?.c", .line = 1};

	check("https://git.example.org/{project}/blob/{commit}/{file}#L{line}", &known,
	      "https://git.example.org/tracker/blob/3ab2cd9/src/fit.cpp#L17");
	check("http://[::1]:8080/{file}", &known, "http://[::1]:8080/src/fit.cpp");
	check("https://h/{project}/{file}", &hostile,
	      "https://h/a%22%3E%3Cb%3E/dir/%231%20%C3%A4%3F.c");
	check("https://h/{other}", &known, "https://h/{other}");
}

FG_TEST(only_plain_addresses_of_the_web_make_links)
{
	static const char *const refused[] = {"javascript:alert(1)//{commit}",
					      "data:text/html,{commit}",
					      "//host/{commit}",
					      "https:///{commit}",
					      "https://{commit}.example.org/",
					      "https://h/{commit}\"onclick=x",
					      "https://h/ {commit}",
					      "https://h/<{commit}>",
					      "https://h/{commit}|`",
					      "https://h/\xc3\xa4",
					      ""};

	for (size_t i = 0; i < FG_ARRAY_SIZE(refused); i++)
		check(refused[i], &known, NULL);
	check(NULL, &known, NULL);
}

FG_TEST(unknown_values_make_no_link)
{
	static const char *const outside[] = {"/usr/include/c++/12/vector", "../other/a.c",
					      "src/../../a.c", "", NULL};
	struct fg_web_link_values values = known;

	for (size_t i = 0; i < FG_ARRAY_SIZE(outside); i++) {
		values.file = outside[i];
		check("https://h/{file}", &values, NULL);
	}
	values = (struct fg_web_link_values){.file = "a.c"};
	check("https://h/{file}#L{line}", &values, NULL);
	check("https://h/{commit}", &values, NULL);
	check("https://h/{file}", &values, "https://h/a.c");
}

FG_TEST(a_place_without_a_line_links_to_its_file)
{
	struct fg_run run = {.project = (char *)"p"};
	struct fg_environment *build = &run.sides[FG_ARM_CANDIDATE].build;
	struct fg_strbuf url = {0};

	assert_false(fg_web_link_place(&run, "a.c", 3, &url));
	fg_environment_set(build, fg_web_link_fact(FG_WEB_LINK_FILE), "https://h/{file}", false);
	fg_environment_set(build, fg_web_link_fact(FG_WEB_LINK_LINE), "https://h/{file}#L{line}",
			   false);
	fg_environment_set(build, fg_web_link_fact(FG_WEB_LINK_COMMIT), "https://h/{commit}",
			   false);
	assert_true(fg_web_link_place(&run, "a.c", 3, &url));
	assert_string_equal(fg_strbuf_text(&url), "https://h/a.c#L3");
	assert_true(fg_web_link_place(&run, "a.c", 0, &url));
	assert_string_equal(fg_strbuf_text(&url), "https://h/a.c");
	assert_false(fg_web_link_commit(&run, FG_ARM_BASELINE, &url));
	run.sides[FG_ARM_BASELINE].commit = (char *)"abc";
	assert_true(fg_web_link_commit(&run, FG_ARM_BASELINE, &url));
	assert_string_equal(fg_strbuf_text(&url), "https://h/abc");
	fg_environment_release(build);
	fg_strbuf_release(&url);
}

FG_TEST(a_remote_on_github_or_gitlab_has_templates)
{
	static const struct {
		const char *remote;
		const char *line; /* NULL: no templates */
	} cases[] = {
		{"git@github.com:acme/tracker.git",
		 "https://github.com/acme/tracker/blob/{commit}/{file}#L{line}"},
		{"https://user:secret@github.com/acme/tracker",
		 "https://github.com/acme/tracker/blob/{commit}/{file}#L{line}"},
		{"ssh://git@gitlab.example.org/group/sub/tracker.git",
		 "https://gitlab.example.org/group/sub/tracker/-/blob/{commit}/{file}#L{line}"},
		{"git@git.example.org:acme/tracker.git", NULL},
		{"https://notgithub.com/acme/tracker", NULL},
		{"https://github.com", NULL},
		{"/srv/git/github.com:tracker", NULL},
		{"", NULL},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		struct fg_strbuf patterns[FG_WEB_LINK_COUNT] = {0};

		assert_int_equal(fg_web_link_guess(cases[i].remote, patterns),
				 cases[i].line != NULL);
		assert_string_equal(fg_strbuf_text(&patterns[FG_WEB_LINK_LINE]),
				    cases[i].line ? cases[i].line : "");
		for (size_t k = 0; k < FG_WEB_LINK_COUNT; k++)
			fg_strbuf_release(&patterns[k]);
	}
}

/* A line that was never committed does not exist on the server. */
FG_TEST(uncommitted_lines_are_not_linked)
{
	struct fg_run run;
	struct fg_side *side = &run.sides[FG_ARM_CANDIDATE];
	struct fg_strbuf url = {0};

	fg_run_init(&run);
	side->commit = fg_xstrdup("1a2b3c");
	fg_environment_set(&side->build, "link.line", "https://h/{commit}/{file}#L{line}", false);
	assert_true(fg_web_link_place(&run, "a.c", 7, &url));
	side->dirty = true;
	assert_false(fg_web_link_place(&run, "a.c", 7, &url));
	assert_int_equal(url.length, 0);
	fg_strbuf_release(&url);
	fg_run_release(&run);
}
