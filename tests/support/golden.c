// SPDX-License-Identifier: Apache-2.0
#include "tests/support/golden.h"

#include "base/fs.h"
#include "tests/support/fg_test.h"

enum {
	MAX_GOLDEN_BYTES = 8 * 1024 * 1024
};

static void regenerate(const char *path, const struct fg_strbuf *text)
{
	struct fg_error err = {0};
	char *folder = fg_fs_parent(path);

	if (fg_fs_make_folders(folder, 0755, &err) != FG_OK ||
	    fg_fs_write_atomic(path, fg_strbuf_text(text), text->length, 0644, &err) != FG_OK)
		fail_msg("%s", err.message);
	free(folder);
}

static void fail_at_first_difference(const char *name, const char *expected, const char *found)
{
	unsigned line = 1;

	while (*expected && *expected == *found) {
		line += *expected == '\n';
		expected++;
		found++;
	}
	fail_msg("tests/golden/%s:%u: expected '%.*s', found '%.*s' (FASTGATE_REGENERATE_GOLDEN=1 "
		 "rewrites it)",
		 name, line, (int)strcspn(expected, "\n"), expected, (int)strcspn(found, "\n"),
		 found);
}

void fg_golden_check(const char *name, const struct fg_strbuf *text)
{
	char *path = fg_fs_join(FG_GOLDEN_FOLDER, name);
	struct fg_error err = {0};
	char *expected = NULL;
	size_t size = 0;

	if (getenv("FASTGATE_REGENERATE_GOLDEN")) {
		regenerate(path, text);
		free(path);
		return;
	}
	if (fg_fs_read(path, MAX_GOLDEN_BYTES, &expected, &size, &err) != FG_OK)
		fail_msg("%s", err.message);
	if (size != text->length || memcmp(expected, fg_strbuf_text(text), size) != 0)
		fail_at_first_difference(name, expected, fg_strbuf_text(text));
	free(expected);
	free(path);
}
