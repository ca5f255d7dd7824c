// SPDX-License-Identifier: Apache-2.0
#include "reporters/names.h"
#include "tests/support/fg_test.h"

static void check_plain(const char *name, const char *expected)
{
	struct fg_strbuf text = {0};

	fg_report_add_plain_name(&text, name, 0);
	assert_string_equal(fg_strbuf_text(&text), expected);
	fg_strbuf_release(&text);
}

FG_TEST(arguments_are_left_out_of_plain_names)
{
	check_plain("find", "find");
	check_plain("ns::fit<int>(Track&)", "ns::fit");
	check_plain("Map<int, Less<int> >::find(int) const", "Map::find");
	check_plain("Track::operator()(int)", "Track::operator()");
	check_plain("operator< <int>(A<int>, A<int>)", "operator< ");
	check_plain("alloc::vec::Vec<T>::push", "alloc::vec::Vec::push");
	check_plain("json::Document json::parse<Pool<char>>(std::string_view)", "json::parse");
	check_plain("(anonymous namespace)::Hit ns::(anonymous namespace)::fit<int>(int)",
		    "ns::(anonymous namespace)::fit");
	check_plain("ns::operator bool() const", "ns::operator bool const");
}

FG_TEST(scopes_in_brackets_stay_in_plain_names)
{
	check_plain("<u32>::wrapping_mul", "<u32>::wrapping_mul");
	check_plain("<app::Set<u8> as core::cmp::Ord>::cmp",
		    "<app::Set<u8> as core::cmp::Ord>::cmp");
	check_plain("(anonymous namespace)::fit(int)", "(anonymous namespace)::fit");
	check_plain("reco::(anonymous namespace)::fit<int>(int)",
		    "reco::(anonymous namespace)::fit");
	check_plain("<unfinished", "<unfinished");
	check_plain("(unfinished::fit", "(unfinished::fit");
}

FG_TEST(names_in_one_list_are_elided_only_as_far_as_they_stay_distinct)
{
	struct fg_node_verdict functions[] = {
		{.name = "std::sort<std::vector<long>::iterator, Less<Track> >(int, int)"},
		{.name = "std::sort<std::vector<long>::iterator, Less<Hit> >(int, int)"},
		{.name = "std::find<std::vector<long>::iterator, Less<Hit> >(int, int)"},
	};
	const struct fg_blame blame = {.functions = functions, .function_count = 3};
	struct fg_strbuf names[3] = {{0}, {0}, {0}};

	for (size_t i = 0; i < 3; i++)
		fg_report_add_function_name(&names[i], &blame, &functions[i], 30, false);
	assert_string_equal(fg_strbuf_text(&names[2]), "std::find<…>(int, int)");
	assert_non_null(strstr(fg_strbuf_text(&names[0]), "Track"));
	assert_non_null(strstr(fg_strbuf_text(&names[1]), "Hit"));
	for (size_t i = 0; i < 3; i++)
		fg_strbuf_release(&names[i]);
}
