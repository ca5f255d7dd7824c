// SPDX-License-Identifier: Apache-2.0
/* Each reason to measure a benchmark, and changes that are not a reason. */
#include "base/fs.h"
#include "runner/facts/affected.h"
#include "runner/facts/code_facts.h"
#include "runner/facts/executed.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *argv[] = {"./program", "data.txt", NULL};
static const struct fg_command command = {.text = "./program data.txt", .argv = argv, .argc = 2};

static struct fg_scratch scratch;
static struct fg_target targets[FG_ARM_COUNT];
static struct fg_benchmark benchmark;
static struct fg_build_facts builds[FG_ARM_COUNT];

static const char *in_side(int arm, const char *name)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "side%d/%s", arm, name);
	return fg_scratch_path(&scratch, path);
}

static void put_program(int arm, const char *variant)
{
	char from[4096];

	(void)snprintf(from, sizeof(from), FG_TEST_CODE_FOLDER "/code_%s", variant);
	assert_int_equal(fg_fs_copy(from, in_side(arm, "program"), 0755, NULL), FG_OK);
}

static int set_up(void **state)
{
	(void)state;
	fg_scratch_init(&scratch);
	benchmark = (struct fg_benchmark){.name = "b", .command = command};
	for (int arm = 0; arm < FG_ARM_COUNT; arm++) {
		assert_int_equal(fg_fs_make_folders(in_side(arm, "."), 0755, NULL), FG_OK);
		put_program(arm, "base");
		fg_target_init(&targets[arm], (enum fg_arm)arm, &benchmark, in_side(arm, "."));
		fg_target_resolve(&targets[arm]);
	}
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	for (int arm = 0; arm < FG_ARM_COUNT; arm++)
		fg_target_release(&targets[arm]);
	for (int arm = 0; arm < FG_ARM_COUNT; arm++)
		fg_build_facts_release(&builds[arm]);
	fg_scratch_release(&scratch);
	return 0;
}

/*
 * Makes a list with these executed functions of the baseline's program; spaces separate the names.
 */
static void execute(struct fg_executed *executed, const char *functions)
{
	char digest[FG_CODE_FACT_SIZE];
	struct fg_executed_file *file = NULL;
	char names[256];
	char *rest = NULL;

	*executed = (struct fg_executed){0};
	assert_true(fg_code_facts_digest(&targets[FG_ARM_BASELINE],
					 targets[FG_ARM_BASELINE].program, digest));
	file = fg_executed_add_file(executed, "program", true, digest);
	(void)snprintf(names, sizeof(names), "%s", functions);
	for (char *name = strtok_r(names, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
		fg_executed_add_function(file, name);
}

static void check_code(const struct fg_executed *executed, const char *text, const char *symbol)
{
	struct fg_affected *affected = fg_affected_new();
	struct fg_affected_reason reason;

	fg_affected_by_code(affected, targets, executed, &reason);
	/* A list that was recorded from something else is stale. */
	assert_int_equal(reason.is_stale, text && (strstr(text, "were recorded") ||
						   strstr(text, "the project changed")));
	if (!text)
		assert_null(reason.text);
	else
		assert_string_equal(reason.text, text);
	if (!symbol)
		assert_null(reason.symbol);
	else
		assert_string_equal(reason.symbol, symbol);
	fg_affected_reason_release(&reason);
	fg_affected_free(affected);
}

FG_TEST_IN(executed_code_decides, set_up, tear_down)
{
	static const struct {
		const char *variant;
		const char *executed;
		const char *text; /* NULL: the benchmark is left out */
		const char *symbol;
	} rows[] = {
		{.variant = "base", .executed = "main limited"},
		{.variant = "padded", .executed = "main limited by_switch by_table"},
		{.variant = "unused", .executed = "main limited by_switch"},
		{.variant = "limit", .executed = "main outer by_switch"},
		{.variant = "limit",
		 .executed = "main outer limited",
		 .text = "the benchmark executes changed code",
		 .symbol = "limited"},
		{.variant = "scale", .executed = "main limited"},
		{.variant = "scale",
		 .executed = "main scaled",
		 .text = "the benchmark executes changed code",
		 .symbol = "scaled"},
		{.variant = "greeting", .executed = "limited"},
		{.variant = "greeting",
		 .executed = "main limited",
		 .text = "the benchmark executes changed code",
		 .symbol = "main"},
		/* The cold part stands for the whole function. */
		{.variant = "case",
		 .executed = "main by_switch.cold",
		 .text = "the benchmark executes changed code",
		 .symbol = "by_switch"},
		/* Data may be read by any code that has its address. */
		{.variant = "table",
		 .executed = "main",
		 .text = "data changed in program",
		 .symbol = "table"},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		struct fg_executed executed;

		put_program(FG_ARM_CANDIDATE, rows[i].variant);
		execute(&executed, rows[i].executed);
		check_code(&executed, rows[i].text, rows[i].symbol);
		fg_executed_release(&executed);
	}
}

FG_TEST_IN(unknown_code_is_measured, set_up, tear_down)
{
	struct fg_executed executed;

	put_program(FG_ARM_CANDIDATE, "limit");
	execute(&executed, "main");
	fg_executed_find(&executed, "program")->is_whole = true;
	check_code(&executed, "program changed, and some code that runs in it has no symbol", NULL);
	fg_executed_doubt(&executed, "the benchmark starts sh, which is not part of this project");
	check_code(&executed, "the benchmark starts sh, which is not part of this project", NULL);
	fg_executed_release(&executed);

	execute(&executed, "main");
	put_program(FG_ARM_BASELINE, "scale");
	check_code(&executed, "program is not the build whose functions were recorded", NULL);
	put_program(FG_ARM_BASELINE, "base");
	assert_int_equal(remove(in_side(FG_ARM_CANDIDATE, "program")), 0);
	check_code(&executed, "the functions of program cannot be distinguished", NULL);
	put_program(FG_ARM_CANDIDATE, "limit");
	check_code(&executed, NULL, NULL);
	(void)fg_executed_add_file(&executed, FG_TEST_CODE_FOLDER "/code_base", false, "0123");
	check_code(&executed,
		   FG_TEST_CODE_FOLDER "/code_base changed after the functions were recorded",
		   NULL);
	fg_executed_release(&executed);
}

static void check_build(const char *text)
{
	struct fg_affected_reason reason;

	fg_affected_by_build(targets, builds, &reason);
	if (!text)
		assert_null(reason.text);
	else
		assert_string_equal(reason.text, text);
	fg_affected_reason_release(&reason);
}

FG_TEST_IN(its_kind_may_hide_the_running_code, set_up, tear_down)
{
	static char *others[] = {"./program", "other.txt", NULL};
	const struct fg_command other = {.text = "other", .argv = others, .argc = 2};

	check_build(NULL);
	benchmark.prepare = other;
	check_build("files that the benchmark's `prepare` makes are not tracked");
	benchmark.prepare.argc = 0;
	benchmark.harness = FG_HARNESS_CATCH2;
	check_build("a harness decides for itself what it executes");
	benchmark.harness = FG_HARNESS_NONE;
	targets[FG_ARM_BASELINE].command = &other;
	check_build("each side has its own command");
	targets[FG_ARM_BASELINE].command = &benchmark.command;
	targets[FG_ARM_CANDIDATE].is_wrapper = true;
	check_build("the program that finally runs is unknown: program");
	targets[FG_ARM_CANDIDATE].is_wrapper = false;
	targets[FG_ARM_BASELINE].command = NULL;
	check_build("the benchmark is not on both sides");
	targets[FG_ARM_BASELINE].command = &benchmark.command;
}

FG_TEST_IN(another_library_counts, set_up, tear_down)
{
	static const struct {
		const char *key;
		const char *baseline;
		const char *candidate;
		const char *text;
	} rows[] = {
		{"build.library.libc.so.6", "1", "1", NULL},
		{"build.library.libc.so.6", "1", "2", "another library: libc.so.6"},
		{"build.library.libm.so.6", NULL, "2", "another library: libm.so.6"},
		{"build.library.libm.so.6", "1", NULL, "another library: libm.so.6"},
		/* Functions of the project's own library are checked one by one. */
		{"build.library.libown.so", "1", "2", NULL},
		{"build.library.libown.so", NULL, "2", "another library: libown.so"},
		{"build.flags", "-O2", "-O2 -g", NULL},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const char *values[] = {rows[i].baseline, rows[i].candidate};

		for (int arm = 0; arm < FG_ARM_COUNT; arm++) {
			fg_build_facts_release(&builds[arm]);
			if (!values[arm])
				continue;
			fg_build_facts_set(&builds[arm], rows[i].key, values[arm]);
			if (strcmp(rows[i].key, "build.library.libown.so") == 0)
				fg_build_facts_set(&builds[arm], "build.own.libown.so", "yes");
		}
		check_build(rows[i].text);
	}
}

static void write_both(const char *name, const char *baseline, const char *candidate)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "side0/%s", name);
	fg_scratch_write_text(&scratch, path, baseline);
	(void)snprintf(path, sizeof(path), "side1/%s", name);
	fg_scratch_write_text(&scratch, path, candidate);
}

static void read_in_baseline(struct fg_executed *executed, const char *name)
{
	char *path = fg_fs_join(targets[FG_ARM_BASELINE].root, name);

	fg_executed_take_input(&targets[FG_ARM_BASELINE], path, executed);
	free(path);
}

FG_TEST_IN(only_files_that_it_reads_count, set_up, tear_down)
{
	struct fg_executed executed;

	write_both("data.txt", "1", "1");
	write_both("other.txt", "1", "2");
	execute(&executed, "main");
	read_in_baseline(&executed, "data.txt");
	read_in_baseline(&executed, "not-there.txt");
	fg_executed_take_input(&targets[FG_ARM_BASELINE], "/proc/self/maps", &executed);
	fg_executed_take_input(&targets[FG_ARM_BASELINE], "/dev/zero", &executed);
	fg_executed_take_input(&targets[FG_ARM_BASELINE], "/dev/shm/not-there", &executed);
	/* The program is not an input: its functions are checked. */
	read_in_baseline(&executed, "program");
	read_in_baseline(&executed, "../side0/program");
	assert_int_equal(executed.input_count, 3);
	check_code(&executed, NULL, NULL);
	write_both("data.txt", "1", "2");
	check_code(&executed, "a file that the benchmark reads changed: data.txt", NULL);
	write_both("data.txt", "2", "2");
	check_code(&executed, "data.txt changed after the functions were recorded", NULL);
	write_both("data.txt", "1", "1");
	fg_scratch_write_text(&scratch, "side1/not-there.txt", "now");
	check_code(&executed, "a file that the benchmark reads changed: not-there.txt", NULL);
	fg_executed_release(&executed);
}

FG_TEST_IN(without_its_inputs_it_is_measured, set_up, tear_down)
{
	struct fg_executed executed;

	execute(&executed, "main");
	fg_executed_doubt(&executed, "the files that it reads are not known");
	check_code(&executed, "the files that it reads are not known", NULL);
	fg_executed_release(&executed);
}

/* Returns the baseline's key with this variable in the environment. */
static struct fg_executed_key key_with(const char *name, const char *value)
{
	struct fg_environment host = {0};
	struct fg_executed_key key;
	struct fg_target target;

	assert_int_equal(setenv(name, value, 1), 0);
	fg_target_init(&target, FG_ARM_BASELINE, &benchmark, in_side(FG_ARM_BASELINE, "."));
	assert_true(fg_executed_key_of(&target, &builds[FG_ARM_BASELINE], &host, &key));
	fg_target_release(&target);
	return key;
}

FG_TEST_IN(a_list_is_for_one_build_configuration_and_environment, set_up, tear_down)
{
	static const struct {
		const char *name;
		const char *before;
		const char *after;
		bool same;
	} rows[] = {
		{"LD_LIBRARY_PATH", "/a", "/b", false},
		{"SHLVL", "1", "2", true},
		{"GIT_INDEX_FILE", "a", "b", true},
		{"TEST_PATH", "/a", "/b", false},
	};
	char *path = fg_xstrdup(getenv("PATH"));
	char *of_a_hook = fg_xasprintf("/usr/lib/git-core:%s", path);
	struct fg_executed_key first;
	struct fg_executed_key second;

	fg_build_facts_set(&builds[FG_ARM_BASELINE], "build.code", "1");
	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		first = key_with(rows[i].name, rows[i].before);
		second = key_with(rows[i].name, rows[i].after);
		assert_int_equal(strcmp(first.environment, second.environment) == 0, rows[i].same);
		assert_string_equal(first.configuration, second.configuration);
		assert_int_equal(unsetenv(rows[i].name), 0);
	}
	first = key_with("PATH", path);
	second = key_with("PATH", of_a_hook);
	assert_string_equal(first.environment, second.environment);
	benchmark.stdin_path = "input";
	second = key_with("PATH", path);
	assert_string_not_equal(first.configuration, second.configuration);
	assert_string_equal(first.build, second.build);
	fg_build_facts_set(&builds[FG_ARM_BASELINE], "build.code.libown.so", "2");
	second = key_with("PATH", path);
	assert_string_not_equal(first.build, second.build);
	assert_string_equal(first.benchmark, second.benchmark);
	free(of_a_hook);
	free(path);
}

/* The text is as callgrind writes it: each name once, addresses of stubs, contexts. */
FG_TEST_IN(functions_are_read_from_callgrind, set_up, tear_down)
{
	char text[8192];
	struct fg_executed executed = {0};
	const struct fg_executed_file *file = NULL;
	int size = 0;

	size = snprintf(text, sizeof(text),
			"# callgrind format\ncmd:  ./program data.txt\n"
			"ob=(2) ???\nfn=(9) 0x0000000000109000\n1 2\n"
			"ob=(1) %s\nfl=(1) ???\nfn=(1) main'__libc_start_main\n1 2\n"
			"cob=(3) /lib/none.so\ncfn=(2) limited@@V1\n1 3\n"
			"fn=(2)\n1 2\nfn=(4) by_switch.cold\n1 1\n",
			targets[FG_ARM_BASELINE].program);
	fg_executed_from_callgrind(&targets[FG_ARM_BASELINE], text, (size_t)size, &executed);
	assert_null(executed.doubt);
	file = fg_executed_find(&executed, "program");
	assert_non_null(file);
	assert_true(file->is_inside);
	assert_false(file->is_whole);
	assert_int_equal(file->functions.count, 3);
	assert_true(fg_executed_has_function(file, "limited"));
	assert_true(fg_executed_has_function(file, "by_switch"));
	fg_executed_release(&executed);

	size = snprintf(text, sizeof(text), "cmd:  ./program\nob=(1) %s\nfn=(1) nobody_knows\n",
			targets[FG_ARM_BASELINE].program);
	fg_executed_from_callgrind(&targets[FG_ARM_BASELINE], text, (size_t)size, &executed);
	assert_true(fg_executed_find(&executed, "program")->is_whole);
	fg_executed_release(&executed);

	size = snprintf(text, sizeof(text), "cmd:  /bin/sh -c x\nob=(1) %s\nfn=(1) main\n",
			targets[FG_ARM_BASELINE].program);
	fg_executed_from_callgrind(&targets[FG_ARM_BASELINE], text, (size_t)size, &executed);
	assert_string_equal(executed.doubt,
			    "the benchmark starts sh, which is not part of this project");
	fg_executed_release(&executed);
	fg_executed_from_callgrind(&targets[FG_ARM_BASELINE], "", 0, &executed);
	assert_string_equal(executed.doubt, "no file with code was seen");
	fg_executed_release(&executed);
}
