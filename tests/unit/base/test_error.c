// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"
#include "base/error.h"
#include "tests/support/fg_test.h"

#include <errno.h>

FG_TEST(message_and_code_are_kept)
{
	struct fg_error err = {0};

	assert_int_equal(fg_error_set(&err, FG_EPARSE, "%s:%d: found %s", "a.yml", 3, "x"),
			 FG_EPARSE);
	assert_int_equal(err.code, FG_EPARSE);
	assert_string_equal(err.message, "a.yml:3: found x");
}

FG_TEST(errno_text_is_added_and_errno_kept)
{
	struct fg_error err = {0};

	errno = ENOENT;
	assert_int_equal(fg_error_errno(&err, FG_EIO, "open '%s'", "f"), FG_EIO);
	assert_string_equal(err.message, "open 'f': No such file or directory");
	assert_int_equal(errno, ENOENT);
}

FG_TEST(null_error_is_allowed)
{
	assert_int_equal(fg_error_set(NULL, FG_ELIMIT, "x"), FG_ELIMIT);
	fg_error_prefix(NULL, "y");
}

FG_TEST(prefix_goes_in_front_and_overlong_text_is_cut)
{
	struct fg_error err = {0};
	char big[FG_ERROR_MESSAGE_SIZE * 2];

	(void)fg_error_set(&err, FG_ECHILD, "exited with 3");
	fg_error_prefix(&err, "benchmark '%s'", "parse");
	assert_string_equal(err.message, "benchmark 'parse': exited with 3");
	memset(big, 'a', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	fg_error_prefix(&err, "%s", big);
	assert_int_equal(strlen(err.message), FG_ERROR_MESSAGE_SIZE - 1);
	assert_int_equal(err.message[0], 'a');
}
