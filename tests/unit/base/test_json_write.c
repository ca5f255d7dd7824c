// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "base/json_write.h"
#include "tests/support/fg_test.h"

#include <math.h>

FG_TEST(nested_values_are_laid_out)
{
	struct fg_strbuf text = {0};
	struct fg_json_writer w;

	fg_json_writer_init(&w, &text, 2);
	fg_json_begin_object(&w, NULL);
	fg_json_text(&w, "name", "a\"b");
	fg_json_begin_array(&w, "pairs");
	fg_json_int(&w, NULL, -1);
	fg_json_double(&w, NULL, 0.1);
	fg_json_end(&w);
	fg_json_begin_object(&w, "empty");
	fg_json_end(&w);
	fg_json_text(&w, "none", NULL);
	fg_json_end(&w);
	assert_string_equal(text.data,
			    "{\n  \"name\": \"a\\\"b\",\n  \"pairs\": [\n    -1,\n    0.1\n  ],\n"
			    "  \"empty\": {},\n  \"none\": null\n}");
	fg_strbuf_release(&text);
}

FG_TEST(hostile_bytes_become_valid_json)
{
	static const char bytes[] = "</script>\x01\xff\n\t\\ \"q\" \0 end";
	struct fg_strbuf text = {0};
	struct fg_json_writer w;
	cJSON *json = NULL;

	fg_json_writer_init(&w, &text, 0);
	w.for_html = true;
	fg_json_begin_array(&w, NULL);
	fg_json_text_sized(&w, NULL, bytes, sizeof(bytes) - 1);
	fg_json_end(&w);
	assert_null(strchr(text.data, '<'));
	assert_int_equal(fg_json_parse(text.data, text.length, 1000, &json, NULL), FG_OK);
	assert_string_equal(cJSON_GetArrayItem(json, 0)->valuestring,
			    "</script>\xef\xbf\xbd\xef\xbf\xbd\n\t\\ \"q\" \xef\xbf\xbd end");
	cJSON_Delete(json);
	fg_strbuf_release(&text);
}

/* Returns a JSON string of this text. The caller frees it. */
static char *written(const char *value, size_t length, bool for_html)
{
	struct fg_strbuf text = {0};
	struct fg_json_writer w;

	fg_json_writer_init(&w, &text, 0);
	w.for_html = for_html;
	fg_json_text_sized(&w, NULL, value, length);
	return fg_strbuf_detach(&text);
}

/* A byte is written the same at any position of a long text. */
FG_TEST(a_byte_is_escaped_wherever_it_stands)
{
	enum {
		LENGTH = 27
	};

	for (int c = 0; c < 2 * 128; c++) {
		const char byte = (char)(c % 128);
		char *alone = written(&byte, 1, c >= 128);

		for (int at = 0; at < LENGTH; at++) {
			char text[LENGTH];
			char *expected =
				fg_xasprintf("\"%.*s%.*s%.*s\"", at, "aaaaaaaaaaaaaaaaaaaaaaaaaaa",
					     (int)strlen(alone) - 2, alone + 1, LENGTH - 1 - at,
					     "zzzzzzzzzzzzzzzzzzzzzzzzzzz");
			char *whole = NULL;

			memset(text, 'a', LENGTH);
			memset(text + at, 'z', (size_t)(LENGTH - at));
			text[at] = byte;
			whole = written(text, LENGTH, c >= 128);
			assert_string_equal(whole, expected);
			free(whole);
			free(expected);
		}
		free(alone);
	}
}

FG_TEST(not_a_number_becomes_null)
{
	struct fg_strbuf text = {0};
	struct fg_json_writer w;

	fg_json_writer_init(&w, &text, 0);
	fg_json_begin_array(&w, NULL);
	fg_json_double(&w, NULL, (double)NAN);
	fg_json_double(&w, NULL, (double)INFINITY);
	fg_json_bool(&w, NULL, true);
	fg_json_raw(&w, NULL, "{\"a\":1}");
	fg_json_end(&w);
	assert_string_equal(text.data, "[null,null,true,{\"a\":1}]");
	fg_strbuf_release(&text);
}
