// SPDX-License-Identifier: Apache-2.0
/* Attribution of time in unchanged code. */
#include "gate/blame.h"
#include "tests/support/fg_test.h"

enum {
	FUNCTIONS = 8, /* including the root: the initial capacity */
};

FG_TEST(unchanged_code_is_charged_to_the_nearest_changed_caller_or_itself)
{
	static const struct {
		const char *name;
		const char *library;
		uint32_t parent;
		uint32_t blamed;
	} rows[FUNCTIONS] = {
		{NULL, NULL, 0, 0},
		{"start", "libc.so.6", 0, 1}, /* none of its callers changed */
		{"exit", "libc.so.6", 1, 2},
		{"main", "app", 1, 3},
		{"memcmp", "libc.so.6", 3, 3},
		{"memcpy@plt", "app", 4, 3},
		{"read", "[kernel]", 5, 3},
		{"compiled", "[JIT]", 6, 7},
	};
	struct fg_profile_set set;
	struct fg_run run;
	struct fg_series *series;
	uint32_t *blamed;

	fg_run_init(&run);
	series = fg_run_add_series(&run, "app");
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++)
		fg_build_facts_set(&series->build[arm], "build.library.libc.so.6", "abcd");
	fg_profile_set_init(&set, "app");
	for (uint32_t n = 1; n < FUNCTIONS; n++) {
		const struct fg_profile_function function = {.name = rows[n].name,
							     .library = rows[n].library};

		assert_int_equal(fg_profile_set_node(&set, rows[n].parent,
						     fg_profile_set_function(&set, &function)),
				 n);
	}
	blamed = fg_blame_nodes(&set, series);
	for (uint32_t n = 0; n < FUNCTIONS; n++)
		assert_int_equal(blamed[n], rows[n].blamed);
	free(blamed);
	fg_profile_set_release(&set);
	fg_run_release(&run);
}

/*
 * Only the candidate loads both libraries: one library is from outside, the other is the project's
 * own.
 */
FG_TEST(a_new_library_from_outside_is_charged_to_its_caller)
{
	static const char *const libraries[] = {"app", "libm.so.6", "libown.so"};
	struct fg_profile_set set;
	struct fg_run run;
	struct fg_series *series;
	uint32_t *blamed;

	fg_run_init(&run);
	series = fg_run_add_series(&run, "app");
	for (size_t i = 1; i < FG_ARRAY_SIZE(libraries); i++) {
		char *key = fg_xasprintf("build.library.%s", libraries[i]);

		fg_build_facts_set(&series->build[FG_ARM_CANDIDATE], key, "abcd");
		free(key);
	}
	fg_build_facts_set(&series->build[FG_ARM_CANDIDATE], "build.own.libown.so", "yes");
	fg_profile_set_init(&set, "app");
	for (uint32_t n = 0; n < FG_ARRAY_SIZE(libraries); n++) {
		const struct fg_profile_function function = {.name = libraries[n],
							     .library = libraries[n]};

		assert_int_equal(fg_profile_set_node(&set, n ? 1 : 0,
						     fg_profile_set_function(&set, &function)),
				 n + 1);
	}
	blamed = fg_blame_nodes(&set, series);
	assert_int_equal(blamed[2], 1);
	assert_int_equal(blamed[3], 3);
	free(blamed);
	fg_profile_set_release(&set);
	fg_run_release(&run);
}
