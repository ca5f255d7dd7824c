// SPDX-License-Identifier: Apache-2.0
#include "model/build_facts.h"
#include "tests/support/fg_test.h"

FG_TEST(every_fact_is_stored_under_a_key_and_read_again)
{
	static const struct fg_fact rows[] = {
		{.key = "build.code", .value = "c0de"},
		{.key = "build.code.libown.so", .value = "c1"},
		{.key = "build.functions",
		 .value = "fit=16:48:s load=0:64:r save=4095:0:c:8:0:1:2"},
		{.key = "build.id", .value = "4f5e"},
		{.key = "build.later", .value = "a key of a later version"},
		{.key = "build.layout.libown.so", .value = "1a"},
		{.key = "build.library.libc.so.6", .value = "a90c"},
		{.key = "build.library.libown.so", .value = "no build-id, 7 bytes"},
		{.key = "build.own.libown.so", .value = "yes"},
		{.key = "build.place.libown.so", .value = "build/libown.so"},
		{.key = "build.size", .value = "4096"},
	};
	struct fg_build_facts build = {0};
	struct fg_build_facts copy = {0};
	struct fg_environment listed = {0};

	for (size_t i = FG_ARRAY_SIZE(rows); i > 0; i--)
		fg_build_facts_set(&build, rows[i - 1].key, rows[i - 1].value);
	fg_build_facts_copy(&copy, &build);
	fg_build_facts_list(&copy, &listed);
	assert_int_equal(listed.count, FG_ARRAY_SIZE(rows));
	assert_int_equal(fg_build_facts_count(&build), listed.count);
	for (size_t i = 0; i < listed.count; i++) {
		assert_string_equal(listed.facts[i].key, rows[i].key);
		assert_string_equal(listed.facts[i].value, rows[i].value);
	}
	assert_int_equal(copy.functions[2].state, FG_COMPARED_CHANGED);
	assert_int_equal(copy.functions[2].offset[0], 4095);
	assert_int_equal(copy.functions[2].form[0].vectors, 8);
	assert_int_equal(copy.functions[2].form[1].tail_calls, 2);
	assert_int_equal(copy.functions[1].form[0].vectors, 0);
	fg_environment_release(&listed);
	fg_build_facts_release(&copy);
	fg_build_facts_release(&build);
}

FG_TEST(a_function_whose_comparison_cannot_be_read_is_unknown)
{
	static const char *const texts[] = {"",         "fit",       "fit=",     "fit=1:2",
					    "fit=1:2:", "fit=1:2:x", "fit=:2:s", "fit=1:s"};

	for (size_t i = 0; i < FG_ARRAY_SIZE(texts); i++) {
		struct fg_build_facts build = {0};

		fg_build_facts_set(&build, "build.functions", texts[i]);
		assert_int_equal(build.function_count, 0);
		fg_build_facts_release(&build);
	}
}

FG_TEST(libraries_of_two_builds_are_matched_by_name)
{
	static const struct {
		const char *name;
		bool is_in[2];
		bool is_same;
	} met[] = {
		{"liba.so", {true, false}, false},
		{"libc.so.6", {true, true}, true},
		{"libm.so.6", {true, true}, false},
		{"libz.so.1", {false, true}, false},
	};
	struct fg_build_facts builds[2] = {0};
	struct fg_library_pair pair = {.builds = {&builds[0], &builds[1]}};
	size_t count = 0;

	for (size_t side = 0; side < 2; side++) {
		fg_build_facts_set(&builds[side], "build.library.libm.so.6", side ? "2" : "1");
		fg_build_facts_set(&builds[side], "build.library.libc.so.6", "1");
		fg_build_facts_set(&builds[side],
				   side ? "build.library.libz.so.1" : "build.library.liba.so", "1");
	}
	for (; fg_library_pair_next(&pair); count++) {
		assert_true(count < FG_ARRAY_SIZE(met));
		assert_string_equal(fg_library_pair_name(&pair), met[count].name);
		for (size_t side = 0; side < 2; side++)
			assert_int_equal(pair.sides[side] != NULL, met[count].is_in[side]);
		assert_int_equal(fg_library_pair_is_same(&pair), met[count].is_same);
	}
	assert_int_equal(count, FG_ARRAY_SIZE(met));
	for (size_t side = 0; side < 2; side++)
		fg_build_facts_release(&builds[side]);
}
