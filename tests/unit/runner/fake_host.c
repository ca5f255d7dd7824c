// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/runner/fake_host.h"

#include "base/fs.h"
#include "tests/support/fg_test.h"

#include <stdlib.h>

struct fg_scratch fg_fake_host;

int fg_fake_host_set_up(const struct fg_fake_file *files)
{
	fg_scratch_init(&fg_fake_host);
	for (; files->path; files++)
		fg_fake_host_put(files->path, files->text);
	return 0;
}

int fg_fake_host_tear_down(void **state)
{
	(void)state;
	fg_scratch_release(&fg_fake_host);
	return 0;
}

void fg_fake_host_put(const char *path, const char *text)
{
	char *parent = fg_fs_parent(fg_scratch_path(&fg_fake_host, path + 1));
	const int status = fg_fs_make_folders(parent, 0755, NULL);

	assert_int_equal(status, FG_OK);
	fg_scratch_write_text(&fg_fake_host, path + 1, text);
	free(parent);
}
