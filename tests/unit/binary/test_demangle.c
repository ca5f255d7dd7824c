// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"
#include "binary/demangle.h"
#include "tests/support/fg_test.h"

/* clang-format off */
static const struct {
	const char *linkage, *readable, *why;
} CASES[] = {
	{"main", NULL, "a C name"},
	{"_start", NULL, "a C name with an underscore"},
	{"_Zrubbish", NULL, "not a mangled name after all"},
	{"_Z3fiti", "fit(int)", "C++"},
	{"_ZN4reco6Fitter3fitERNS_5TrackE", "reco::Fitter::fit(reco::Track&)", "scopes"},
	{"_ZNSaIcEC2Ev", "std::allocator<char>::allocator()", "a constructor"},
	{"_ZN3FooC4Ev", "Foo::Foo()", "the constructor's unified name, as in debug information"},
	{"_Z4workv.cold", "work() [.cold]", "a part split off"},
	{"_Z4workv.isra.0.constprop.1", "work() [.isra.0.constprop.1]", "several"},
	{"_RNvC1a1f", NULL, "another language's mangling"},
};
/* clang-format on */

FG_TEST(names_become_readable)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(CASES); i++) {
		struct fg_strbuf text = {0};
		bool done = fg_demangle(CASES[i].linkage, &text);

		if (done != (CASES[i].readable != NULL))
			fail_msg("%s: '%s' gave '%s'", CASES[i].why, CASES[i].linkage,
				 done ? fg_strbuf_text(&text) : "nothing");
		if (done)
			assert_string_equal(fg_strbuf_text(&text), CASES[i].readable);
		else
			assert_int_equal(text.length, 0);
		fg_strbuf_release(&text);
	}
}

FG_TEST(a_name_that_is_too_long_stays_as_it_is)
{
	struct fg_strbuf name = {0};
	struct fg_strbuf text = {0};

	fg_strbuf_add_text(&name, "_Z");
	fg_strbuf_add_repeated(&name, 'P', FG_DEMANGLE_MAX_INPUT);
	assert_false(fg_demangle(fg_strbuf_text(&name), &text));
	assert_int_equal(text.length, 0);
	fg_strbuf_release(&name);
	fg_strbuf_release(&text);
}

/* Nested function types, each with the previous one as both arguments: 2^30 letters if printed. */
FG_TEST(a_name_that_would_never_end_stays_as_it_is)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	struct fg_strbuf name = {0};
	struct fg_strbuf text = {0};

	fg_strbuf_add_text(&name, "_Z1fFviiEFvS_S_E");
	assert_true(fg_demangle(fg_strbuf_text(&name), &text));
	assert_string_equal(fg_strbuf_text(&text),
			    "f(void (int, int), void (void (int, int), void (int, int)))");
	for (size_t i = 0; i < 30; i++)
		fg_strbuf_printf(&name, "FvS%c_S%c_E", digits[i], digits[i]);
	fg_strbuf_clear(&text);
	assert_false(fg_demangle(fg_strbuf_text(&name), &text));
	assert_int_equal(text.length, 0);
	fg_strbuf_release(&name);
	fg_strbuf_release(&text);
}

/* Every prefix and every single changed byte of every name: no crash, and no output on failure. */
FG_TEST(damaged_names_are_harmless)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(CASES); i++) {
		size_t length = strlen(CASES[i].linkage);

		for (size_t k = 0; k < length * 3; k++) {
			struct fg_strbuf text = {0};
			char *copy = fg_xstrdup(CASES[i].linkage);

			if (k < length)
				copy[k] = '\0';
			else
				copy[k % length] = "_EB9IT"[k % 6];
			if (!fg_demangle(copy, &text))
				assert_int_equal(text.length, 0);
			fg_strbuf_release(&text);
			free(copy);
		}
	}
}
