// SPDX-License-Identifier: Apache-2.0
/* Names that may belong to one function whose form changed. */
#include "gate/symbol_similarity.h"
#include "tests/support/fg_test.h"

struct pair {
	const char *a;
	const char *b;
	bool is_kin;
};

static const struct pair same[] = {
	{"f", "f", true},
	{"f", "g", false},
	{"f", "ff", false},
	{"f<int>", "f(int)", true},
	{"f<int>(int)", "f", true},
	{"f<std::pair<int, char> >(int)", "f<long>(char)", true},
	{"f<a>::g", "f<b>::g", true},
	{"f<a>::g", "f<a>::h", false},
	{"void fmt::v11::write<char>(int) [clone .part.0]", "fmt::write", true},
	{"fmt::v10::write", "fmt::v11::write", true},
	{"v9::write", "write", true},
	{"fmt::version::write", "fmt::write", false},
	{"fmt::v::write", "fmt::write", false},
	{"fmt::v1x::write", "fmt::write", false},
	{"fmt::xv11::write", "fmt::x::write", false},
	{"parse.constprop.0", "parse", true},
	{"parse@plt", "parse", true},
	{"parse[abi:cxx11]", "parse", true},
	{"std::string parse(int)", "parse", true},
	{"std::vector<int> parse(int)", "parse", true},
	{"(anonymous namespace)::f(int)", "f", false},
	{"(anonymous namespace)::f(int)", "(anonymous namespace)::f(char)", true},
	{"f(int)::{lambda(int)#1}::operator()", "f(int)::{lambda(int)#1}::operator()", true},
	{"a::operator<(int)", "a::operator<(int)", true},
	{"a::operator<(int)", "a::operator<(long)", false},
	{"outer(int)::inner(int)", "outer(char)::inner(long)", true},
	{"outer(int)::inner(int)", "outer", false},
	{"f<int", "f", true},
	{"", "", false},
	{"<int>", "(int)", false},
};

FG_TEST(variants_of_one_name_are_the_same)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(same); i++) {
		if (fg_symbols_have_same_name(same[i].a, same[i].b) != same[i].is_kin ||
		    fg_symbols_have_same_name(same[i].b, same[i].a) != same[i].is_kin)
			fail_msg("%s and %s", same[i].a, same[i].b);
	}
}

/* The beginnings and ends that agree make up at least seven tenths of the longer name. */
static const struct pair similar[] = {
	{"luaD_pretailcall", "luaD_precall", true},
	{"0123456789", "0123456xyz", true},
	{"0123456789", "012345wxyz", false},
	{"0123456789", "abc3456789", true},
	{"0123456789", "abcd456789", false},
	{"0123456789", "0123xyz789", true},
	{"0123456789", "0123wxyz89", false},
	{"01234567", "0123456789", true},
	{"0123456", "0123456789", true},
	{"012345", "0123456789", false},
	{"aaaaaaa", "aaaaaaaaaa", true},
	{"aaaaaa", "aaaaaaaaaa", false},
	{"a::parse_line", "a::parse_link", true},
	{"a::parse_one", "b::parse_one", false},
	{"a::parse_one", "parse_one", false},
	{"a::b::parse_one", "a::c::parse_one", false},
	{"namespace::of::some::length::x", "namespace::of::some::length::y", false},
	{"parse_line(int)", "parse_link<char>", true},
};

FG_TEST(names_with_equal_ends_are_similar_in_one_scope)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(similar); i++) {
		if (fg_symbols_have_similar_names(similar[i].a, similar[i].b) !=
			    similar[i].is_kin ||
		    fg_symbols_have_similar_names(similar[i].b, similar[i].a) != similar[i].is_kin)
			fail_msg("%s and %s", similar[i].a, similar[i].b);
	}
}

FG_TEST(relinked_is_one_name_from_another_library)
{
	static const struct {
		struct fg_profile_function a;
		struct fg_profile_function b;
		bool is;
	} rows[] = {
		{{.name = "f", .library = "lib.so"}, {.name = "f", .library = "prog"}, true},
		{{.name = "f", .library = "lib.so"}, {.name = "f", .library = "lib.so"}, false},
		{{.name = "f", .library = "lib.so"}, {.name = "g", .library = "prog"}, false},
		{{.name = "f", .library = NULL}, {.name = "f", .library = "prog"}, false},
		{{.name = "f", .library = "lib.so"}, {.name = "f", .library = NULL}, false},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++)
		assert_int_equal(fg_symbols_are_relinked(&rows[i].a, &rows[i].b), rows[i].is);
}
