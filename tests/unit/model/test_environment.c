// SPDX-License-Identifier: Apache-2.0
#include "model/environment.h"
#include "tests/support/fg_test.h"

FG_TEST(facts_are_sorted_and_replaced)
{
	struct fg_environment environment = {0};

	fg_environment_set(&environment, "host.cpu", "old", true);
	fg_environment_set(&environment, "build.compiler", "gcc 12", false);
	fg_environment_printf(&environment, "host.cpu", true, "%s %d", "EPYC", 2);
	assert_int_equal(environment.count, 2);
	assert_string_equal(environment.facts[0].key, "build.compiler");
	assert_string_equal(fg_environment_get(&environment, "host.cpu"), "EPYC 2");
	assert_null(fg_environment_get(&environment, "host.nope"));
	fg_environment_release(&environment);
}

FG_TEST(only_identity_facts_make_the_fingerprint)
{
	struct fg_environment a = {0};
	struct fg_environment b = {0};
	char fa[17];
	char fb[17];

	fg_environment_set(&a, "host.cpu", "EPYC", true);
	fg_environment_set(&a, "host.load", "0.3", false);
	fg_environment_copy(&b, &a);
	fg_environment_set(&b, "host.load", "9", false);
	fg_environment_fingerprint(&a, fa);
	fg_environment_fingerprint(&b, fb);
	assert_string_equal(fa, fb);
	fg_environment_set(&b, "host.cpu", "Xeon", true);
	fg_environment_fingerprint(&b, fb);
	assert_string_not_equal(fa, fb);
	fg_environment_release(&a);
	fg_environment_release(&b);
}

FG_TEST(difference_names_changed_new_and_gone)
{
	struct fg_environment a = {0};
	struct fg_environment b = {0};
	struct fg_fact_difference *found = NULL;

	fg_environment_set(&a, "a", "1", false);
	fg_environment_set(&a, "b", "1", false);
	fg_environment_set(&a, "c", "1", true);
	fg_environment_set(&b, "b", "1", false);
	fg_environment_set(&b, "c", "2", true);
	fg_environment_set(&b, "d", "1", false);
	assert_int_equal(fg_environment_diff(&a, &b, &found), 3);
	assert_string_equal(found[0].key, "a");
	assert_null(found[0].candidate);
	assert_string_equal(found[1].baseline, "1");
	assert_string_equal(found[1].candidate, "2");
	assert_true(found[1].identity);
	assert_null(found[2].baseline);
	free(found);
	fg_environment_release(&a);
	fg_environment_release(&b);
}
