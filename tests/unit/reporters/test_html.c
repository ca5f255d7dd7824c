// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "base/text.h"
#include "reporters/web/assets.h"
#include "tests/support/fg_test.h"
#include "tests/support/fixture_report.h"
#include "tests/support/golden.h"

static const char data_start[] = "<script type=\"application/json\" id=\"data\">";

/* Returns the page's data, as its script reads them. */
static char *data_of(const struct fg_strbuf *page)
{
	const char *start = strstr(fg_strbuf_text(page), data_start);
	const char *end = NULL;

	assert_non_null(start);
	start += strlen(data_start);
	end = strstr(start, "</script>");
	assert_non_null(end);
	return fg_xstrndup(start, (size_t)(end - start));
}

FG_TEST(every_outcome_has_the_data_as_agreed)
{
	for (size_t i = 0; fg_fixture_names[i]; i++) {
		struct fg_fixture fixture;
		struct fg_strbuf text = {0};
		char name[128];

		if (strcmp(fg_fixture_names[i], "hostile") == 0)
			continue;
		fg_fixture_init(&fixture, fg_fixture_names[i]);
		fg_report_page_json(&fixture.report, false, &text);
		fg_strbuf_add_char(&text, '\n');
		(void)snprintf(name, sizeof(name), "report/%s.page.json", fg_fixture_names[i]);
		fg_golden_check(name, &text);
		fg_strbuf_release(&text);
		fg_fixture_release(&fixture);
	}
}

/* No name can end the data early or make them invalid JSON. */
FG_TEST(hostile_names_cannot_leave_the_data)
{
	struct fg_strbuf page = {0};
	struct fg_error err = {0};
	cJSON *json = NULL;
	char *data = NULL;

	fg_fixture_write("hostile", "html", NULL, &page);
	data = data_of(&page);
	assert_null(strpbrk(data, "<>&"));
	if (fg_json_parse(data, strlen(data), 64UL << 20, &json, &err) != FG_OK)
		fail_msg("%s", err.message);
	assert_string_equal(fg_json_text_or(fg_json_pointer(json, "/benchmarks/0"), "name", ""),
			    fg_hostile_names()[0]);
	cJSON_Delete(json);
	free(data);
	fg_strbuf_release(&page);
}

/* The plain text for browsers without scripts is escaped as well. */
FG_TEST(hostile_names_cannot_leave_the_plain_text)
{
	struct fg_strbuf page = {0};
	const char *start = NULL;
	const char *end = NULL;

	fg_fixture_write("hostile", "html", NULL, &page);
	start = strstr(fg_strbuf_text(&page), "<noscript><pre>");
	assert_non_null(start);
	end = strstr(start, "</pre></noscript>");
	assert_non_null(end);
	for (const char *at = start + strlen("<noscript><pre>"); at < end; at++)
		assert_true(*at != '<' && *at != '>');
	fg_strbuf_release(&page);
}

FG_TEST(the_page_asks_for_nothing)
{
	static const char *const never[] = {"src=",    "@import", "url(h",          "https:",
					    "import(", "fetch(",  "XMLHttpRequest", "eval("};
	struct fg_strbuf page = {0};

	fg_fixture_write("mixed", "html", NULL, &page);
	for (size_t i = 0; i < FG_ARRAY_SIZE(never); i++) {
		if (strstr(fg_strbuf_text(&page), never[i]))
			fail_msg("the page contains '%s'", never[i]);
	}
	assert_non_null(
		strstr(fg_strbuf_text(&page), "content=\"default-src 'none'; script-src 'sha256-"));
	fg_strbuf_release(&page);
}

FG_TEST(assets_are_found_by_name)
{
	const struct fg_web_asset *module = fg_web_asset_find("compare.js");
	const struct fg_web_asset *bundle = fg_web_asset_find("bundle.js");

	assert_non_null(module);
	assert_true(fg_text_starts_with(module->media_type, "text/javascript"));
	assert_non_null(strstr((const char *)module->data, "import {"));
	assert_non_null(bundle);
	assert_null(strstr((const char *)bundle->data, "import {"));
	assert_null(strstr((const char *)bundle->data, "export "));
	assert_non_null(strstr((const char *)bundle->data, "function showComparison("));
	assert_int_equal(bundle->data[bundle->size], 0);
	assert_null(fg_web_asset_find("../style.css"));
	assert_null(fg_web_asset_find(""));
}
