// SPDX-License-Identifier: Apache-2.0
/* Attribution of time in unchanged code. */
#include "gate/blame.h"
#include "tests/support/fg_test.h"
#include "tests/unit/gate/made_run.h"

/* A call path of the function `name`, and the one that its time is charged to. */
struct row {
	const char *name;
	const char *library;
	uint32_t parent;
	uint32_t blamed;
};

/* Only the candidate loads libm, which is not the project's, and libown, which is. */
static void check(const struct row *rows, uint32_t count)
{
	struct fg_profile_set set;
	struct fg_run run;
	struct fg_build_facts *builds;
	uint32_t *blamed;

	fg_run_init(&run);
	builds = fg_run_add_series(&run, "app")->build;
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++)
		fg_build_facts_set(&builds[arm], "build.library.libc.so.6", "abcd");
	fg_build_facts_set(&builds[FG_ARM_CANDIDATE], "build.library.libm.so.6", "abcd");
	fg_build_facts_set(&builds[FG_ARM_CANDIDATE], "build.library.libown.so", "abcd");
	fg_build_facts_set(&builds[FG_ARM_CANDIDATE], "build.own.libown.so", "yes");
	fg_profile_set_init(&set, "app");
	for (uint32_t n = 1; n < count; n++)
		assert_int_equal(
			fg_made_call_path(&set, rows[n].parent, rows[n].library, rows[n].name), n);
	blamed = fg_blame_nodes(&set, fg_run_find(&run, "app"));
	for (uint32_t n = 0; n < count; n++)
		assert_int_equal(blamed[n], rows[n].blamed);
	free(blamed);
	fg_profile_set_release(&set);
	fg_run_release(&run);
}

FG_TEST(unchanged_code_is_charged_to_the_nearest_changed_caller_or_itself)
{
	static const struct row rows[8] = {
		/* including the root: the initial capacity */
		{NULL, NULL, 0, 0},
		{"start", "libc.so.6", 0, 1}, /* none of its callers changed */
		{"exit", "libc.so.6", 1, 2},
		{"main", "app", 1, 3},
		{"memcmp", "libc.so.6", 3, 3},
		{"memcpy@plt", "app", 4, 3},
		{"read", "[kernel]", 5, 3},
		{"compiled", "[JIT]", 6, 7},
	};

	check(rows, FG_ARRAY_SIZE(rows));
}

FG_TEST(a_new_library_from_outside_is_charged_to_its_caller)
{
	static const struct row rows[] = {{NULL, NULL, 0, 0},
					  {"main", "app", 0, 1},
					  {"exp", "libm.so.6", 1, 1},
					  {"fit", "libown.so", 1, 3}};

	check(rows, FG_ARRAY_SIZE(rows));
}
