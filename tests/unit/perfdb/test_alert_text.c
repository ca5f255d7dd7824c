// SPDX-License-Identifier: Apache-2.0
#include "perfdb/delivery/delivery.h"
#include "perfdb/server/alert_text.h"
#include "tests/support/fg_test.h"

static void alert_reads_as_a_line_and_a_text(void **state)
{
	static const char body[] =
		"{\"project\":\"tracker\",\"run\":\"0198\",\"url\":\"/?view=run\",\"branch\":\"main\",\"findings\":["
		"{\"event\":\"regression\",\"benchmark\":\"parse\",\"metric\":\"cpu_time\",\"ratio\":1.25},"
		"{\"event\":\"error\",\"benchmark\":\"never\",\"ratio\":null}],\"more\":3}";
	struct fg_strbuf subject = {0};
	struct fg_strbuf text = {0};

	(void)state;
	fg_alert_text(body, &subject, &text);
	assert_string_equal(fg_strbuf_text(&subject),
			    "tracker: regression: parse, cpu_time, +25.0 % and 4 more");
	assert_string_equal(
		fg_strbuf_text(&text),
		"regression: parse, cpu_time, +25.0 %\nerror: never\nand 3 more\n\n"
		"project: tracker\nbranch:  main\nrun:     0198\npage:    /?view=run\n");
	fg_strbuf_release(&subject);
	fg_strbuf_release(&text);
}

static void line_break_in_a_name_begins_no_line(void **state)
{
	static const char body[] =
		"{\"project\":\"a\\r\\nBcc: x@example.org\",\"findings\":[{\"event\":\"error\"}],\"more\":0}";
	struct fg_strbuf subject = {0};
	struct fg_strbuf text = {0};

	(void)state;
	fg_alert_text(body, &subject, &text);
	assert_null(strpbrk(fg_strbuf_text(&subject), "\r\n"));
	assert_null(strstr(fg_strbuf_text(&text), "\nBcc:"));
	fg_strbuf_release(&subject);
	fg_strbuf_release(&text);
}

static void one_plain_mail_address_is_taken(void **state)
{
	static const char *const good[] = {"ann@example.org", "a.b+c@mail.example.org",
					   "x@localhost"};
	static const char *const bad[] = {"",
					  "ann",
					  "@example.org",
					  "ann@",
					  "a@b@c",
					  "a b@c.de",
					  "a@c.de\r\nX: y",
					  "<a@c.de>",
					  "a@c.de,b@c.de",
					  "\"a\"@c.de",
					  "a@\xc3\xa4.de"};
	struct fg_error err = {0};

	(void)state;
	for (size_t i = 0; i < FG_ARRAY_SIZE(good); i++)
		assert_int_equal(fg_mail_check(good[i], &err), FG_OK);
	for (size_t i = 0; i < FG_ARRAY_SIZE(bad); i++) {
		if (fg_mail_check(bad[i], &err) != FG_EINVAL)
			fail_msg("'%s' was taken", bad[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alert_reads_as_a_line_and_a_text),
		cmocka_unit_test(line_break_in_a_name_begins_no_line),
		cmocka_unit_test(one_plain_mail_address_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
