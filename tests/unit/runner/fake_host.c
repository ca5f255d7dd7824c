// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/runner/fake_host.h"

#include "base/fs.h"
#include "tests/support/fg_test.h"

#include <stdlib.h>

void fg_fake_host_put(const struct fg_scratch *host, const char *path, const char *text)
{
	char *parent = fg_fs_parent(fg_scratch_path(host, path + 1));
	const int status = fg_fs_make_folders(parent, 0755, NULL);

	assert_int_equal(status, FG_OK);
	fg_scratch_write_text(host, path + 1, text);
	free(parent);
}
