// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"
#include "tests/support/fg_test.h"

FG_TEST(an_appended_element_is_zero)
{
	struct pair {
		int a, b;
	} *pairs = NULL;
	size_t count = 0;
	size_t capacity = 0;

	for (int i = 1; i <= 100; i++) {
		struct pair *added = &FG_APPEND(pairs, count, capacity);

		assert_int_equal(added->a, 0);
		assert_int_equal(added->b, 0);
		*added = (struct pair){i, -i};
	}
	assert_int_equal(count, 100);
	assert_true(capacity >= count);
	for (int i = 0; i < 100; i++)
		assert_int_equal(pairs[i].a - pairs[i].b, 2 * (i + 1));
	free(pairs);
}

FG_TEST(words_are_joined_and_copied)
{
	char first[] = "env";
	char second[] = "A=1";
	char *const one[] = {first, NULL};
	char *const two[] = {second, NULL};
	char **joined = fg_join_words(one, two);
	char **copy = fg_copy_words(joined);
	char **none = fg_join_words(NULL, NULL);

	assert_ptr_equal(joined[0], first);
	assert_ptr_equal(joined[1], second);
	assert_null(joined[2]);
	assert_null(none[0]);
	assert_string_equal(copy[1], "A=1");
	assert_ptr_not_equal(copy[1], second);
	free(joined);
	free(none);
	fg_free_words(copy);
	fg_free_words(NULL);
}

FG_TEST(a_variable_replaces_the_one_of_its_name)
{
	char **list = fg_copy_words(NULL);

	fg_variable_set(&list, fg_xstrdup("PATH_OF=/a"));
	fg_variable_set(&list, fg_xstrdup("PATH=/b"));
	fg_variable_set(&list, fg_xstrdup("HOME=/c"));
	fg_variable_set(&list, fg_xstrdup("PATH=/d"));
	assert_string_equal(list[0], "PATH_OF=/a");
	assert_string_equal(list[1], "PATH=/d");
	assert_string_equal(list[2], "HOME=/c");
	assert_null(list[3]);
	assert_string_equal(fg_variable_get(list, "PATH"), "/d");
	assert_null(fg_variable_get(list, "PAT"));
	assert_null(fg_variable_get(NULL, "PATH"));
	fg_free_words(list);
}
