// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"
#include "binary/name_parts.h"
#include "tests/support/fg_test.h"

struct name_case {
	const char *name, *collapsed, *qualified, *scope, *outer;
};

static const struct name_case CASES[] = {
	{"main", "main", "main", "", ""},
	{"fit(Track&)", "fit(Track&)", "fit", "", ""},
	{"reco::Fitter::fit(reco::Track&) const", "reco::Fitter::fit(reco::Track&) const",
	 "reco::Fitter::fit", "reco::Fitter", "reco"},
	{"void std::sort<int*, std::less<int> >(int*, int*)", "void std::sort<...>(int*, int*)",
	 "std::sort<int*, std::less<int> >", "std", "std"},
	{"std::ostream& std::operator<< <char>(std::ostream&, char)",
	 "std::ostream& std::operator<< <char>(std::ostream&, char)", "std::operator<< <char>",
	 "std", "std"},
	{"a::B<(c)1>::operator()(int) const", "a::B<...>::operator()(int) const",
	 "a::B<(c)1>::operator()", "a::B<(c)1>", "a"},
	{"a::B::operator->() const", "a::B::operator->() const", "a::B::operator->", "a::B", "a"},
	{"x::A::operator std::string() const", "x::A::operator std::string() const",
	 "x::A::operator std::string", "x::A", "x"},
	{"operator new(unsigned long)", "operator new(unsigned long)", "operator new", "", ""},
	{"(anonymous namespace)::run(int)", "(anonymous namespace)::run(int)",
	 "(anonymous namespace)::run", "(anonymous namespace)", "(anonymous namespace)"},
	{"main::{lambda(int)#1}::operator()(int) const",
	 "main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()",
	 "main::{lambda(int)#1}", "main"},
	{"virtual thunk to a::B::f()", "virtual thunk to a::B::f()", "a::B::f", "a::B", "a"},
	{"<alloc::vec::Vec<T> as core::ops::Drop>::drop",
	 "<alloc::vec::Vec<...> as core::ops::Drop>::drop",
	 "<alloc::vec::Vec<T> as core::ops::Drop>::drop", "<alloc::vec::Vec<T> as core::ops::Drop>",
	 "<alloc::vec::Vec<T> as core::ops::Drop>"},
	{"[kernel: read]", "[kernel: read]", "[kernel: read]", "", ""},
	{"operators::myoperator<a>(b)", "operators::myoperator<...>(b)", "operators::myoperator<a>",
	 "operators", "operators"},
};

FG_TEST(names_are_taken_apart)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(CASES); i++) {
		struct fg_strbuf text[4] = {{0}};

		fg_name_collapse_templates(CASES[i].name, &text[0]);
		fg_name_qualified(CASES[i].name, &text[1]);
		fg_name_scope(CASES[i].name, &text[2]);
		fg_name_namespace(CASES[i].name, &text[3]);
		assert_string_equal(fg_strbuf_text(&text[0]), CASES[i].collapsed);
		assert_string_equal(fg_strbuf_text(&text[1]), CASES[i].qualified);
		assert_string_equal(fg_strbuf_text(&text[2]), CASES[i].scope);
		assert_string_equal(fg_strbuf_text(&text[3]), CASES[i].outer);
		for (size_t k = 0; k < 4; k++)
			fg_strbuf_release(&text[k]);
	}
}

FG_TEST(broken_names_neither_crash_nor_take_long)
{
	static const char *const NAMES[] = {"",     "<",        ">>>>",        "a<",  "a<b(c",
					    "::",   "::a",      "a::",         "(a)", "((((",
					    "))))", "operator", "a::operator", "->",  "a<->b"};
	char *deep = fg_xcalloc(1, 100001);

	memset(deep, '(', 100000);
	for (size_t i = 0; i <= FG_ARRAY_SIZE(NAMES); i++) {
		const char *name = i < FG_ARRAY_SIZE(NAMES) ? NAMES[i] : deep;
		struct fg_strbuf text = {0};

		fg_name_collapse_templates(name, &text);
		fg_name_qualified(name, &text);
		fg_name_scope(name, &text);
		fg_name_namespace(name, &text);
		assert_true(text.length <= 4 * strlen(name) + 20);
		fg_strbuf_release(&text);
	}
	free(deep);
}
