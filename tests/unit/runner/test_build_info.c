// SPDX-License-Identifier: Apache-2.0
/*
 * Examines the test program itself: an ELF file built with debug information by a known compiler.
 */
#include "base/fs.h"
#include "base/random.h"
#include "runner/facts/binary.h"
#include "runner/facts/build_info.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"

#include <stdlib.h>
#include <string.h>

static const char self_path[] = "/proc/self/exe";

FG_TEST(our_own_program_shows_how_it_was_built)
{
	struct fg_binary elf = {0};
	struct fg_error err = {0};

	if (fg_binary_read(self_path, &elf, &err) != FG_OK)
		fail_msg("%s", err.message);
	assert_true(strlen(elf.build_id) >= 16);
	assert_non_null(elf.interpreter);
	assert_non_null(elf.comment);
	assert_true(elf.has_debug_info);
	assert_true(elf.has_symbols);
	assert_non_null(elf.producer);
	assert_true(fg_binary_is_producer(elf.producer));
	fg_binary_release(&elf);
}

FG_TEST(anything_but_an_elf_file_is_refused)
{
	struct fg_error err = {0};
	struct fg_binary elf = {0};

	assert_int_equal(fg_binary_read("/no/such/file", &elf, &err), FG_ENOENT);
	assert_non_null(strstr(err.message, "/no/such/file"));
	assert_int_equal(fg_binary_read("/dev/null", &elf, &err), FG_EIO);
	assert_int_equal(fg_binary_read("/etc/passwd", &elf, &err), FG_EPARSE);
	assert_non_null(strstr(err.message, "not an ELF file"));
}

FG_TEST(producers_are_recognised)
{
	static const struct {
		const char *text;
		bool expected;
	} cases[] = {
		{"GNU C17 12.2.0 -mtune=generic -march=x86-64 -O2", true},
		{"GNU C++17 12.2.0 -g", true},
		{"Debian clang version 14.0.6", true},
		{"clang version 17.0.1 (https://example.org)", true},
		{"rustc version 1.70.0", true},
		{"GNU AS 2.40", false},
		{"GNU Compiler Collection", false},
		{"the clang version that we need is told elsewhere: clang version 3", false},
		{"", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (fg_binary_is_producer(cases[i].text) != cases[i].expected)
			fail_msg("%s", cases[i].text);
	}
}

FG_TEST(the_level_of_optimisation_is_read_from_the_producer)
{
	static const struct {
		const char *producer;
		const char *names;
	} rows[] = {
		{"GNU C17 12.2.0 -mtune=generic -g -O2", "-O2"},
		{"GNU C17 12.2.0 -O2 -g -O0", "-O0"}, /* the last option counts */
		{"GNU C++17 12.2.0 -mtune=generic -g", "-O0"},
		{"GNU C17 12.2.0 -O -g", "-O1"},
		{"GNU C17 12.2.0 -Ofast", "-Ofast"},
		{"GNU C17 12.2.0", ""},
		{"Debian clang version 14.0.6", ""},
	};
	char *both = fg_binary_level_names(FG_BINARY_O0 | FG_BINARY_O2);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *names = fg_binary_level_names(fg_binary_level_of(rows[i].producer));

		if (strcmp(names, rows[i].names) != 0)
			fail_msg("%s: '%s'", rows[i].producer, names);
		free(names);
	}
	assert_string_equal(both, "-O0 -O2");
	free(both);
}

FG_TEST(producer_is_split_into_compiler_and_flags)
{
	char *compiler = NULL;
	char *flags = NULL;

	fg_build_split_producer("GNU C17 12.2.0 -O2 -g", &compiler, &flags);
	assert_string_equal(compiler, "GNU C17 12.2.0");
	assert_string_equal(flags, "-O2 -g");
	free(compiler);
	free(flags);
	fg_build_split_producer("Debian clang version 14.0.6", &compiler, &flags);
	assert_string_equal(compiler, "Debian clang version 14.0.6");
	assert_string_equal(flags, "");
	free(compiler);
	free(flags);
}

/* A file that is truncated or has random bytes is read or refused; ASan would see an overrun. */
FG_TEST(broken_files_are_refused_or_read_without_harm)
{
	enum {
		KEPT_BYTES = 1 << 16,
		ROUNDS = 300,
		HEADERS_AT = 1280,
		HEADERS_BYTES = 2560,
		SECTION_OFFSET_FIELD = 0x28,
	};
	struct fg_scratch scratch;
	struct fg_random random;
	char *whole = NULL;
	size_t size = 0;
	unsigned refused = 0;

	fg_scratch_init(&scratch);
	fg_random_seed(&random, 7);
	assert_int_equal(fg_fs_read(self_path, 64 << 20, &whole, &size, NULL), FG_OK);
	if (size > KEPT_BYTES) {
		/* Program headers first, section headers after them, as in a small file. */
		memcpy(whole + HEADERS_AT, whole + size - HEADERS_BYTES, HEADERS_BYTES);
		memcpy(whole + SECTION_OFFSET_FIELD, &(uint64_t){HEADERS_AT}, 8);
		size = KEPT_BYTES;
	}
	for (unsigned i = 0; i < ROUNDS; i++) {
		char *copy = fg_xmalloc(size);
		const size_t kept = i % 3 ? size : fg_random_below(&random, size);
		struct fg_binary elf = {0};

		memcpy(copy, whole, size);
		for (unsigned k = 0; k < 8; k++) {
			const size_t at = fg_random_below(&random, k % 2 ? 4096 : 64);

			copy[at] = (char)(copy[at] ^ (1 << fg_random_below(&random, 7)));
		}
		fg_scratch_write(&scratch, "broken", copy, kept);
		if (fg_binary_read(fg_scratch_path(&scratch, "broken"), &elf, NULL) != FG_OK)
			refused++;
		fg_binary_release(&elf);
		free(copy);
	}
	assert_true(refused > 0);
	free(whole);
	fg_scratch_release(&scratch);
}

FG_TEST(program_libraries_and_size_are_captured)
{
	char *self = realpath(self_path, NULL);
	char *argv[] = {self, NULL};
	const struct fg_benchmark benchmark = {
		.name = "b", .command = {.text = "self", .argv = argv, .argc = 1}};
	struct fg_build_facts build = {0};
	struct fg_target target;

	fg_target_init(&target, FG_ARM_CANDIDATE, &benchmark, "/");
	fg_target_resolve(&target);
	fg_build_capture(&target, &build);
	assert_non_null(build.id);
	assert_non_null(build.size);
	assert_non_null(build.compiler);
	assert_non_null(fg_build_facts_library(&build, "libc.so.6"));
	assert_string_equal(build.debug_info, "yes");
	assert_true(target.binary_size > 0);
	assert_true(fg_build_is_identical(&target, &target, &build, &build));
	fg_build_facts_release(&build);
	fg_target_release(&target);
	free(self);
}

FG_TEST(copies_are_identical_and_changed_data_is_not)
{
	static char *argv[] = {"./program", "data.txt", NULL};
	const struct fg_benchmark benchmark = {.name = "b",
					       .command = {.text = "p", .argv = argv, .argc = 2}};
	struct fg_build_facts builds[2] = {0};
	struct fg_target targets[2];
	struct fg_scratch scratch;

	fg_scratch_init(&scratch);
	for (int arm = 0; arm < 2; arm++) {
		char name[32];
		int status = FG_OK;

		(void)snprintf(name, sizeof(name), "side%d/data.txt", arm);
		status = fg_fs_make_folders(fg_scratch_path(&scratch, arm ? "side1" : "side0"),
					    0777, NULL);
		assert_int_equal(status, FG_OK);
		fg_scratch_write_text(&scratch, name, "same");
		status = fg_fs_copy(
			self_path,
			fg_scratch_path(&scratch, arm ? "side1/program" : "side0/program"), 0755,
			NULL);
		assert_int_equal(status, FG_OK);
		fg_target_init(&targets[arm], (enum fg_arm)arm, &benchmark,
			       fg_scratch_path(&scratch, arm ? "side1" : "side0"));
		fg_target_resolve(&targets[arm]);
		fg_build_capture(&targets[arm], &builds[arm]);
	}
	assert_true(fg_build_is_identical(&targets[0], &targets[1], &builds[0], &builds[1]));
	fg_build_facts_set(&builds[1], "build.library.libc.so.6", "1234");
	assert_false(fg_build_is_identical(&targets[0], &targets[1], &builds[0], &builds[1]));
	fg_build_facts_set(&builds[1], "build.library.libc.so.6",
			   fg_build_facts_library(&builds[0], "libc.so.6")->identity);
	fg_scratch_write_text(&scratch, "side1/data.txt", "other");
	assert_false(fg_build_is_identical(&targets[0], &targets[1], &builds[0], &builds[1]));
	for (int arm = 0; arm < 2; arm++) {
		fg_target_release(&targets[arm]);
		fg_build_facts_release(&builds[arm]);
	}
	fg_scratch_release(&scratch);
}

/* Facts of two builds in different folders: the build-ids differ, but the loaded code does not. */
static void set_alike(struct fg_build_facts builds[2])
{
	for (int arm = 0; arm < 2; arm++) {
		fg_build_facts_set(&builds[arm], "build.id", arm ? "bb" : "aa");
		fg_build_facts_set(&builds[arm], "build.layout", "1a");
		fg_build_facts_set(&builds[arm], "build.inputs", "da7a");
		fg_build_facts_set(&builds[arm], "build.library.libc.so.6", "11");
		fg_build_facts_set(&builds[arm], "build.library.libown.so", arm ? "22" : "21");
		fg_build_facts_set(&builds[arm], "build.layout.libown.so", "01a");
	}
}

FG_TEST(files_loaded_alike_may_differ_only_in_debug_information)
{
	static char *words[] = {"./p", "1", NULL};
	static char *others[] = {"./p", "2", NULL};
	static const struct {
		const char *key; /* NULL: no fact is changed */
		const char *value;
		bool alike;
	} rows[] = {
		{.key = NULL, .alike = true},
		{.key = "build.layout", .value = "2b"},
		{.key = "build.inputs", .value = "other"},
		{.key = "build.layout.libown.so", .value = "02b"},
		{.key = "build.library.libc.so.6", .value = "12"},
		{.key = "build.library.libnew.so", .value = "1"},
		{.key = "build.library.libc.so.6", .value = "no build-id, 7 bytes"},
	};
	struct fg_command same = {.text = "p", .argv = words, .argc = 2};
	struct fg_command other = {.text = "p", .argv = others, .argc = 2};
	struct fg_target targets[2] = {{.command = &same}, {.command = &same}};

	for (size_t r = 0; r < FG_ARRAY_SIZE(rows); r++) {
		struct fg_build_facts builds[2] = {0};

		set_alike(builds);
		if (rows[r].key)
			fg_build_facts_set(&builds[1], rows[r].key, rows[r].value);
		assert_int_equal(
			fg_build_loads_the_same(&targets[0], &targets[1], &builds[0], &builds[1]),
			rows[r].alike);
		targets[1].command = &other;
		assert_false(
			fg_build_loads_the_same(&targets[0], &targets[1], &builds[0], &builds[1]));
		targets[1].command = &same;
		fg_build_facts_release(&builds[0]);
		fg_build_facts_release(&builds[1]);
	}
}

FG_TEST(libraries_that_cannot_be_read_are_not_alike)
{
	static char *words[] = {"./p", NULL};
	struct fg_command command = {.text = "p", .argv = words, .argc = 1};
	const struct fg_target target = {.command = &command};
	struct fg_build_facts builds[2] = {0};

	set_alike(builds);
	assert_true(fg_build_loads_the_same(&target, &target, &builds[0], &builds[1]));
	for (int arm = 0; arm < 2; arm++)
		fg_build_facts_set(&builds[arm], "build.library.libother.so", "unreadable");
	assert_false(fg_build_loads_the_same(&target, &target, &builds[0], &builds[1]));
	fg_build_facts_release(&builds[0]);
	fg_build_facts_release(&builds[1]);
}

FG_TEST(facts_of_the_user_are_literal_or_commands)
{
	static char *date[] = {"/bin/echo", "  1.74  ", NULL};
	static char *bad[] = {"/bin/sh", "-c", "echo no such package >&2; exit 3", NULL};
	const struct fg_recorded_fact facts[] = {
		{.name = "geometry", .literal = "v12"},
		{.name = "boost", .command = {.text = "echo", .argv = date, .argc = 2}},
	};
	const struct fg_recorded_fact failing = {
		.name = "root", .command = {.text = "rootver", .argv = bad, .argc = 3}};
	const struct fg_record_options good = {
		.facts = facts, .count = 2, .folder = "/", .identity = true};
	const struct fg_record_options bad_one = {.facts = &failing, .count = 1, .folder = "/"};
	struct fg_environment environment = {0};
	struct fg_error err = {0};

	assert_int_equal(fg_build_record(&good, &environment, &err), FG_OK);
	assert_string_equal(fg_environment_get(&environment, "user.geometry"), "v12");
	assert_string_equal(fg_environment_get(&environment, "user.boost"), "  1.74");
	assert_true(environment.facts[0].identity);
	assert_int_equal(fg_build_record(&bad_one, &environment, &err), FG_ECHILD);
	assert_string_equal(err.message,
			    "recorded fact 'root': 'rootver' exited with code 3: no such package");
	fg_environment_release(&environment);
}
