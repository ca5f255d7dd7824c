// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/fs.h"
#include "profile/attach/opened.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"

#include <stdio.h>
#include <stdlib.h>

static struct fg_scratch scratch;

static int set_up(void **state)
{
	(void)state;
	fg_scratch_init(&scratch);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fg_scratch_release(&scratch);
	return 0;
}

static int find(const char *script, int64_t timeout_ns, struct fg_opened *opened)
{
	char *argv[] = {"/bin/sh", "-c", (char *)(uintptr_t)script, NULL};
	const struct fg_process_options options = {
		.argv = argv, .working_directory = scratch.path, .timeout_ns = timeout_ns};

	return fg_opened_find(&options, opened, NULL);
}

static uint64_t how(const struct fg_opened *opened, const char *name)
{
	char *folder = realpath(scratch.path, NULL);
	char *path = fg_fs_join(folder, name);
	const uint64_t *found = fg_map_get_text(&opened->paths, path);

	free(path);
	free(folder);
	return found ? *found : 0;
}

FG_TEST_IN(files_read_and_files_made_are_distinguished, set_up, tear_down)
{
	struct fg_opened opened;

	fg_scratch_write_text(&scratch, "read", "1");
	fg_scratch_write_text(&scratch, "of_a_child", "2");
	fg_scratch_write_text(&scratch, "untouched", "3");
	assert_int_equal(find("read x < read; echo > made; read x < made; (cat of_a_child); "
			      "cat not_there; exit 3",
			      60 * FG_NS_PER_S, &opened),
			 FG_OK);
	assert_int_equal(how(&opened, "read"), FG_OPENED_READ);
	assert_int_equal(how(&opened, "of_a_child"), FG_OPENED_READ);
	assert_int_equal(how(&opened, "not_there"), FG_OPENED_READ);
	assert_int_equal(how(&opened, "made"), FG_OPENED_MADE);
	assert_int_equal(how(&opened, "untouched"), 0);
	assert_true(opened.exited);
	assert_int_equal(opened.exit_code, 3);
	assert_false(opened.is_incomplete);
	fg_opened_release(&opened);
}

FG_TEST_IN(a_program_that_does_not_end_is_ended, set_up, tear_down)
{
	struct fg_opened opened;

	assert_int_equal(find("while :; do :; done", FG_NS_PER_S / 20, &opened), FG_ETIMEOUT);
	assert_int_equal(opened.paths.count, 0);
}
