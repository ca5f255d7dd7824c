// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"
#include "store/bundle.h"
#include "tests/support/fg_test.h"
#include "tests/unit/store/samples.h"

static void make(struct fg_bundle *bundle)
{
	struct fg_stored_run s = {0};
	struct fg_error err = {0};

	fg_sample_run(&s, 5, &fg_sample_small);
	s.report = fg_sample_report("pass", 1.0);
	if (fg_bundle_from_run(&s, bundle, &err) != FG_OK)
		fail_msg("%s", err.message);
	fg_stored_run_release(&s);
}

FG_TEST(run_survives_the_journey)
{
	struct fg_bundle first = {0};
	struct fg_bundle second = {0};
	struct fg_stored_run arrived = {0};
	struct fg_error err = {0};

	make(&first);
	if (fg_bundle_to_run(&first, &fg_bundle_limits_default, &arrived, &err) != FG_OK)
		fail_msg("%s", err.message);
	assert_string_equal(arrived.outcome, "pass");
	assert_int_equal(arrived.run.series[0].repetition_count, 12);
	assert_int_equal(arrived.profiles[0]->row_count, 12);
	/*
	 * A run that is received and sent on stays the same, byte for byte, except for paths that
	 * no value uses.
	 */
	assert_int_equal(fg_bundle_from_run(&arrived, &second, &err), FG_OK);
	fg_stored_run_release(&arrived);
	assert_int_equal(fg_bundle_to_run(&second, &fg_bundle_limits_default, &arrived, &err),
			 FG_OK);
	fg_bundle_release(&first);
	assert_int_equal(fg_bundle_from_run(&arrived, &first, &err), FG_OK);
	assert_string_equal(fg_strbuf_text(&first.envelope), fg_strbuf_text(&second.envelope));
	assert_int_equal(first.values.size, second.values.size);
	assert_memory_equal(first.values.data, second.values.data, first.values.size);
	fg_stored_run_release(&arrived);
	fg_bundle_release(&first);
	fg_bundle_release(&second);
}

struct envelope_case {
	const char *why;
	const char *find; /* found in a valid envelope */
	const char *put;
	int status;
};

FG_TEST(bad_envelopes_are_refused)
{
	static const struct envelope_case cases[] = {
		{"newer format", "fastgate-run/1", "fastgate-run/2", FG_EUNSUPPORTED},
		{"id that climbs folders", "0198f000-0000-7000-8000-000000000005",
		 "../../../../../../etc/passwd-000000", FG_EPARSE},
		{"id that ends as a folder", "0198f000-0000-7000-8000-000000000005",
		 "0198f000-0000-7000-8000-00000000000/", FG_EPARSE},
		{"no project", "\"project\":\"tracker\"", "\"project\":\"\"", FG_EPARSE},
		{"time as a number", "\"started_ns\":\"", "\"started_ns\":5,\"x\":\"", FG_EPARSE},
		{"unknown state", "\"state\":\"measured\"", "\"state\":\"dreamt\"", FG_EPARSE},
		{"series is no list", "\"series\":[", "\"series\":5,\"x\":[", FG_EPARSE},
		{"not JSON", "{", "", FG_EPARSE},
	};
	struct fg_bundle bundle = {0};

	make(&bundle);
	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		const char *at = strstr(fg_strbuf_text(&bundle.envelope), cases[i].find);
		struct fg_stored_run s = {0};
		struct fg_error err = {0};
		char *text = NULL;
		int status = 0;

		assert_non_null(at);
		text = fg_xasprintf("%.*s%s%s", (int)(at - bundle.envelope.data),
				    bundle.envelope.data, cases[i].put, at + strlen(cases[i].find));
		status = fg_envelope_read(text, strlen(text), strlen(text), &s, &err);
		if (status != cases[i].status)
			fail_msg("%s: status %d: %s", cases[i].why, status, err.message);
		free(text);
	}
	fg_bundle_release(&bundle);
}

FG_TEST(unknown_members_are_ignored)
{
	struct fg_bundle bundle = {0};
	struct fg_stored_run s = {0};
	struct fg_error err = {0};
	char *text = NULL;

	make(&bundle);
	text = fg_xasprintf("{\"from_the_future\":[1,{\"x\":null}],%s",
			    fg_strbuf_text(&bundle.envelope) + 1);
	assert_int_equal(fg_envelope_read(text, strlen(text), strlen(text), &s, &err), FG_OK);
	fg_stored_run_release(&s);
	free(text);
	fg_bundle_release(&bundle);
}

FG_TEST(limits_hold)
{
	struct fg_bundle bundle = {0};
	struct fg_bundle_limits limits = fg_bundle_limits_default;
	struct fg_stored_run s = {0};
	struct fg_error err = {0};

	make(&bundle);
	limits.functions = 10;
	assert_int_equal(fg_bundle_to_run(&bundle, &limits, &s, &err), FG_ELIMIT);
	limits = fg_bundle_limits_default;
	limits.nodes = 10;
	assert_int_equal(fg_bundle_to_run(&bundle, &limits, &s, &err), FG_ELIMIT);
	limits = fg_bundle_limits_default;
	limits.depth = 2;
	assert_int_equal(fg_bundle_to_run(&bundle, &limits, &s, &err), FG_EPARSE);
	limits = fg_bundle_limits_default;
	limits.values_bytes = 100;
	assert_int_equal(fg_bundle_to_run(&bundle, &limits, &s, &err), FG_ELIMIT);
	limits = fg_bundle_limits_default;
	limits.envelope_bytes = 100;
	assert_int_equal(fg_bundle_to_run(&bundle, &limits, &s, &err), FG_ELIMIT);
	fg_bundle_release(&bundle);
}

FG_TEST(bytes_behind_the_values_are_refused)
{
	static const uint8_t more[3] = {0};
	struct fg_bundle bundle = {0};
	struct fg_stored_run s = {0};
	struct fg_bytes content = {0};
	struct fg_error err = {0};

	make(&bundle);
	assert_int_equal(
		fg_unpack(bundle.values.data, bundle.values.size, SIZE_MAX, &content, &err), FG_OK);
	fg_bytes_add(&content, more, sizeof(more));
	bundle.values.size = 0;
	assert_int_equal(fg_pack(content.data, content.size, 1, &bundle.values, &err), FG_OK);
	assert_int_equal(fg_bundle_to_run(&bundle, &fg_bundle_limits_default, &s, &err), FG_EPARSE);
	assert_string_equal(err.message, "3 bytes follow the values");
	fg_bytes_release(&content);
	fg_bundle_release(&bundle);
}

/*
 * Invalid content with a valid checksum: random bytes of the unpacked values are changed, and the
 * block is sealed again.
 */
FG_TEST(lying_values_never_crash)
{
	struct fg_bundle bundle = {0};
	struct fg_bytes content = {0};
	struct fg_random random;
	struct fg_error err = {0};

	make(&bundle);
	fg_random_seed(&random, 11);
	assert_int_equal(
		fg_unpack(bundle.values.data, bundle.values.size, SIZE_MAX, &content, &err), FG_OK);
	for (int i = 0; i < 300; i++) {
		struct fg_stored_run s = {0};
		const size_t at = (size_t)fg_random_below(&random, content.size);
		const uint8_t before = content.data[at];

		content.data[at] = (uint8_t)fg_random_next(&random);
		bundle.values.size = 0;
		assert_int_equal(fg_pack(content.data, content.size, 1, &bundle.values, &err),
				 FG_OK);
		if (fg_bundle_to_run(&bundle, &fg_bundle_limits_default, &s, &err) == FG_OK)
			fg_stored_run_release(&s);
		else
			assert_int_equal(err.code, FG_EPARSE);
		content.data[at] = before;
	}
	fg_bytes_release(&content);
	fg_bundle_release(&bundle);
}
