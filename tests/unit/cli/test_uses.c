// SPDX-License-Identifier: Apache-2.0
/* Tests how `init` reads calls of a program from a project's tests and documentation. */
#include "cli/init/uses.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"

#include <stdlib.h>
#include <string.h>

static struct fg_scratch scratch;
static struct fg_arena arena;

static void sh(const char *script)
{
	char *argv[] = {"/bin/sh", "-ec", (char *)(uintptr_t)script, NULL};

	free(fg_scratch_run(argv, scratch.path));
}

static int set_up(void **state)
{
	(void)state;
	fg_scratch_init(&scratch);
	sh("git init -q repo; mkdir -p repo/tests/data repo/src; echo '<a>' >repo/tests/data/a.xml; "
	   "seq 100 >repo/tests/data/long.xml");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fg_arena_release(&arena);
	fg_scratch_release(&scratch);
	return 0;
}

/* Finds the calls in a script that has only this line. */
static struct fg_project_uses calls_in(const char *path, const char *line)
{
	const struct fg_project_program program = {.path = "src/enc"};
	struct fg_project_uses uses;

	(void)setenv("LINE", line, 1);
	(void)setenv("SCRIPT", path, 1);
	sh("cd repo; printf '%s\\n' \"$LINE\" >\"$SCRIPT\"; git add .");
	fg_project_uses_find(fg_scratch_path(&scratch, "repo"), &arena, &program, &uses);
	return uses;
}

static void is_read_as(const char *line, const char *before, const char *input, const char *after,
		       bool is_argument)
{
	const struct fg_project_uses uses = calls_in("tests/run.sh", line);

	if (uses.count != 1)
		fail_msg("%s: %zu calls", line, uses.count);
	assert_string_equal(uses.items[0].before, before);
	assert_string_equal(uses.items[0].after, after);
	assert_string_equal(uses.items[0].input ? uses.items[0].input : "any",
			    input ? input : "any");
	assert_int_equal(uses.items[0].is_argument, is_argument);
	assert_int_equal(uses.items[0].wants_file, !input);
}

FG_TEST_IN(a_file_is_found_from_the_script_the_root_and_the_sources, set_up, tear_down)
{
	is_read_as("../src/enc -q data/a.xml", "-q", "tests/data/a.xml", "", true);
	is_read_as("$ENC -q tests/data/a.xml || exit 1", "-q", "tests/data/a.xml", "", true);
	is_read_as("\t\"$(top_builddir)/src/enc$(EXEEXT)\" \"$srcdir/data/a.xml\" -v; then", "",
		   "tests/data/a.xml", "-v", true);
	is_read_as("if ./enc --level 9 <data/a.xml >out 2>&1; then", "--level 9",
		   "tests/data/a.xml", "", false);
	is_read_as("add_test(NAME one COMMAND enc data/a.xml)", "", "tests/data/a.xml", "", true);
}

FG_TEST_IN(any_file_is_meant_by_a_variable_and_a_result_gets_a_name, set_up, tear_down)
{
	is_read_as("for f in *; do enc -x $f; done", "-x", NULL, "", true);
	is_read_as("enc -x < $f | cmp - good", "-x", NULL, "", false);
	is_read_as("enc convert data/a.xml out.bin", "convert", "tests/data/a.xml",
		   FG_PROJECT_OUTPUT_NAME, true);
	is_read_as("enc -o out.bin data/a.xml", "-o " FG_PROJECT_OUTPUT_NAME, "tests/data/a.xml",
		   "", true);
}

FG_TEST_IN(prose_devices_and_hosts_are_not_calls, set_up, tear_down)
{
	static const char *const lines[] = {
		"the enc program reads a file of its own",
		"enc /dev/sda",
		"enc -d /dev/sda",
		"enc www.example.org",
		"encoder data/a.xml",
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(lines); i++) {
		const struct fg_project_uses uses = calls_in("tests/run.sh", lines[i]);

		if (uses.count != 0)
			fail_msg("%s: %s %s", lines[i], uses.items[0].before, uses.items[0].after);
	}
}

FG_TEST_IN(the_largest_input_comes_first_and_tests_before_documents, set_up, tear_down)
{
	struct fg_project_uses uses;

	uses = calls_in("README.md", "enc -r tests/data/a.xml");
	uses = calls_in("tests/run.sh", "enc data/a.xml\nenc data/long.xml\nenc data/a.xml");
	assert_int_equal(uses.count, 2);
	assert_int_equal(uses.calls, 3);
	assert_string_equal(uses.items[0].input, "tests/data/long.xml");
	uses = calls_in("tests/run.sh", "true");
	assert_int_equal(uses.count, 1);
	assert_string_equal(uses.items[0].before, "-r");
}
