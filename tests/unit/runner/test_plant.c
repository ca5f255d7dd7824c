// SPDX-License-Identifier: Apache-2.0
/* Programs that the installed compiler links again with a slowdown. */
#include "base/fs.h"
#include "runner/build/link_record.h"
#include "runner/build/plant.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"

#include <stdlib.h>
#include <string.h>

static struct fg_scratch scratch;
static char *folder;
static struct fg_plant plant;

/* Has an inlined function, and a static function whose first instructions refer to data. */
static const char source[] =
	"#include <stdio.h>\n"
	"static int total = 3;\n"
	"static inline int twice(int n) { return 2 * n; }\n"
	"__attribute__((noinline)) static int add(int n) { total += twice(n); return total; }\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	int sum = 0;\n"
	"	(void)argv;\n"
	"	for (int i = 0; i < 1000; i++)\n"
	"		sum ^= add(i + argc);\n"
	"	printf(\"%d %d\\n\", sum, total);\n"
	"	return 0;\n"
	"}\n";

static char *sh(const char *script)
{
	char *argv[] = {"/bin/sh", "-ec", (char *)(uintptr_t)script, NULL};

	return fg_scratch_run(argv, scratch.path);
}

static int set_up(void **state)
{
	char *variable = NULL;
	char *script = NULL;

	(void)state;
	(void)unsetenv("COMPILER_PATH");
	fg_scratch_init(&scratch);
	folder = realpath(scratch.path, NULL);
	fg_scratch_write_text(&scratch, "main.c", source);
	assert_int_equal(fg_link_record_begin(folder, &variable, NULL), FG_OK);
	script = fg_xasprintf("env '%s' cc -g -O2 -o program main.c", variable);
	free(sh(script));
	free(script);
	free(variable);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(folder);
	fg_scratch_release(&scratch);
	return 0;
}

static void open_plant(void)
{
	plant = (struct fg_plant){0};
	assert_int_equal(fg_plant_open(&plant, folder, "program", NULL), FG_OK);
}

static void close_plant(void)
{
	assert_int_equal(fg_plant_close(&plant, NULL), FG_OK);
}

static void set_plant(const char *function, uint32_t iterations)
{
	const struct fg_planted planted = {.function = function, .iterations = iterations};
	struct fg_error err = {0};

	open_plant();
	if (fg_plant_set(&plant, &planted, &err) != FG_OK)
		fail_msg("%s", err.message);
}

/* Plants a slowdown, and compares the output of a script with the expected output. */
static void check_planted(const char *function, uint32_t iterations, const char *script,
			  const char *expected)
{
	char *text = NULL;

	set_plant(function, iterations);
	text = sh(script);
	assert_string_equal(text, expected);
	close_plant();
	free(text);
}

FG_TEST_IN(planted_program_prints_the_same, set_up, tear_down)
{
	char *before = sh("./program");

	check_planted("add", 100, "./program", before);
	free(before);
}

/* Each call begins with the jump; the loop has its own count, and the function's name. */
FG_TEST_IN(function_jumps_to_a_loop_of_its_name, set_up, tear_down)
{
	check_planted("add", 4321,
		      "objdump -d --no-show-raw-insn program >all; "
		      "grep -c '<add>:' all; grep -c 'loop ' all; grep -c '0x10e1,%ecx' all; "
		      "grep -c 'jmp .*<add>' all; nm program | grep -c ' [tT] add$'",
		      "2\n1\n1\n1\n2");
}

/* The same code must be recognised in every layout, so it must not depend on the object's name. */
FG_TEST_IN(loop_belongs_to_a_source_of_its_own, set_up, tear_down)
{
	check_planted("add", 10,
		      "nm -a program | grep -c ' a fastgate-plant$'; "
		      "nm -a program | grep -c ' a plant-0.o$' || true",
		      "1\n0");
}

FG_TEST_IN(neutral_link_changes_no_function, set_up, tear_down)
{
	check_planted("", 0,
		      "./program >/dev/null; objdump -d --no-show-raw-insn program >all; "
		      "grep -c '<fastgate_neutral>:' all; "
		      "grep -c 'jmp .*<fastgate_neutral>' all || true",
		      "1\n0");
}

FG_TEST_IN(closing_puts_the_program_back, set_up, tear_down)
{
	char *text = NULL;

	free(sh("cp program kept"));
	set_plant("add", 7);
	close_plant();
	text = sh("cmp program kept && ls plant unplanted 2>/dev/null || true");
	assert_string_equal(text, "");
	free(text);
}

FG_TEST_IN(a_function_that_cannot_be_planted_is_named, set_up, tear_down)
{
	const struct fg_planted planted = {.function = "twice", .iterations = 1};
	struct fg_error err = {0};

	open_plant();
	assert_int_equal(fg_plant_set(&plant, &planted, &err), FG_EUNSUPPORTED);
	assert_string_equal(err.message, "the program has no function 'twice'");
	close_plant();
	assert_int_equal(fg_plant_open(&plant, folder, "other", &err), FG_ENOENT);
	assert_string_equal(err.message, "'other' was not linked during the build");
}
