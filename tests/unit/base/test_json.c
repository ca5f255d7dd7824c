// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "tests/support/fg_test.h"

static cJSON *parse(const char *text)
{
	cJSON *json = NULL;

	assert_int_equal(fg_json_parse(text, strlen(text), 1 << 20, &json, NULL), FG_OK);
	return json;
}

FG_TEST(members_are_found_by_path_and_type)
{
	cJSON *json = parse("{\"run\":{\"id\":\"x\",\"n\":3,\"ok\":true},\"list\":[1,2]}");
	struct fg_error err = {0};
	const char *text = NULL;
	const cJSON *list = NULL;
	int64_t n = 0;

	assert_int_equal(fg_json_get_text(json, "run/id", &text, &err), FG_OK);
	assert_string_equal(text, "x");
	assert_int_equal(fg_json_get_int64(json, "run/n", &n, &err), FG_OK);
	assert_int_equal(n, 3);
	assert_int_equal(fg_json_get_array(json, "list", &list, &err), FG_OK);
	assert_int_equal(fg_json_get_text(json, "run/n", &text, &err), FG_EPARSE);
	assert_string_equal(err.message, "'run/n' is not a string");
	assert_int_equal(fg_json_get_text(json, "run/nope", &text, &err), FG_EPARSE);
	assert_string_equal(err.message, "'run/nope' is missing: expected a string");
	assert_string_equal(fg_json_text_or(json, "run/nope", "other"), "other");
	cJSON_Delete(json);
}

FG_TEST(fractions_are_not_whole_numbers)
{
	cJSON *json = parse("{\"a\":1.5,\"b\":1e300}");
	int64_t n = 0;

	assert_int_equal(fg_json_get_int64(json, "a", &n, NULL), FG_EPARSE);
	assert_int_equal(fg_json_get_int64(json, "b", &n, NULL), FG_EPARSE);
	cJSON_Delete(json);
}

FG_TEST(pointers_lead_into_lists_and_odd_names)
{
	cJSON *json = parse("{\"results\":[{\"mean\":1},{\"mean\":2}],\"a/b\":{\"~\":7}}");

	assert_int_equal(fg_json_pointer(json, "/results/1/mean")->valueint, 2);
	assert_int_equal(fg_json_pointer(json, "/a~1b/~0")->valueint, 7);
	assert_ptr_equal(fg_json_pointer(json, ""), json);
	assert_null(fg_json_pointer(json, "/results/9/mean"));
	assert_null(fg_json_pointer(json, "/results/x"));
	assert_null(fg_json_pointer(json, "results"));
	cJSON_Delete(json);
}

FG_TEST(bad_text_is_refused_with_its_place)
{
	static const struct {
		const char *text;
		const char *message;
	} cases[] = {
		{"{\n \"a\": }", "2:7: not valid JSON"},
		{"{} x", "1:4: not valid JSON"},
		{"", "1:1: not valid JSON"},
	};
	cJSON *json = NULL;

	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		struct fg_error err = {0};

		assert_int_equal(
			fg_json_parse(cases[i].text, strlen(cases[i].text), 100, &json, &err),
			FG_EPARSE);
		assert_string_equal(err.message, cases[i].message);
	}
	assert_null(json);
}

FG_TEST(size_and_depth_are_limited)
{
	char deep[201];
	cJSON *json = NULL;

	memset(deep, '[', 100);
	memset(deep + 100, ']', 100);
	deep[200] = '\0';
	assert_int_equal(fg_json_parse(deep, 200, 1000, &json, NULL), FG_ELIMIT);
	assert_int_equal(fg_json_parse("[1,2,3]", 7, 6, &json, NULL), FG_ELIMIT);
	/* Brackets inside a string are not levels. */
	deep[0] = '"';
	memset(deep + 1, '[', 198);
	deep[199] = '"';
	assert_int_equal(fg_json_parse(deep, 200, 1000, &json, NULL), FG_OK);
	cJSON_Delete(json);
}
