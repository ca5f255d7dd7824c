// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "perfdb/server/ranges.h"
#include "perfdb/server/webhook.h"
#include "tests/support/fg_test.h"

static struct fg_ranges *ranges_of(const char *const *allowed, size_t count)
{
	struct fg_ranges *ranges = NULL;
	struct fg_error err = {0};

	if (fg_ranges_new(allowed, count, &ranges, &err) != FG_OK)
		fail_msg("%s", err.message);
	return ranges;
}

FG_TEST(public_addresses_are_reached)
{
	static const char *const addresses[] = {
		"8.8.8.8",    "1.1.1.1",        "172.15.0.1",  "172.32.0.1",
		"100.63.0.1", "::ffff:8.8.8.8", "2606:4700::", "2a00:1450:4001:800::200e"};
	struct fg_ranges *allowed = ranges_of(NULL, 0);

	for (size_t i = 0; i < FG_ARRAY_SIZE(addresses); i++) {
		if (!fg_webhook_admits(allowed, addresses[i]))
			fail_msg("%s is not reached", addresses[i]);
	}
	fg_ranges_free(allowed);
}

FG_TEST(local_and_private_addresses_are_not)
{
	static const char *const addresses[] = {
		"0.0.0.0",
		"10.0.0.1",
		"100.127.255.255",
		"127.0.0.1",
		"127.255.255.255",
		"169.254.169.254",
		"172.16.0.1",
		"172.31.255.255",
		"192.168.0.1",
		"198.19.0.1",
		"224.0.0.251",
		"255.255.255.255",
		"::",
		"::1",
		"::ffff:10.0.0.1",
		"::127.0.0.1",
		"64:ff9b::a00:1",
		"2002:7f00:1::",
		"2001:0:1::",
		"fc00::1",
		"fdff::1",
		"fe80::1",
		"febf::1",
		"fec0::1",
		"ff02::1",
		"2001:db8::1",
		"no address",
		"",
	};
	struct fg_ranges *allowed = ranges_of(NULL, 0);

	for (size_t i = 0; i < FG_ARRAY_SIZE(addresses); i++) {
		if (fg_webhook_admits(allowed, addresses[i]))
			fail_msg("%s is reached", addresses[i]);
	}
	fg_ranges_free(allowed);
}

FG_TEST(only_allowed_ranges_are_reached)
{
	static const char *const texts[] = {"10.1.0.0/16", "::1"};
	struct fg_ranges *allowed = ranges_of(texts, FG_ARRAY_SIZE(texts));

	assert_true(fg_webhook_admits(allowed, "10.1.255.1"));
	assert_true(fg_webhook_admits(allowed, "::ffff:10.1.0.1"));
	assert_true(fg_webhook_admits(allowed, "::1"));
	assert_true(fg_webhook_admits(allowed, "8.8.8.8"));
	assert_false(fg_webhook_admits(allowed, "10.2.0.1"));
	assert_false(fg_webhook_admits(allowed, "127.0.0.1"));
	fg_ranges_free(allowed);
}

FG_TEST(mistyped_range_is_refused)
{
	static const char *const wrong[] = {"10.0.0.0/33", "example.org", "", "10.0.0.0/"};

	for (size_t i = 0; i < FG_ARRAY_SIZE(wrong); i++) {
		struct fg_ranges *allowed = NULL;
		struct fg_error err = {0};

		assert_int_equal(fg_ranges_new(&wrong[i], 1, &allowed, &err), FG_EINVAL);
		assert_non_null(strstr(err.message, "is not a range of addresses"));
		fg_ranges_free(allowed);
	}
}

FG_TEST(values_stay_in_their_strings)
{
	static const char template[] =
		"{\"text\": \"{project} {summary}\", \"{branch}\": [\"{commit}\", \"{other}\"]}";
	static const struct fg_webhook_value values[] = {
		{"{project}", "a\", \"admin\": true, \"x\": \""},
		{"{summary}", "{branch}\\\n\x1b[31m\xff"},
		{"{branch}", "</script>{commit}"},
		{"{commit}", NULL},
		{NULL, NULL},
	};
	struct fg_strbuf body = {0};
	struct fg_error err = {0};
	const cJSON *list = NULL;
	cJSON *json = NULL;

	fg_webhook_fill(template, values, &body);
	if (fg_json_parse(body.data, body.length, body.length, &json, &err) != FG_OK)
		fail_msg("%s: %s", err.message, body.data);
	assert_int_equal(cJSON_GetArraySize(json), 2);
	assert_string_equal(
		fg_json_text_or(json, "text", ""),
		"a\", \"admin\": true, \"x\": \" {branch}\\\xef\xbf\xbd\xef\xbf\xbd[31m\xef\xbf\xbd");
	list = cJSON_GetObjectItem(json, "</script>{commit}");
	assert_string_equal(cJSON_GetArrayItem(list, 0)->valuestring, "");
	assert_string_equal(cJSON_GetArrayItem(list, 1)->valuestring, "{other}");
	cJSON_Delete(json);
	fg_strbuf_release(&body);
}

FG_TEST(long_values_are_cut)
{
	char *name = fg_xcalloc(1, 5001);
	const struct fg_webhook_value values[] = {{"{project}", name}, {NULL, NULL}};
	struct fg_strbuf body = {0};

	memset(name, 'n', 5000);
	fg_webhook_fill("{project}", values, &body);
	assert_int_equal(body.length, 2000);
	fg_strbuf_release(&body);
	free(name);
}
