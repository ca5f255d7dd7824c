// SPDX-License-Identifier: Apache-2.0
#include "base/gzip.h"
#include "profile/exchange/import.h"
#include "tests/support/fg_test.h"

#include <string.h>

static int import(const char *format, const char *text, size_t size, struct fg_profile *profile,
		  struct fg_error *err)
{
	const struct fg_import_options options = {0};

	return fg_import_read(fg_import_find(format), text, size, &options, profile, err);
}

static double weight_of(const struct fg_profile *profile, const char *function)
{
	double sum = 0;

	for (size_t i = 0; i < profile->sample_count; i++) {
		const uint32_t frame = profile->stacks[profile->samples[i].stack].frame;
		const char *name = profile->functions[profile->frames[frame].function].name;

		if (strcmp(name, function) == 0)
			sum += profile->samples[i].value;
	}
	return sum;
}

static const struct fg_profile_function *function_named(const struct fg_profile *profile,
							const char *name)
{
	for (size_t i = 0; i < profile->function_count; i++) {
		if (strcmp(profile->functions[i].name, name) == 0)
			return &profile->functions[i];
	}
	fail_msg("no function %s", name);
	return NULL;
}

static size_t depth_of(const struct fg_profile *profile, size_t sample)
{
	size_t depth = 0;

	for (uint32_t at = profile->samples[sample].stack; at != 0; at = profile->stacks[at].parent)
		depth++;
	return depth;
}

FG_TEST(folded_stacks_become_samples)
{
	static const char text[] = "# a remark\n"
				   "main;fit(Track&);operator new(unsigned long) 3\r\n"
				   "\n"
				   "main;fit(Track&) 1.5\n"
				   "main\t2";
	struct fg_profile profile;
	struct fg_error err = {0};

	assert_int_equal(import("folded", text, strlen(text), &profile, &err), FG_OK);
	assert_int_equal(profile.sample_count, 3);
	assert_true(weight_of(&profile, "operator new(unsigned long)") == 3e6);
	assert_true(weight_of(&profile, "fit(Track&)") == 1.5e6);
	assert_true(weight_of(&profile, "main") == 2e6);
	assert_true(profile.measures[0].total == 6.5e6);
	assert_int_equal(depth_of(&profile, 0), 3);
	assert_int_equal(profile.note_count, 1); /* the assumed period of a millisecond is noted */
	fg_profile_release(&profile);
}

FG_TEST(weights_that_no_sum_can_hold_are_refused)
{
	static const char *const texts[] = {"main 9e300\n", "main;a 4000000000000\nmain;b 1\n",
					    "main 1e308\nmain;b 1e308\n"};
	static const char held[] = "main;a 3000000000000\nmain;b 1\n";
	struct fg_profile profile;
	struct fg_error err = {0};

	for (size_t i = 0; i < FG_ARRAY_SIZE(texts); i++) {
		assert_int_equal(import("folded", texts[i], strlen(texts[i]), &profile, &err),
				 FG_ELIMIT);
		assert_non_null(strstr(err.message, "more than 100 years"));
	}
	/* 95 years are too long */
	assert_int_equal(import("folded", held, strlen(held), &profile, &err), FG_OK);
	assert_true(weight_of(&profile, "b") == 1e6);
	fg_profile_release(&profile);
}

FG_TEST(a_given_period_is_used_and_not_remarked_on)
{
	const struct fg_import_options options = {.period_ns = 5000, .program = "reco"};
	struct fg_profile profile;

	assert_int_equal(
		fg_import_read(fg_import_find("folded"), "a 2\n", 4, &options, &profile, NULL),
		FG_OK);
	assert_true(profile.measures[0].total == 10000.0);
	assert_string_equal(profile.functions[0].name, "reco");
	assert_int_equal(profile.note_count, 0);
	fg_profile_release(&profile);
}

FG_TEST(bad_text_is_refused_with_its_line)
{
	static const struct {
		const char *format;
		const char *text;
		const char *why;
	} cases[] = {
		{"folded", "a;b 1\nb\n", "line 2: 'b' is not a line of frames"},
		{"folded", "a;b 1\na;b 1 2\n", "line 2: a line has two weights"},
		{"folded", "a;b -1\n", "line 1: 'a;b -1' is not a line of frames"},
		{"folded", "a;b nan\n", "line 1: 'a;b nan' is not a line of frames"},
		{"folded", "a;b 1e999\n", "line 1: 'a;b 1e999' is not a line of frames"},
		{"folded", "a;b 0\n", "no stack with a weight above zero"},
		{"folded", "", "no stack with a weight above zero"},
		{"callgrind", "events: Dr Dw\nfn=a\n1 2\n",
		 "line 1: the file counts no instructions"},
		{"callgrind", "events: Ir\n1 2\n", "line 2: a cost is outside any function"},
		{"callgrind", "events: Ir\nfn=(3)\n", "line 2: the name (3) is not defined"},
		{"callgrind", "events: Ir\ncalls=1 1\n",
		 "line 2: the called function is not named"},
		{"callgrind", "events: Ir\nfn=a\n1 x\n", "line 3: 'x' is not a count"},
		{"callgrind", "fn=a\n1 2\n", "the line 'events:' is missing"},
		{"callgrind", "events: Ir\nfn=a\n", "no stack with a weight above zero"},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		struct fg_profile profile;
		struct fg_error err = {0};

		assert_true(import(cases[i].format, cases[i].text, strlen(cases[i].text), &profile,
				   &err) < 0);
		if (!strstr(err.message, cases[i].why))
			fail_msg("'%s': found '%s', expected '%s'", cases[i].text, err.message,
				 cases[i].why);
	}
}

static double value_of(const struct fg_profile *profile, const char *function, const char *measure)
{
	double sum = 0;

	for (size_t i = 0; i < profile->sample_count; i++) {
		const struct fg_sample *sample = &profile->samples[i];
		const uint32_t frame = profile->stacks[sample->stack].frame;
		const char *name = profile->functions[profile->frames[frame].function].name;

		if (strcmp(name, function) == 0 &&
		    strcmp(profile->measures[sample->measure].is.name, measure) == 0)
			sum += sample->value;
	}
	return sum;
}

/* Two consecutive processes: the second one starts numbering its names again. */
static const char callgrind_text[] = "version: 1\n"
				     "creator: callgrind-3.19.0\n"
				     "positions: line\n"
				     "events: Ir\n"
				     "ob=(1) /bin/prog\n"
				     "fn=(1) main\n"
				     "1 10\n"
				     "+2 5\n"
				     "cfn=(2) _Z3fitv'main\n"
				     "calls=3 9\n"
				     "+1 300\n"
				     "cob=(2) /lib/libc.so.6\n"
				     "cfn=(3) memcpy@@GLIBC_2.14'main\n"
				     "calls=7 1\n"
				     "* 70\n"
				     "fn=(2)\n"
				     "9 280\n"
				     "jump=4 11\n"
				     "9\n"
				     "cfn=(4) _Z3fitv'2'main\n"
				     "calls=2 9\n"
				     "9 20\n"
				     "fn=(4)\n"
				     "9 20\n"
				     "ob=(2)\n"
				     "fn=(3)\n"
				     "1 70\n"
				     "totals: 385\n"
				     "creator: callgrind-3.19.0\n"
				     "positions: instr line\n"
				     "events: Dr Ir\n"
				     "ob=(1) /bin/other\n"
				     "fn=(1) work\n"
				     "0x10 1 9 1000\n";

FG_TEST(callgrind_gives_instructions_and_calls_by_call_path)
{
	struct fg_profile profile;
	struct fg_error err = {0};

	if (import("callgrind", callgrind_text, strlen(callgrind_text), &profile, &err) != FG_OK)
		fail_msg("%s", err.message);
	assert_string_equal(profile.measures[0].is.name, "instructions");
	assert_true(profile.measures[0].is.exact);
	assert_true(profile.measures[0].total == 1385);
	assert_true(value_of(&profile, "main", "instructions") == 15);
	assert_true(value_of(&profile, "fit()", "instructions") == 300);
	assert_true(value_of(&profile, "memcpy", "instructions") == 70);
	assert_true(value_of(&profile, "work", "instructions") == 1000);
	assert_true(value_of(&profile, "fit()", "calls") == 5);
	assert_true(value_of(&profile, "memcpy", "calls") == 7);
	assert_string_equal(function_named(&profile, "memcpy")->library, "libc.so.6");
	assert_string_equal(function_named(&profile, "main")->library, "prog");
	fg_profile_release(&profile);
}

/* Columns in callgrind's order; those at the end may be left out. */
FG_TEST(callgrind_gives_simulated_misses_where_it_has_them)
{
	static const char text[] = "events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw Bc Bcm Bi Bim\n"
				   "fn=main\n"
				   "1 1000 300 100 1 20 4 1 10 2 90 40 5 2\n"
				   "2 500 0 0 2\n"
				   "fn=fit\n"
				   "3 10\n";
	struct fg_profile profile;
	struct fg_error err = {0};

	assert_int_equal(import("callgrind", text, strlen(text), &profile, &err), FG_OK);
	assert_true(value_of(&profile, "main", "instructions") == 1500);
	assert_true(value_of(&profile, "main", "cache.first_misses") == 27);
	assert_true(value_of(&profile, "main", "cache.misses") == 13);
	assert_true(value_of(&profile, "main", "branch.misses") == 42);
	assert_true(value_of(&profile, "fit", "instructions") == 10);
	assert_true(value_of(&profile, "fit", "cache.misses") == 0);
	fg_profile_release(&profile);
}

FG_TEST(callgrind_without_a_simulation_has_no_misses)
{
	struct fg_profile profile;
	struct fg_error err = {0};

	assert_int_equal(
		import("callgrind", callgrind_text, strlen(callgrind_text), &profile, &err), FG_OK);
	assert_int_equal(profile.measure_count, 2);
	fg_profile_release(&profile);
}

FG_TEST(callgrind_names_without_callers_still_give_the_callers)
{
	static const char text[] = "events: Ir\nfn=main\n1 10\ncfn=fit\ncalls=3 9\n1 30\n"
				   "fn=fit\n9 30\n";
	struct fg_profile profile;
	struct fg_error err = {0};
	bool found = false;

	assert_int_equal(import("callgrind", text, strlen(text), &profile, &err), FG_OK);
	assert_true(value_of(&profile, "fit", "calls") == 3);
	for (size_t i = 0; i < profile.sample_count; i++)
		found |= profile.samples[i].measure == 1 && depth_of(&profile, i) == 2;
	assert_true(found);
	fg_profile_release(&profile);
}

FG_TEST(callgrind_paths_begin_with_a_name)
{
	static const char text[] = "events: Ir\nfn=0x1ab70\n1 5\nfn=_start'0x1ab70\n1 10\n"
				   "fn=main'_start'0x1ab70\n1 30\n";
	struct fg_profile profile;
	struct fg_error err = {0};

	assert_int_equal(import("callgrind", text, strlen(text), &profile, &err), FG_OK);
	assert_int_equal(profile.sample_count, 3);
	assert_int_equal(depth_of(&profile, 0), 1);
	assert_int_equal(depth_of(&profile, 1), 1);
	assert_int_equal(depth_of(&profile, 2), 2);
	assert_true(value_of(&profile, "main", "instructions") == 30);
	fg_profile_release(&profile);
}

FG_TEST(a_stack_deeper_than_the_limit_is_refused)
{
	struct fg_strbuf text = {0};
	struct fg_profile profile;
	struct fg_error err = {0};

	for (int i = 0; i <= FG_IMPORT_MAX_DEPTH; i++)
		fg_strbuf_add_text(&text, "f;");
	fg_strbuf_add_text(&text, "f 1\n");
	assert_int_equal(import("folded", text.data, text.length, &profile, &err), FG_ELIMIT);
	fg_strbuf_release(&text);
}

FG_TEST(hostile_names_are_made_printable)
{
	static const char text[] = "main;\x1b[31mred;\xff\xfe;; 1\n";
	struct fg_profile profile;

	assert_int_equal(import("folded", text, strlen(text), &profile, NULL), FG_OK);
	for (size_t i = 0; i < profile.function_count; i++) {
		for (const char *c = profile.functions[i].name; *c; c++)
			assert_true((unsigned char)*c >= 0x20);
	}
	(void)function_named(&profile, "[unknown]");
	fg_profile_release(&profile);
}

FG_TEST(formats_are_recognised_by_their_content)
{
	static const char folded[] = "main;f 1\n";
	static const char gzip[] = "\x1f\x8b\x08\0";
	static const char nothing[] = "{\"a\": 1}";
	static const char binary[] = "\x7f"
				     "ELF\0\0";

	assert_string_equal(fg_import_detect(folded, strlen(folded))->name, "folded");
	assert_string_equal(fg_import_detect(callgrind_text, strlen(callgrind_text))->name,
			    "callgrind");
	assert_null(fg_import_detect(gzip, sizeof(gzip)));
	assert_null(fg_import_detect(nothing, strlen(nothing)));
	assert_null(fg_import_detect(binary, sizeof(binary)));
	assert_null(fg_import_detect("", 0));
}

/* Compressing a file does not change its format. */
FG_TEST(packed_files_are_read_like_their_contents)
{
	static const struct {
		const char *text;
		const char *format;
	} cases[] = {
		{"main;f 1\n", "folded"},
		{callgrind_text, "callgrind"},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		const struct fg_import_format *format = NULL;
		struct fg_import_options options = {0};
		struct fg_profile profile;
		struct fg_strbuf packed = {0};
		struct fg_error err = {0};

		assert_int_equal(fg_gzip_pack(cases[i].text, strlen(cases[i].text), FG_GZIP_TIGHT,
					      &packed, &err),
				 FG_OK);
		format = fg_import_detect(packed.data, packed.length);
		assert_non_null(format);
		assert_string_equal(format->name, cases[i].format);
		assert_int_equal(fg_import_read(format, packed.data, packed.length, &options,
						&profile, &err),
				 FG_OK);
		assert_true(profile.sample_count > 0);
		fg_profile_release(&profile);
		packed.length -= 4;
		assert_int_equal(fg_import_read(format, packed.data, packed.length, &options,
						&profile, &err),
				 FG_EPARSE);
		fg_strbuf_release(&packed);
	}
}

FG_TEST(gzip_beyond_the_limit_is_refused)
{
	struct fg_strbuf packed = {0};
	struct fg_strbuf out = {0};
	struct fg_error err = {0};
	char zeros[100000] = {0};

	assert_int_equal(fg_gzip_pack(zeros, sizeof(zeros), FG_GZIP_TIGHT, &packed, NULL), FG_OK);
	assert_int_equal(fg_gzip_unpack(packed.data, packed.length, 1000, &out, &err), FG_ELIMIT);
	assert_int_equal(out.length, 0);
	assert_int_equal(fg_gzip_unpack(packed.data, packed.length, sizeof(zeros), &out, &err),
			 FG_OK);
	assert_int_equal(out.length, sizeof(zeros));
	fg_strbuf_add_char(&packed, 'x');
	assert_int_equal(fg_gzip_unpack(packed.data, packed.length, sizeof(zeros), &out, &err),
			 FG_EPARSE);
	fg_strbuf_release(&packed);
	fg_strbuf_release(&out);
}
