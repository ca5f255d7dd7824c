// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "perfdb/archives/archives.h"
#include "tests/support/fg_test.h"

#define OWNER  "0123456789abcdef"
#define DIGEST "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static void names_are_new_each_time_and_know_when_they_were_made(void **state)
{
	const int64_t before_ns = fg_clock_wall_ns() / FG_NS_PER_S * FG_NS_PER_S;
	char names[2][FG_ARCHIVE_OBJECT_SIZE];
	int64_t made_ns = 0;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(fg_archives_name(OWNER, DIGEST, names[i], NULL), FG_OK);
		assert_true(fg_archives_is_object(OWNER, names[i], &made_ns));
		assert_true(made_ns >= before_ns && made_ns <= fg_clock_wall_ns());
	}
	assert_string_not_equal(names[0], names[1]);
}

static void what_was_written_beside_belongs_to_the_owner_too(void **state)
{
	int64_t made_ns = 0;

	(void)state;
	assert_true(fg_archives_is_object(OWNER, OWNER "/" DIGEST "-0000000010-89abcdef.Xy12zZ",
					  &made_ns));
	assert_int_equal(made_ns, 16 * FG_NS_PER_S);
}

static void other_names_are_nobodys(void **state)
{
	static const char *const others[] = {
		"",
		OWNER,
		OWNER "/README",
		OWNER "/" DIGEST,
		"fedcba9876543210/" DIGEST "-0000000010-89abcdef",
		OWNER "-" DIGEST "-0000000010-89abcdef",
		OWNER "/" DIGEST "_0000000010-89abcdef",
		OWNER "/" DIGEST "-0000000010_89abcdef",
		OWNER "/" DIGEST "-000000001g-89abcdef",
		OWNER "/" DIGEST "-0000000010-89abcdeg",
		OWNER "/" DIGEST "-0000000010-89abcde",
		OWNER "/" DIGEST "-0000000010-89abcdef0",
		OWNER "/" DIGEST "-0000000010-89abcdef/Xy12zZ",
		OWNER "/" DIGEST "-0000000010-89abcdef.Xy12zZ0",
	};
	int64_t made_ns = 0;

	(void)state;
	for (size_t i = 0; i < FG_ARRAY_SIZE(others); i++) {
		if (fg_archives_is_object(OWNER, others[i], &made_ns))
			fail_msg("'%s' would be removed", others[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_new_each_time_and_know_when_they_were_made),
		cmocka_unit_test(what_was_written_beside_belongs_to_the_owner_too),
		cmocka_unit_test(other_names_are_nobodys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
