// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/fs.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct fg_scratch scratch;

static int make_scratch(void **state)
{
	(void)state;
	fg_scratch_init(&scratch);
	return 0;
}

static int drop_scratch(void **state)
{
	(void)state;
	fg_scratch_release(&scratch);
	return 0;
}

FG_TEST_IN(atomic_write_replaces_and_leaves_no_litter, make_scratch, drop_scratch)
{
	char **names = NULL;
	size_t count = 0;
	char *data = NULL;
	struct stat status;

	assert_int_equal(fg_fs_write_atomic(fg_scratch_path(&scratch, "f"), "one", 3, 0600, NULL),
			 FG_OK);
	assert_int_equal(
		fg_fs_write_atomic(fg_scratch_path(&scratch, "f"), "second", 6, 0644, NULL), FG_OK);
	data = fg_scratch_read(&scratch, "f", NULL);
	assert_string_equal(data, "second");
	free(data);
	assert_int_equal(stat(fg_scratch_path(&scratch, "f"), &status), 0);
	assert_int_equal(status.st_mode & 0777, 0644);
	assert_int_equal(fg_fs_list(scratch.path, &names, &count, NULL), FG_OK);
	assert_int_equal(count, 1);
	fg_fs_list_free(names, count);
}

FG_TEST_IN(a_result_goes_to_a_device_or_behind_a_link_and_replaces_neither, make_scratch,
	   drop_scratch)
{
	char *pipe_path = fg_xstrdup(fg_scratch_path(&scratch, "pipe"));
	char *link_path = fg_xstrdup(fg_scratch_path(&scratch, "link"));
	struct stat status;
	char got[4] = "";
	char *data = NULL;
	int fd = -1;

	assert_int_equal(mkfifo(pipe_path, 0600), 0);
	fd = open(pipe_path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fg_fs_write_result(pipe_path, "abc", 3, NULL), FG_OK);
	assert_int_equal(read(fd, got, 3), 3);
	assert_string_equal(got, "abc");
	assert_int_equal(close(fd), 0);
	assert_int_equal(lstat(pipe_path, &status), 0);
	assert_true(S_ISFIFO(status.st_mode));

	assert_int_equal(symlink("target", link_path), 0);
	assert_int_equal(fg_fs_write_result(fg_scratch_path(&scratch, "target"), "old", 3, NULL),
			 FG_OK);
	assert_int_equal(fg_fs_write_result(link_path, "new", 3, NULL), FG_OK);
	assert_int_equal(lstat(link_path, &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	data = fg_scratch_read(&scratch, "target", NULL);
	assert_string_equal(data, "new");
	free(data);
	free(pipe_path);
	free(link_path);
}

FG_TEST_IN(failed_write_names_the_file_and_keeps_the_old_one, make_scratch, drop_scratch)
{
	struct fg_error err = {0};
	char *expected =
		fg_xasprintf("cannot write %s/no/f: No such file or directory", scratch.path);

	assert_int_equal(fg_fs_write_atomic(fg_scratch_path(&scratch, "no/f"), "x", 1, 0600, &err),
			 FG_EIO);
	assert_string_equal(err.message, expected);
	free(expected);
}

FG_TEST(full_disk_is_reported)
{
	struct fg_error err = {0};
	FILE *full = fopen("/dev/full", "we");

	assert_non_null(full);
	assert_int_equal(fg_fs_write_all(fileno(full), "x", 1, &err), FG_EIO);
	assert_string_equal(err.message, "cannot write: No space left on device");
	(void)fclose(full);
}

FG_TEST_IN(reading_is_limited, make_scratch, drop_scratch)
{
	struct fg_error err = {0};
	char *data = NULL;
	size_t size = 0;

	fg_scratch_write_text(&scratch, "ten", "0123456789");
	assert_int_equal(fg_fs_read(fg_scratch_path(&scratch, "ten"), 9, &data, &size, &err),
			 FG_ELIMIT);
	assert_null(data);
	assert_int_equal(fg_fs_read(fg_scratch_path(&scratch, "ten"), 10, &data, &size, &err),
			 FG_OK);
	assert_int_equal(size, 10);
	free(data);
	assert_int_equal(fg_fs_read(fg_scratch_path(&scratch, "absent"), 10, &data, &size, &err),
			 FG_ENOENT);
}

FG_TEST_IN(only_regular_files_are_waited_for_and_read, make_scratch, drop_scratch)
{
	struct fg_error err = {0};
	char *data = NULL;
	const char *pipe_path = fg_scratch_path(&scratch, "pipe");

	assert_int_equal(mkfifo(pipe_path, 0600), 0);
	assert_int_equal(fg_fs_read_regular(pipe_path, 10, &data, NULL, &err), FG_EINVAL);
	assert_non_null(strstr(err.message, "not a regular file"));
	assert_int_equal(fg_fs_read_regular("/dev/zero", 10, &data, NULL, &err), FG_EINVAL);
	assert_int_equal(fg_fs_read_regular(scratch.path, 10, &data, NULL, &err), FG_EINVAL);
	assert_int_equal(
		fg_fs_read_regular(fg_scratch_path(&scratch, "absent"), 10, &data, NULL, &err),
		FG_ENOENT);
	assert_null(data);
	fg_scratch_write_text(&scratch, "ten", "0123456789");
	assert_int_equal(
		fg_fs_read_regular(fg_scratch_path(&scratch, "ten"), 10, &data, NULL, &err), FG_OK);
	assert_string_equal(data, "0123456789");
	free(data);
}

FG_TEST_IN(trees_are_made_and_removed_without_following_links, make_scratch, drop_scratch)
{
	struct fg_error err = {0};

	assert_int_equal(fg_fs_make_folders(fg_scratch_path(&scratch, "a/b/c"), 0755, &err), FG_OK);
	fg_scratch_write_text(&scratch, "a/b/c/f", "x");
	fg_scratch_write_text(&scratch, "outside", "x");
	assert_int_equal(fg_fs_make_folders(fg_scratch_path(&scratch, "target"), 0755, &err),
			 FG_OK);
	fg_scratch_write_text(&scratch, "target/kept", "x");
	assert_int_equal(
		symlink(fg_scratch_path(&scratch, "target"), fg_scratch_path(&scratch, "a/link")),
		0);
	assert_int_equal(fg_fs_remove_tree(fg_scratch_path(&scratch, "a"), &err), FG_OK);
	assert_false(fg_fs_exists(fg_scratch_path(&scratch, "a")));
	assert_true(fg_fs_exists(fg_scratch_path(&scratch, "target/kept")));
	assert_int_equal(fg_fs_remove_tree(fg_scratch_path(&scratch, "a"), &err), FG_OK);
	assert_int_equal(fg_fs_make_folders(fg_scratch_path(&scratch, "outside/x"), 0755, &err),
			 FG_EIO);
}

FG_TEST_IN(files_of_a_folder_are_listed_newest_first, make_scratch, drop_scratch)
{
	static const struct timespec hours[] = {
		{.tv_sec = 7200}, {.tv_sec = 10800}, {.tv_sec = 3600}};
	static const char *const names[] = {"b", "c", "a"};
	struct fg_fs_file *files = NULL;
	size_t count = 0;

	assert_int_equal(fg_fs_newest(fg_scratch_path(&scratch, "absent"), &files), 0);
	for (size_t i = 0; i < FG_ARRAY_SIZE(names); i++) {
		const struct timespec both[] = {hours[i], hours[i]};
		const char *path = fg_scratch_path(&scratch, names[i]);

		assert_int_equal(fg_fs_write_atomic(path, "", 0, 0600, NULL), FG_OK);
		assert_int_equal(utimensat(AT_FDCWD, path, both, 0), 0);
	}
	assert_int_equal(fg_fs_make_folders(fg_scratch_path(&scratch, "folder"), 0700, NULL),
			 FG_OK);
	count = fg_fs_newest(fg_scratch_path(&scratch, "."), &files);
	assert_int_equal(count, 3);
	assert_string_equal(fg_fs_base_name(files[0].path), "c");
	assert_string_equal(fg_fs_base_name(files[1].path), "b");
	assert_string_equal(fg_fs_base_name(files[2].path), "a");
	assert_true(files[0].written_ns == 10800 * FG_NS_PER_S);
	fg_fs_files_free(files, count);
}

FG_TEST(names_are_taken_apart_and_joined)
{
	char *text = NULL;

	assert_string_equal(fg_fs_rest_below("/a", "/a/b/c"), "b/c");
	assert_string_equal(fg_fs_rest_below("/a/", "/a/b"), "b");
	assert_null(fg_fs_rest_below("/a", "/ab/c"));
	assert_null(fg_fs_rest_below("/a", "/a"));
	assert_null(fg_fs_rest_below(NULL, "/a"));
	assert_string_equal(fg_fs_base_name("/a/b.c"), "b.c");
	text = fg_fs_parent("/a/b.c");
	assert_string_equal(text, "/a");
	free(text);
	text = fg_fs_parent("b.c");
	assert_string_equal(text, ".");
	free(text);
	text = fg_fs_join("/a", "b");
	assert_string_equal(text, "/a/b");
	free(text);
	text = fg_fs_join("/a/", "/b");
	assert_string_equal(text, "/b");
	free(text);
}

FG_TEST(programs_are_found_where_a_shell_finds_them)
{
	char *sh = fg_fs_find_program("sh");

	assert_non_null(sh);
	assert_int_equal(sh[0], '/');
	free(sh);
	assert_null(fg_fs_find_program("no-such-program-here"));
	assert_null(fg_fs_find_program("/etc/passwd"));
	assert_null(fg_fs_find_program(""));
}

FG_TEST_IN(a_file_is_in_use_while_somebody_else_can_write_it, make_scratch, drop_scratch)
{
	const char *path = fg_scratch_path(&scratch, "used");
	const int ours = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	const int other = open(path, O_RDWR | O_CLOEXEC);
	void *at = NULL;

	assert_true(ours >= 0 && other >= 0);
	assert_int_equal(ftruncate(ours, 4096), 0);
	assert_true(fg_fs_is_in_use(ours));
	at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, other, 0);
	assert_ptr_not_equal(at, MAP_FAILED);
	(void)close(other);
	assert_true(fg_fs_is_in_use(ours));
	(void)munmap(at, 4096);
	assert_false(fg_fs_is_in_use(ours));
	assert_false(fg_fs_is_in_use(ours));
	(void)close(ours);
}
