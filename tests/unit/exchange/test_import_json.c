// SPDX-License-Identifier: Apache-2.0
/*
 * The output of `export -F json` is read back complete; a modified file is refused with a message.
 */
#include "base/gzip.h"
#include "profile/exchange/export.h"
#include "profile/exchange/import.h"
#include "tests/support/fg_test.h"
#include "tests/support/known_profile.h"

#include <string.h>

static void write_json(const struct fg_profile *profile, struct fg_strbuf *text)
{
	const struct fg_export_options options = {.tool_version = "test"};
	struct fg_error err = {0};

	assert_int_equal(fg_export_write(fg_export_find("json"), profile, &options, text, &err),
			 FG_OK);
}

static int read_json(const char *text, size_t size, struct fg_profile *profile,
		     struct fg_error *err)
{
	const struct fg_import_options options = {0};
	const struct fg_import_format *format = fg_import_find("json");

	assert_ptr_equal(fg_import_detect(text, size), format);
	return fg_import_read(format, text, size, &options, profile, err);
}

static int set_up(void **state)
{
	struct fg_strbuf *text = fg_xcalloc(1, sizeof(*text));
	struct fg_profile profile;

	known_profile_init(&profile);
	write_json(&profile, text);
	fg_profile_release(&profile);
	*state = text;
	return 0;
}

static int tear_down(void **state)
{
	fg_strbuf_release(*state);
	free(*state);
	return 0;
}

static void expect_the_same_again(const char *data, size_t size, const struct fg_strbuf *text)
{
	struct fg_profile profile;
	struct fg_error err = {0};
	struct fg_strbuf again = {0};

	if (read_json(data, size, &profile, &err) != FG_OK)
		fail_msg("%s", err.message);
	write_json(&profile, &again);
	assert_string_equal(fg_strbuf_text(&again), text->data);
	fg_strbuf_release(&again);
	fg_profile_release(&profile);
}

static void what_was_written_is_read_back_to_the_last_byte(void **state)
{
	const struct fg_strbuf *text = *state;

	expect_the_same_again(text->data, text->length, text);
}

static void it_may_be_packed(void **state)
{
	const struct fg_strbuf *text = *state;
	struct fg_strbuf packed = {0};
	struct fg_error err = {0};

	assert_int_equal(fg_gzip_pack(text->data, text->length, FG_GZIP_TIGHT, &packed, &err),
			 FG_OK);
	expect_the_same_again(packed.data, packed.length, text);
	fg_strbuf_release(&packed);
}

static void marks_and_kinds_of_frames_survive(void **state)
{
	static const uint32_t flags[] = {0,
					 FG_FRAME_INLINED,
					 FG_FRAME_NAMELESS,
					 FG_FRAME_KERNEL,
					 FG_FRAME_JIT,
					 FG_FRAME_MARK,
					 FG_FRAME_PLT};
	struct fg_profile profile;
	struct fg_profile back;
	struct fg_strbuf text = {0};
	struct fg_error err = {0};

	(void)state;
	fg_profile_init(&profile);
	profile.has_times = true;
	for (size_t i = 0; i < FG_ARRAY_SIZE(flags); i++) {
		const struct fg_frame frame = {.flags = flags[i], .address = UINT64_MAX - 4095};
		struct fg_sample *sample = NULL;

		sample = fg_profile_add_sample(&profile);
		sample->stack = fg_profile_stack(&profile, 0, fg_profile_frame(&profile, &frame));
		sample->value = 1;
		sample->time_ns = (int64_t)i;
	}
	write_json(&profile, &text);
	if (read_json(text.data, text.length, &back, &err) != FG_OK)
		fail_msg("%s", err.message);
	assert_true(back.has_times);
	for (size_t i = 0; i < FG_ARRAY_SIZE(flags); i++) {
		const struct fg_frame *frame =
			&back.frames[back.stacks[back.samples[i].stack].frame];

		assert_int_equal(frame->flags, flags[i]);
		assert_true(frame->address == UINT64_MAX - 4095);
		assert_int_equal(back.samples[i].time_ns, i);
	}
	fg_strbuf_release(&text);
	fg_profile_release(&profile);
	fg_profile_release(&back);
}

/* The first occurrence of `from` is replaced. */
static const struct {
	const char *from, *to, *words;
	int code;
} changes[] = {
	{"fastgate-profile/1", "fastgate-profile/2", "this fastgate reads fastgate-profile/1",
	 FG_EUNSUPPORTED},
	{"\"parent\":[0,0", "\"parent\":[0,1", "points to no row before it", FG_EPARSE},
	{"\"parent\":[0,0", "\"parent\":[0,-1", "points to no row before it", FG_EPARSE},
	{"\"frame\":[0,1", "\"frame\":[0,999", "to no frame", FG_EPARSE},
	{"\"frame\":[0,1", "\"frame\":[0", "not as many frames as parents", FG_EPARSE},
	{"\"stack\":", "\"stack\":77777", "row 0 of 'samples': 'stack'", FG_EPARSE},
	{"\"value\":", "\"value\":-", "row 0 of 'samples': 'value'", FG_EPARSE},
	{"\"kind\":\"user\"", "\"kind\":\"yours\"", "row 0 of 'samples': 'kind'", FG_EPARSE},
	{"\"repetitions\":1", "\"repetitions\":0", "'repetitions' is missing", FG_EPARSE},
	{"\"nature\":\"function\"", "\"nature\":7", "row 0 of 'frames': 'nature'", FG_EPARSE},
	{"\"units\":", "\"ünits\":", "'units'", FG_EPARSE},
	{"\"samples\":[", "\"samples\":[[],", "row 0 of 'samples': 'measure'", FG_EPARSE},
};

static void a_changed_file_is_refused_in_words(void **state)
{
	const struct fg_strbuf *text = *state;

	for (size_t i = 0; i < FG_ARRAY_SIZE(changes); i++) {
		const char *at = strstr(text->data, changes[i].from);
		struct fg_strbuf changed = {0};
		struct fg_profile profile;
		struct fg_error err = {0};

		if (!at)
			fail_msg("%s: not in the text", changes[i].from);
		fg_strbuf_add(&changed, text->data, (size_t)(at - text->data));
		fg_strbuf_add_text(&changed, changes[i].to);
		fg_strbuf_add_text(&changed, at + strlen(changes[i].from));
		if (read_json(changed.data, changed.length, &profile, &err) == FG_OK)
			fail_msg("%s: taken", changes[i].to);
		assert_int_equal(err.code, changes[i].code);
		if (!strstr(err.message, changes[i].words))
			fail_msg("%s: %s", changes[i].to, err.message);
		fg_strbuf_release(&changed);
	}
}

static void a_cut_or_damaged_file_is_refused_or_read_but_never_crashes(void **state)
{
	const struct fg_strbuf *text = *state;
	const struct fg_import_options options = {0};
	char *copy = fg_xmalloc(text->length + 1);

	for (size_t at = 0; at < text->length; at += 7) {
		struct fg_profile profile;
		struct fg_error err = {0};

		memcpy(copy, text->data, text->length + 1);
		copy[at] = copy[at] == '9' ? '1' : '9';
		if (fg_import_read(fg_import_find("json"), copy, text->length, &options, &profile,
				   &err) == FG_OK)
			fg_profile_release(&profile);
		copy[at] = '\0';
		assert_int_not_equal(
			fg_import_read(fg_import_find("json"), copy, at, &options, &profile, &err),
			FG_OK);
	}
	free(copy);
}

#define ON_TEXT(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON_TEXT(what_was_written_is_read_back_to_the_last_byte),
		ON_TEXT(it_may_be_packed),
		cmocka_unit_test(marks_and_kinds_of_frames_survive),
		ON_TEXT(a_changed_file_is_refused_in_words),
		ON_TEXT(a_cut_or_damaged_file_is_refused_or_read_but_never_crashes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
