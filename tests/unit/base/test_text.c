// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "tests/support/fg_test.h"

FG_TEST(commands_are_split_as_a_shell_splits_words)
{
	static const struct {
		const char *text;
		const char *words[5];
		const char *why;
	} cases[] = {
		{"./reco --events 200 a.bin",
		 {"./reco", "--events", "200", "a.bin"},
		 "plain words"},
		{"  a\t b\n", {"a", "b"}, "blanks around"},
		{"a 'b c' d", {"a", "b c", "d"}, "single quotes"},
		{"\"x \\\"y\\\" $HOME\"", {"x \"y\" $HOME"}, "double quotes, nothing expanded"},
		{"a\\ b ''", {"a b", ""}, "backslash, an empty word"},
		{"--x='1 2'3", {"--x=1 23"}, "quotes inside a word"},
		{"", {NULL}, "nothing"},
	};
	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		struct fg_arena arena = {0};
		char **argv = NULL;
		size_t argc = 0;
		size_t k = 0;

		assert_int_equal(fg_text_split_words(cases[i].text, &arena, &argv, &argc, NULL),
				 FG_OK);
		for (; cases[i].words[k]; k++) {
			if (k >= argc || strcmp(argv[k], cases[i].words[k]) != 0)
				fail_msg("%s: word %zu", cases[i].why, k);
		}
		assert_int_equal(argc, k);
		assert_null(argv[argc]);
		fg_arena_release(&arena);
	}
}

FG_TEST(open_quotes_are_refused)
{
	struct fg_arena arena = {0};
	struct fg_error err = {0};
	char **argv = NULL;
	size_t argc = 0;

	assert_int_equal(fg_text_split_words("a 'b", &arena, &argv, &argc, &err), FG_EPARSE);
	assert_string_equal(err.message, "a single quote is never closed");
	assert_int_equal(fg_text_split_words("a \"b", &arena, &argv, &argc, &err), FG_EPARSE);
	assert_int_equal(fg_text_split_words("a \\", &arena, &argv, &argc, &err), FG_EPARSE);
	fg_arena_release(&arena);
}

FG_TEST(quoted_words_are_split_back_into_the_same)
{
	char *words[] = {"a b", "it's", "", "--x=1", "$(rm)", NULL};
	struct fg_strbuf text = {0};
	struct fg_arena arena = {0};
	char **argv = NULL;
	size_t argc = 0;

	fg_text_quote_words(&text, words);
	assert_string_equal(text.data, "'a b' 'it'\\''s' '' --x=1 '$(rm)'");
	assert_int_equal(fg_text_split_words(text.data, &arena, &argv, &argc, NULL), FG_OK);
	assert_int_equal(argc, 5);
	for (size_t i = 0; i < argc; i++)
		assert_string_equal(argv[i], words[i]);
	fg_arena_release(&arena);
	fg_strbuf_release(&text);
}

FG_TEST(any_bytes_become_clean_text)
{
	static const struct {
		const char *bytes;
		const char *clean;
		const char *why;
	} cases[] = {
		{"fit(Track&)", "fit(Track&)", "plain"},
		{"a\x1b[31m", "a\xef\xbf\xbd[31m", "an escape sequence"},
		{"\xff\xfe", "\xef\xbf\xbd\xef\xbf\xbd", "no UTF-8"},
		{"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd", "overlong"},
		{"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", "a surrogate"},
		{"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd", "cut in the middle"},
		{"\xe2\x80\xae"
		 "abc",
		 "\xef\xbf\xbd"
		 "abc",
		 "right-to-left override"},
		{"grün \xf0\x9f\x98\x80", "grün \xf0\x9f\x98\x80", "valid beyond ASCII"},
	};
	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		struct fg_strbuf text = {0};

		fg_text_add_clean(&text, cases[i].bytes, strlen(cases[i].bytes), SIZE_MAX);
		if (strcmp(fg_strbuf_text(&text), cases[i].clean) != 0)
			fail_msg("%s: got '%s'", cases[i].why, fg_strbuf_text(&text));
		fg_strbuf_release(&text);
	}
}

FG_TEST(clean_text_is_cut_between_characters)
{
	struct fg_strbuf text = {0};

	fg_text_add_clean(&text, "aä", 3, 2);
	assert_string_equal(text.data, "a");
	fg_strbuf_release(&text);
}

FG_TEST(one_line_shows_control_characters_escaped)
{
	static const struct {
		const char *bytes;
		const char *line;
	} cases[] = {
		{"fit(Track&) grün", "fit(Track&) grün"},
		{"a\nb\tc", "a\\nb\\tc"},
		{"\x1b[2J\x07\x7f", "\\x1b[2J\\x07\\x7f"},
		{"\xc2\x9b"
		 "1m \xe2\x80\xae",
		 "\\xc2\\x9b1m \\xe2\\x80\\xae"},
		{"cut \xe2\x82", "cut \\xe2\\x82"},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		struct fg_strbuf text = {0};

		fg_text_add_escaped(&text, cases[i].bytes, strlen(cases[i].bytes));
		assert_string_equal(fg_strbuf_text(&text), cases[i].line);
		fg_strbuf_release(&text);
	}
}

FG_TEST(a_log_gets_no_commands)
{
	static const struct {
		const char *lines;
		const char *log;
	} cases[] = {
		{"std::sort  1 %\n", "std::sort  1 %\n"},
		{"::error::x\n", ": :error::x\n"},
		{"a\n \t::add-mask::x", "a\n \t: :add-mask::x"},
		{":::error::", ": ::error::"},
		{"see ##[error]x ###[group]", "see # #[error]x ## #[group]"},
		{"## [link] a ##", "## [link] a ##"},
		{":", ":"},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		struct fg_strbuf text = {0};

		fg_text_add_for_log(&text, cases[i].lines, strlen(cases[i].lines));
		assert_string_equal(fg_strbuf_text(&text), cases[i].log);
		fg_strbuf_release(&text);
	}
}

FG_TEST(width_counts_columns)
{
	assert_int_equal(fg_text_width("abc"), 3);
	assert_int_equal(fg_text_width("µs ±"), 4);
	assert_int_equal(fg_text_width("漢字"), 4);
	assert_int_equal(fg_text_width("e\xcc\x81"), 1);
}

FG_TEST(a_name_is_cut_in_its_middle)
{
	struct fg_strbuf text = {0};

	fg_text_add_cut(&text, "abcdefghij", 10);
	assert_string_equal(fg_strbuf_text(&text), "abcdefghij");
	fg_strbuf_clear(&text);
	fg_text_add_cut(&text, "abcdefghijklmnop", 10);
	assert_int_equal(fg_text_width(fg_strbuf_text(&text)), 10);
	assert_string_equal(fg_strbuf_text(&text), "abcdef…nop");
	fg_strbuf_clear(&text);
	fg_text_add_cut(&text, "漢字漢字漢字漢字", 10);
	assert_true(fg_text_width(fg_strbuf_text(&text)) <= 10);
	assert_true(fg_text_width(fg_strbuf_text(&text)) >= 8);
	fg_strbuf_clear(&text);
	fg_text_add_cut(&text, "abcdefghijklmnop", 0);
	assert_string_equal(fg_strbuf_text(&text), "abcdefghijklmnop");
	fg_strbuf_release(&text);
}

FG_TEST(the_nearest_name_is_found_for_a_slip)
{
	static const char *const names[] = {"run", "record", "report", "baseline", "history", NULL};

	assert_string_equal(fg_text_nearest("recrod", names), "record");
	assert_string_equal(fg_text_nearest("baselin", names), "baseline");
	assert_string_equal(fg_text_nearest("rnu", names), "run");
	assert_null(fg_text_nearest("frobnicate", names));
	assert_null(fg_text_nearest("x", names));
}
