// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "reporters/reporter.h"
#include "tests/support/fg_test.h"
#include "tests/support/fixture_report.h"
#include "tests/support/golden.h"

static cJSON *write_and_parse(const char *fixture_name, struct fg_strbuf *text)
{
	const struct fg_reporter *reporter = fg_reporter_find("json", NULL);
	const struct fg_report_options options = {0};
	struct fg_error err = {0};
	struct fg_fixture fixture;
	cJSON *json = NULL;

	assert_non_null(reporter);
	fg_fixture_init(&fixture, fixture_name);
	reporter->write(&fixture.report, &options, text);
	if (fg_json_parse(fg_strbuf_text(text), text->length, 64UL << 20, &json, &err) != FG_OK)
		fail_msg("%s: %s", fixture_name, err.message);
	fg_fixture_release(&fixture);
	return json;
}

FG_TEST(every_outcome_is_written_as_agreed)
{
	for (size_t i = 0; fg_fixture_names[i]; i++) {
		struct fg_strbuf text = {0};
		char name[128];
		cJSON *json = write_and_parse(fg_fixture_names[i], &text);

		assert_string_equal(fg_json_text_or(json, "schema", ""), "fastgate-report/1");
		(void)snprintf(name, sizeof(name), "report/%s.json", fg_fixture_names[i]);
		if (strcmp(fg_fixture_names[i], "hostile") != 0)
			fg_golden_check(name, &text);
		cJSON_Delete(json);
		fg_strbuf_release(&text);
	}
}

FG_TEST(hostile_names_are_read_back_whole)
{
	struct fg_strbuf text = {0};
	cJSON *json = write_and_parse("hostile", &text);
	const cJSON *functions = fg_json_pointer(json, "/benchmarks/0/functions");
	const char *const *names = fg_hostile_names();

	for (size_t i = 0; names[i]; i++) {
		const char *name =
			fg_json_text_or(cJSON_GetArrayItem(functions, (int)i), "name", NULL);

		assert_non_null(name);
		if (!strpbrk(names[i], "\xff\x1b"))
			assert_string_equal(name, names[i]);
		else
			assert_non_null(strstr(name, "\xef\xbf\xbd"));
	}
	cJSON_Delete(json);
	fg_strbuf_release(&text);
}
