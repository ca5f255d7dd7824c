// SPDX-License-Identifier: Apache-2.0
#include "base/beneath.h"
#include "base/fs.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"

#include <unistd.h>

static struct fg_scratch scratch;

static int make_scratch(void **state)
{
	(void)state;
	fg_scratch_init(&scratch);
	assert_int_equal(fg_fs_make_folders(fg_scratch_path(&scratch, "top/folder"), 0755, NULL),
			 FG_OK);
	assert_int_equal(fg_fs_make_folders(fg_scratch_path(&scratch, "outside"), 0755, NULL),
			 FG_OK);
	assert_int_equal(symlink("../outside", fg_scratch_path(&scratch, "top/link")), 0);
	assert_int_equal(symlink("../outside/new", fg_scratch_path(&scratch, "top/file")), 0);
	assert_int_equal(symlink("folder", fg_scratch_path(&scratch, "top/inside")), 0);
	return 0;
}

static int drop_scratch(void **state)
{
	(void)state;
	fg_scratch_release(&scratch);
	return 0;
}

static int write_to(const char *path, struct fg_error *err)
{
	return fg_beneath_write(fg_scratch_path(&scratch, "top"), path, "text", 4, err);
}

FG_TEST_IN(file_below_is_written_with_its_folders, make_scratch, drop_scratch)
{
	static const char *const paths[] = {"one", "a/b/one", "./folder//one", "one"};
	char *data = NULL;

	for (size_t i = 0; i < FG_ARRAY_SIZE(paths); i++) {
		struct fg_error err = {0};

		assert_int_equal(write_to(paths[i], &err), FG_OK);
		assert_int_equal(fg_beneath_check(fg_scratch_path(&scratch, "top"), paths[i], &err),
				 FG_OK);
	}
	data = fg_scratch_read(&scratch, "top/a/b/one", NULL);
	assert_string_equal(data, "text");
	free(data);
}

FG_TEST_IN(path_that_leads_elsewhere_is_refused, make_scratch, drop_scratch)
{
	static const char *const paths[] = {
		"/tmp/one", "../one", "folder/../../one", "..", ".git", ".git/hooks", "a/.GIT/one",
		"link/one", "file",   "inside/one",       "",   ".",    "folder/.",   "folder"};

	for (size_t i = 0; i < FG_ARRAY_SIZE(paths); i++) {
		struct fg_error err = {0};

		assert_int_equal(write_to(paths[i], &err), FG_EINVAL);
		assert_int_equal(fg_beneath_check(fg_scratch_path(&scratch, "top"), paths[i], &err),
				 FG_EINVAL);
		assert_non_null(strstr(err.message, paths[i]));
	}
	assert_false(fg_fs_exists(fg_scratch_path(&scratch, "outside/new")));
	assert_false(fg_fs_exists(fg_scratch_path(&scratch, "outside/one")));
	assert_false(fg_fs_exists(fg_scratch_path(&scratch, "top/folder/one")));
}

FG_TEST_IN(check_makes_nothing, make_scratch, drop_scratch)
{
	struct fg_error err = {0};

	assert_int_equal(fg_beneath_check(fg_scratch_path(&scratch, "top"), "x/y/z", &err), FG_OK);
	assert_false(fg_fs_exists(fg_scratch_path(&scratch, "top/x")));
}
