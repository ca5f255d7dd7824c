// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"
#include "symbols/demangle.h"
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
	{"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad", "Rust, older: the hash is left out"},
	{"_ZN4core3fmt9Formatter3pad17h0123456789ABCDEFE", "core::fmt::Formatter::pad::h0123456789ABCDEF", "no hash: capital letters"},
	{"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE", 
	 "<Test + 'static as foo::Bar<Test>>::bar", "Rust, older: escapes"},
	{"_RNvC6_123foo3bar", "123foo::bar", "Rust v0: an identifier that begins with a digit"},
	{"_RNvCs1_5crate3foo", "crate::foo", "a crate's disambiguator is not shown"},
	{"_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_", "cc::spawn::{closure#0}::{closure#0}", "closures"},
	{"_RNvMs_NtC1a1bNtB4_1S1f", "<a::b::S>::f", "an inherent method, by back-reference"},
	{"_RINtC8arrayvec8ArrayVechKj7b_E", "arrayvec::ArrayVec::<u8, 123>", "a constant"},
	{"_RMC0INtC8arrayvec8ArrayVechKj7b_E", "<arrayvec::ArrayVec<u8, 123>>", "types have no ::"},
	{"_RINvC1a1fTRQhPOlASbj2_EE", "a::f::<(&&mut u8, *const *mut i32, [[bool]; 2])>", "types in types"},
	{"_RINvC1a1fASbj2E", NULL, "a constant without its end"},
	{"_RINvC1a1fTRhOlAbj2_EE", "a::f::<(&u8, *mut i32, [bool; 2])>", "compound types"},
	{"_RINvC1a1fFKCEuE", "a::f::<extern \"C\" fn()>", "a function pointer"},
	{"_RINvC1a1fDNtC1b1Tp1Xm1Yb1EL_E", NULL, "an associated type with rubbish behind it"},
	{"_RINvC1a1fDINtC1b1TuEp1XmEL_E", "a::f::<dyn b::T<(), X = u32>>", "dyn with associated type"},
	{"_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y", "utf8_idents::\xe1\x83\xa1\xe1\x83\x90\xe1\x83\xad\xe1\x83\x9b\xe1\x83\x94\xe1\x83\x9a\xe1\x83\x90\xe1\x83\x93_"
	 "\xe1\x83\x92\xe1\x83\x94\xe1\x83\x9b\xe1\x83\xa0\xe1\x83\x98\xe1\x83\x94\xe1\x83\x9a\xe1\x83\x98_"
	 "\xe1\x83\xa1\xe1\x83\x90\xe1\x83\x93\xe1\x83\x98\xe1\x83\x9a\xe1\x83\x98", "punycode"},
	{"_R", NULL, "nothing behind it"},
	{"_RB_", NULL, "a back-reference to itself"},
	{"_RNvB_1a", NULL, "a back-reference into the middle of itself"},
};
/* clang-format on */

static void names_become_readable(void **state)
{
	(void)state;
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

/* Each level refers twice to the one before: 2^60 letters if it were printed. */
static void a_name_that_would_never_end_stays_as_it_is(void **state)
{
	struct fg_strbuf name = {0};
	struct fg_strbuf text = {0};

	(void)state;
	fg_strbuf_add_text(&name, "_RINvC1a1f");
	for (int i = 0; i < 120; i++)
		fg_strbuf_add_text(&name, "T");
	for (int i = 0; i < 120; i++)
		fg_strbuf_add_text(&name, "B9_B9_E");
	fg_strbuf_add_text(&name, "E");
	assert_false(fg_demangle(fg_strbuf_text(&name), &text));
	assert_int_equal(text.length, 0);
	fg_strbuf_clear(&name);
	fg_strbuf_add_text(&name, "_R");
	for (int i = 0; i < 4000; i++)
		fg_strbuf_add_text(&name, "Nv");
	assert_false(fg_demangle(fg_strbuf_text(&name), &text));
	fg_strbuf_clear(&name);
	fg_strbuf_add_text(&name, "_Z");
	fg_strbuf_add_repeated(&name, 'P', FG_DEMANGLE_MAX_INPUT);
	assert_false(fg_demangle(fg_strbuf_text(&name), &text));
	fg_strbuf_release(&name);
	fg_strbuf_release(&text);
}

/*
 * Function types, each with the one before it as both of its arguments: 2^30 letters if it were
 * printed.
 */
static void a_cplusplus_name_that_would_never_end_stays_as_it_is(void **state)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	struct fg_strbuf name = {0};
	struct fg_strbuf text = {0};

	(void)state;
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

/*
 * Every prefix and every single changed byte of every name: no crash, and nothing written when it
 * says no.
 */
static void damaged_names_are_harmless(void **state)
{
	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_become_readable),
		cmocka_unit_test(a_name_that_would_never_end_stays_as_it_is),
		cmocka_unit_test(a_cplusplus_name_that_would_never_end_stays_as_it_is),
		cmocka_unit_test(damaged_names_are_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
