// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "runner/build/link_record.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"

#include <stdlib.h>
#include <string.h>

static struct fg_scratch scratch;
static char *record; /* folder of the records */
static struct fg_links links;

static void run(char *const *argv)
{
	free(fg_scratch_run(argv, scratch.path));
}

static void sh(const char *script)
{
	char *argv[] = {"/bin/sh", "-ec", (char *)(uintptr_t)script, NULL};

	run(argv);
}

/* Like sh(), but records links. */
static void build(const char *script)
{
	struct fg_error err = {0};
	char *variable = NULL;

	assert_int_equal(fg_link_record_begin(record, &variable, &err), FG_OK);
	run((char *[]){"/usr/bin/env", variable, "/bin/sh", "-ec", (char *)(uintptr_t)script,
		       NULL});
	free(variable);
}

static int set_up(void **state)
{
	(void)state;
	(void)unsetenv("COMPILER_PATH");
	fg_scratch_init(&scratch);
	record = fg_fs_join(scratch.path, "record of links");
	sh("echo 'int main(void) { return 0; }' >main.c; echo 'int f(void) { return 1; }' >f.c");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fg_links_release(&links);
	free(record);
	fg_scratch_release(&scratch);
	return 0;
}

static void read_links(size_t count)
{
	struct fg_error err = {0};

	if (fg_links_read(record, &links, &err) != FG_OK)
		fail_msg("%s", err.message);
	assert_int_equal(links.count, count);
}

FG_TEST_IN(a_program_is_linked_again_after_its_objects_are_gone, set_up, tear_down)
{
	struct fg_link *link = NULL;
	char *path = NULL;
	char **argv = NULL;

	build("mkdir 'a folder'; cc -o 'a folder/my program' main.c; cp 'a folder/my program' first");
	read_links(1);
	link = &links.items[0];
	assert_string_equal(link->output, "a folder/my program");
	assert_null(link->soname);
	path = fg_link_output_path(link);
	assert_true(fg_fs_exists(path));
	sh("rm 'a folder/my program'");
	argv = fg_xcalloc(link->word_count + 2, sizeof(argv[0]));
	argv[0] = link->linker;
	memcpy(argv + 1, link->words, link->word_count * sizeof(argv[0]));
	run(argv);
	sh("cmp first 'a folder/my program'");
	free(argv);
	free(path);
}

FG_TEST_IN(libraries_are_listed_with_their_names_newest_first, set_up, tear_down)
{
	build("cc -shared -fPIC -Wl,-soname,libf.so.1 -o libf.so f.c");
	sh("touch -d 2001-01-01 'record of links'/links/*");
	build("cc -shared -fPIC -Wl,-soname=libg.so.1 -o libg.so f.c");
	read_links(2);
	assert_string_equal(links.items[0].output, "libg.so");
	assert_string_equal(links.items[0].soname, "libg.so.1");
	assert_string_equal(links.items[1].output, "libf.so");
	assert_string_equal(links.items[1].soname, "libf.so.1");
}

FG_TEST_IN(the_last_link_of_an_output_is_the_one_kept, set_up, tear_down)
{
	bool is_stripped = false;

	build("cc -o program main.c; cc -s -o program main.c");
	read_links(1);
	for (size_t i = 0; i < links.items[0].word_count; i++)
		is_stripped = is_stripped || strcmp(links.items[0].words[i], "-s") == 0;
	assert_true(is_stripped);
}

FG_TEST_IN(a_note_that_cannot_be_written_fails_no_build, set_up, tear_down)
{
	struct fg_error err = {0};

	build("rmdir 'record of links/links'; echo >'record of links/links'; cc -o program main.c;"
	      "./program");
	assert_int_equal(fg_links_read(record, &links, &err), FG_ENOENT);
}

FG_TEST_IN(damaged_notes_are_passed_over, set_up, tear_down)
{
	build("cc -o program main.c");
	sh("cd 'record of links/links'; : >empty; printf '/folder\\0ld\\0' >short;"
	   "printf '/folder\\0ld\\0\\0\\0-o\\0' >nameless; mkdir folder");
	read_links(1);
	assert_string_equal(links.items[0].output, "program");
}

FG_TEST_IN(a_build_without_a_link_is_reported, set_up, tear_down)
{
	struct fg_error err = {0};

	build("cc -c main.c");
	assert_int_equal(fg_links_read(record, &links, &err), FG_ENOENT);
	assert_non_null(strstr(err.message, "no link was seen"));
	assert_int_equal(links.count, 0);
}

FG_TEST_IN(folders_of_the_user_s_compiler_are_still_searched, set_up, tear_down)
{
	struct fg_error err = {0};
	char *variable = NULL;

	(void)setenv("COMPILER_PATH", "/opt/tools", 1);
	assert_int_equal(fg_link_record_begin(record, &variable, &err), FG_OK);
	assert_non_null(strstr(variable, "record of links/linker:/opt/tools"));
	free(variable);
}
