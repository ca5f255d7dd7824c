// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "reporters/reporter.h"
#include "tests/support/fg_test.h"
#include "tests/support/fixture_report.h"
#include "tests/support/golden.h"

static void every_outcome_reads_as_agreed(void **state)
{
	(void)state;
	fg_fixture_check_golden("terminal", NULL, ".txt");
}

static void verbose_shows_everything(void **state)
{
	(void)state;
	fg_fixture_check_golden("terminal", &(struct fg_report_options){.verbose = true},
				".verbose.txt");
}

static void the_picture_of_the_interface_is_kept(void **state)
{
	struct fg_strbuf text = {0};
	static const char picture[] =
		"reconstruct   cpu time   +4.8 %  [+3.1, +6.6]   210 ms → 220 ms   22 pairs, 7 s   REGRESSION\n"
		"  93 %  fit(Track&)  fit.cpp:88   +9.7 ms   main → loop → fit\n";

	(void)state;
	fg_fixture_write("regression", "terminal", &(struct fg_report_options){0}, &text);
	assert_true(fg_text_starts_with(fg_strbuf_text(&text), picture));
	assert_non_null(strstr(fg_strbuf_text(&text),
			       "\nmax rss  +0.0 %  pass      wall time  not decided in duet\n"));
	fg_strbuf_release(&text);
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

static void a_narrow_terminal_keeps_name_change_and_verdict(void **state)
{
	static const unsigned widths[] = {200, 100, 80, 60, 48};

	(void)state;
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

/* Without its colours the text is the same, so that nothing is said by colour alone. */
static void colour_adds_nothing_but_colour(void **state)
{
	struct fg_strbuf plain = {0};
	struct fg_strbuf colored = {0};
	struct fg_strbuf stripped = {0};

	(void)state;
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

static void names_cannot_drive_the_terminal(void **state)
{
	struct fg_strbuf text = {0};

	(void)state;
	fg_fixture_write("hostile", "terminal",
			 &(struct fg_report_options){.verbose = true, .width = 120}, &text);
	for (const char *at = fg_strbuf_text(&text); *at; at++)
		assert_true((unsigned char)*at >= 0x20 || *at == '\n');
	assert_in_range(longest_line(fg_strbuf_text(&text)), 1, 120);
	fg_strbuf_release(&text);
}

static void a_locale_without_arrows_gets_ascii(void **state)
{
	struct fg_strbuf text = {0};

	(void)state;
	fg_fixture_write("mixed", "terminal",
			 &(struct fg_report_options){.ascii = true, .verbose = true}, &text);
	for (const char *at = fg_strbuf_text(&text); *at; at++)
		assert_true((unsigned char)*at < 0x80);
	assert_non_null(strstr(fg_strbuf_text(&text), "210 ms -> 220 ms"));
	fg_strbuf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_outcome_reads_as_agreed),
		cmocka_unit_test(verbose_shows_everything),
		cmocka_unit_test(the_picture_of_the_interface_is_kept),
		cmocka_unit_test(a_narrow_terminal_keeps_name_change_and_verdict),
		cmocka_unit_test(colour_adds_nothing_but_colour),
		cmocka_unit_test(names_cannot_drive_the_terminal),
		cmocka_unit_test(a_locale_without_arrows_gets_ascii),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
