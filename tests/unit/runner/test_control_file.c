// SPDX-License-Identifier: Apache-2.0
/* A control file that a user changes arbitrarily, and its page, which users cannot damage. */
#include "collector/sampler/collector_env.h"
#include "runner/execute/control_file.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct fg_scratch scratch;
static struct fg_control_file *control;
static const struct fg_control_page *page; /* mapped as by a program */
static struct fg_error err;

static void open_control(void)
{
	int fd;

	assert_int_equal(fg_control_file_open(fg_scratch_path(&scratch, "control"), &control, &err),
			 FG_OK);
	fd = open(fg_control_file_page(control), O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	page = mmap(NULL, FG_CONTROL_PAGE_SIZE, PROT_READ, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(page, MAP_FAILED);
	assert_int_equal(page->magic, FG_CONTROL_MAGIC);
	(void)close(fd);
}

static int set_up(void **state)
{
	(void)state;
	fg_scratch_init(&scratch);
	control = NULL;
	page = NULL;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	if (page)
		(void)munmap((void *)(uintptr_t)page, FG_CONTROL_PAGE_SIZE);
	fg_control_file_close(control);
	fg_scratch_release(&scratch);
	return 0;
}

static void is_now(const char *text)
{
	fg_scratch_write_text(&scratch, "control", text);
	fg_control_file_look(control);
}

static void appended(const char *text)
{
	const int fd = open(fg_scratch_path(&scratch, "control"), O_WRONLY | O_APPEND | O_CLOEXEC);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	(void)close(fd);
	fg_control_file_look(control);
}

FG_TEST_IN(the_first_byte_is_the_state, set_up, tear_down)
{
	open_control();
	assert_int_equal(page->off, 0);
	is_now("0\n");
	assert_int_equal(page->off, 1);
	is_now("1\n");
	assert_int_equal(page->off, 0);
	is_now("0");
	assert_int_equal(page->off, 1);
	is_now("\x7f\x45garbage");
	assert_int_equal(page->off, 0);
	assert_int_equal(page->dumps, 0);
}

FG_TEST_IN(the_files_former_content_decides_the_beginning, set_up, tear_down)
{
	fg_scratch_write_text(&scratch, "control", "0\ndump\n");
	open_control();
	assert_int_equal(page->off, 1);
	assert_int_equal(page->dumps, 0);
	appended("dump\n");
	assert_int_equal(page->dumps, 1);
}

FG_TEST_IN(anything_but_a_file_changes_nothing, set_up, tear_down)
{
	open_control();
	const char *path = fg_scratch_path(&scratch, "control");

	is_now("0");
	is_now("");
	assert_int_equal(page->off, 1);
	assert_int_equal(unlink(path), 0);
	fg_control_file_look(control);
	assert_int_equal(page->off, 1);
	assert_int_equal(mkdir(path, 0700), 0);
	fg_control_file_look(control);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	fg_control_file_look(control);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/dev/zero", path), 0);
	fg_control_file_look(control);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(page->off, 1);
	/* a file that is created again counts */
	is_now("1");
	assert_int_equal(page->off, 0);
}

FG_TEST_IN(another_file_in_its_place_counts, set_up, tear_down)
{
	open_control();
	fg_scratch_write_text(&scratch, "new", "0\n");
	assert_int_equal(
		rename(fg_scratch_path(&scratch, "new"), fg_scratch_path(&scratch, "control")), 0);
	fg_control_file_look(control);
	assert_int_equal(page->off, 1);
}

FG_TEST_IN(each_new_line_requests_a_dump, set_up, tear_down)
{
	open_control();
	appended("dump\n"); /* after the file's initial "1" */
	assert_int_equal(page->dumps, 1);
	appended("du");
	assert_int_equal(page->dumps, 1);
	appended("mp\ndump\n");
	assert_int_equal(page->dumps, 3);
	appended("dumped\n dump\n\n");
	assert_int_equal(page->dumps, 3);
	assert_int_equal(page->off, 0);
	/* Only the state changes, so no line is added. */
	is_now("0dump\ndump\ndump\ndumped\n dump\n\n");
	assert_int_equal(page->off, 1);
	assert_int_equal(page->dumps, 3);
	/* The lines are written again, so both are new. */
	is_now("1\ndump\n");
	assert_int_equal(page->dumps, 4);
	is_now("1\n");
	appended("dump\n");
	assert_int_equal(page->dumps, 5);
	is_now("");
	appended("dump\n");
	assert_int_equal(page->dumps, 6);
}

FG_TEST_IN(only_the_beginning_of_a_large_file_is_read, set_up, tear_down)
{
	const size_t lines = 200000;
	char *text = fg_xcalloc(lines, 5);

	open_control();
	text[0] = '0';
	for (size_t i = 1; i < 5 * lines - 1; i++)
		text[i] = "dump\n"[(i - 1) % 5];
	is_now(text);
	assert_int_equal(page->off, 1);
	assert_int_equal(page->dumps, 4095 / 5);
	is_now(text);
	assert_int_equal(page->dumps, 4095 / 5);
	free(text);
}

/* The page is not the user's file, and nobody can shrink it. */
FG_TEST_IN(the_page_cannot_shrink, set_up, tear_down)
{
	open_control();
	is_now("0");
	const int fd = open(fg_control_file_page(control), O_RDWR | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_int_equal(open(fg_control_file_page(control), O_RDONLY | O_TRUNC | O_CLOEXEC), -1);
	(void)close(fd);
	assert_int_equal(page->off, 1);
}

FG_TEST_IN(anything_but_a_file_is_refused, set_up, tear_down)
{
	const char *path = fg_scratch_path(&scratch, "control");

	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(fg_control_file_open(path, &control, &err), FG_EINVAL);
	assert_non_null(strstr(err.message, "not a regular file"));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(fg_control_file_open(path, &control, &err), FG_EIO);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(symlink("elsewhere", path), 0);
	assert_int_equal(fg_control_file_open(path, &control, &err), FG_EIO);
	assert_null(control);
}

/* Changes the file in different ways, and waits for each change to be seen. */
FG_TEST_IN(a_change_is_seen_by_itself, set_up, tear_down)
{
	static const char *const texts[] = {"0", "1", "0\n", "1\n"};

	open_control();
	fg_control_file_watch(control);
	for (size_t i = 0; i < FG_ARRAY_SIZE(texts); i++) {
		fg_scratch_write_text(&scratch, i < 2 ? "control" : "new", texts[i]);
		if (i >= 2)
			assert_int_equal(rename(fg_scratch_path(&scratch, "new"),
						fg_scratch_path(&scratch, "control")),
					 0);
		while (__atomic_load_n(&page->off, __ATOMIC_ACQUIRE) != (i % 2 == 0))
			(void)sched_yield();
	}
}
