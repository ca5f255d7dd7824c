// SPDX-License-Identifier: Apache-2.0
/*
 * The symbolizer on a library built for it: with debug information, stripped, with a separate debug
 * file in every possible place, rebuilt, damaged.
 */
#include "base/base.h"
#include "base/fs.h"
#include "base/process.h"
#include "binary/debug_files.h"
#include "binary/elf_file.h"
#include "binary/jit_map.h"
#include "binary/symbolizer.h"
#include "profile/profile.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIBRARY FG_TEST_SYMBOLS_LIBRARY
#define SOURCE  FG_TEST_SYMBOLS_SOURCE

struct scene {
	struct fg_scratch scratch;
	struct fg_elf elf; /* of the whole library */
};

static void run(const char *program, const char *const *arguments)
{
	char *argv[12] = {fg_xstrdup(program)};
	struct fg_process_options options = {.argv = argv, .stderr_to = FG_STREAM_INHERIT};
	struct fg_process_result result = {0};
	struct fg_error err = {0};

	for (size_t i = 0; arguments[i]; i++)
		argv[i + 1] = fg_xstrdup(arguments[i]);
	if (fg_process_run(&options, &result, &err) != FG_OK || result.exit_code != 0)
		fail_msg("%s failed: %s", program, err.message);
	fg_process_result_release(&result);
	for (size_t i = 0; argv[i]; i++)
		free(argv[i]);
}

static int set_up(void **state)
{
	struct scene *scene = fg_xcalloc(1, sizeof(*scene));
	struct fg_error err = {0};

	fg_scratch_init(&scene->scratch);
	if (fg_elf_read(LIBRARY, &scene->elf, &err) != FG_OK)
		fail_msg("%s", err.message);
	*state = scene;
	return 0;
}

static int tear_down(void **state)
{
	struct scene *scene = *state;

	fg_elf_release(&scene->elf);
	fg_scratch_release(&scene->scratch);
	free(scene);
	return 0;
}

static const char *in(const struct scene *scene, const char *name)
{
	return fg_scratch_path(&scene->scratch, name);
}

/* Splits the library: `stripped` without names and debug information, `debug` with only these. */
static void split(const struct scene *scene, const char *stripped, const char *debug)
{
	run("objcopy", (const char *const[]){"--only-keep-debug", LIBRARY, debug, NULL});
	run("objcopy", (const char *const[]){"--strip-all", LIBRARY, stripped, NULL});
	(void)scene;
}

static uint64_t address_of(const struct fg_elf *elf, const char *name)
{
	for (size_t i = 0; i < elf->symbol_count; i++)
		if (strcmp(fg_elf_name(elf, &elf->symbols[i]), name) == 0)
			return elf->symbols[i].value;
	fail_msg("no symbol '%s'", name);
	return 0;
}

static unsigned line_of(const char *mark)
{
	struct fg_error err = {0};
	unsigned line = 1;
	char *text;
	size_t size;
	const char *at;

	assert_int_equal(fg_fs_read(SOURCE, 1 << 20, &text, &size, &err), FG_OK);
	at = strstr(text, mark);
	assert_non_null(at);
	for (const char *c = text; c < at; c++)
		line += *c == '\n';
	free(text);
	return line;
}

static struct fg_symbol_module *open_module(struct fg_symbolizer *symbolizer,
					    const struct scene *scene, const char *path)
{
	return fg_symbolizer_module(symbolizer, path, scene->elf.build_id, scene->elf.build_id_size,
				    false);
}

/* Finds an address in target_outer() with the chain outer → middle → inner. */
static size_t find_inlined(struct fg_symbolizer *symbolizer, struct fg_symbol_module *module,
			   const struct scene *scene, const struct fg_symbol **chain)
{
	uint64_t start = address_of(&scene->elf, "target_outer");

	for (uint64_t at = start; at < start + 64; at++) {
		size_t count = fg_symbolizer_find(symbolizer, module, at, chain);

		if (count == 3)
			return count;
	}
	return 0;
}

static void expect_inlined(struct fg_symbolizer *symbolizer, const struct scene *scene,
			   const char *path)
{
	struct fg_symbol_module *module = open_module(symbolizer, scene, path);
	const struct fg_symbol *chain;

	if (find_inlined(symbolizer, module, scene, &chain) != 3)
		fail_msg("no inlined frames: %s", fg_symbol_module_source(module));
	assert_string_equal(chain[0].function->name, "target_outer");
	assert_int_equal(chain[0].at_line, line_of("MARK outer"));
	assert_int_equal(chain[0].flags, 0);
	assert_string_equal(chain[1].function->name, "target_middle");
	assert_int_equal(chain[1].at_line, line_of("MARK middle"));
	assert_int_equal(chain[1].flags, FG_FRAME_INLINED);
	assert_string_equal(chain[2].function->name, "target_inner");
	assert_int_equal(chain[2].at_line, line_of("MARK inner"));
	assert_non_null(strstr(chain[2].function->file, "symbols_target.c"));
	assert_int_equal(chain[2].function->line, line_of("MARK inner") - 2);
	assert_false(fg_symbol_module_is_bad(module));
}

FG_TEST_IN(inlined_frames_and_lines_are_found, set_up, tear_down)
{
	struct fg_symbolizer *symbolizer = fg_symbolizer_new(NULL);

	expect_inlined(symbolizer, *state, LIBRARY);
	fg_symbolizer_free(symbolizer);
}

FG_TEST_IN(addresses_are_found_in_any_order_and_repeatedly, set_up, tear_down)
{
	enum {
		COUNT = 64
	};
	const struct scene *scene = *state;
	const uint64_t start = address_of(&scene->elf, "target_outer");
	struct fg_symbolizer *up = fg_symbolizer_new(NULL);
	struct fg_symbolizer *mixed = fg_symbolizer_new(NULL);
	struct fg_symbol_module *ordered = open_module(up, scene, LIBRARY);
	struct fg_symbol_module *other = open_module(mixed, scene, LIBRARY);
	const struct fg_symbol *first[COUNT] = {NULL};
	const struct fg_symbol *chain;

	for (size_t i = 0; i < COUNT; i++)
		(void)fg_symbolizer_find(up, ordered, start + i, &first[i]);
	for (size_t i = 0; i < 3 * (size_t)COUNT; i++) {
		const size_t at = i * 37 % COUNT; /* each address three times, in mixed order */
		const size_t count = fg_symbolizer_find(mixed, other, start + at, &chain);
		const struct fg_symbol *again;

		assert_int_equal(fg_symbolizer_find(up, ordered, start + at, &again), count);
		assert_ptr_equal(again, first[at]);
		for (size_t level = 0; level < count; level++) {
			assert_string_equal(chain[level].function->name,
					    again[level].function->name);
			assert_int_equal(chain[level].at_line, again[level].at_line);
		}
	}
	fg_symbolizer_free(up);
	fg_symbolizer_free(mixed);
}

FG_TEST_IN(names_only_looks_at_no_debug_information, set_up, tear_down)
{
	const struct fg_symbolizer_options options = {.names_only = true};
	struct fg_symbolizer *symbolizer = fg_symbolizer_new(&options);
	const struct scene *scene = *state;
	const struct fg_symbol *chain;
	struct fg_symbol_module *module = open_module(symbolizer, scene, LIBRARY);

	assert_int_equal(find_inlined(symbolizer, module, scene, &chain), 0);
	assert_int_equal(fg_symbolizer_find(symbolizer, module,
					    address_of(&scene->elf, "target_hidden"), &chain),
			 1);
	assert_string_equal(chain[0].function->name, "target_hidden");
	assert_null(chain[0].at_file);
	fg_symbolizer_free(symbolizer);
}

FG_TEST_IN(a_stripped_library_has_its_dynamic_names_and_offsets, set_up, tear_down)
{
	const struct scene *scene = *state;
	struct fg_symbolizer *symbolizer = fg_symbolizer_new(NULL);
	const char *stripped = in(scene, "libstripped.so");
	struct fg_symbol_module *module;
	const struct fg_symbol *chain;

	split(scene, stripped, in(scene, "elsewhere.debug"));
	module = open_module(symbolizer, scene, stripped);
	(void)fg_symbolizer_find(symbolizer, module, address_of(&scene->elf, "target_plain"),
				 &chain);
	assert_string_equal(chain[0].function->name, "target_plain");
	(void)fg_symbolizer_find(symbolizer, module, address_of(&scene->elf, "target_hidden"),
				 &chain);
	assert_non_null(strstr(chain[0].function->name, "libstripped.so+0x"));
	assert_int_equal(chain[0].flags, FG_FRAME_NAMELESS);
	fg_symbolizer_free(symbolizer);
}

FG_TEST_IN(a_function_without_a_name_is_called_by_its_beginning, set_up, tear_down)
{
	const struct scene *scene = *state;
	const uint64_t start = address_of(&scene->elf, "target_hidden");
	struct fg_symbolizer *symbolizer = fg_symbolizer_new(NULL);
	const char *stripped = in(scene, "libstripped.so");
	char *name = fg_xasprintf("libstripped.so+0x%llx", (unsigned long long)start);
	struct fg_symbol_module *module;
	const struct fg_symbol *chain;

	split(scene, stripped, in(scene, "elsewhere.debug"));
	module = open_module(symbolizer, scene, stripped);
	for (uint64_t at = start; at < start + 4; at++) {
		(void)fg_symbolizer_find(symbolizer, module, at, &chain);
		assert_string_equal(chain[0].function->name, name);
	}
	fg_symbolizer_free(symbolizer);
	free(name);
}

FG_TEST_IN(binaries_of_another_byte_order_or_width_are_refused_in_words, set_up, tear_down)
{
	static const struct {
		size_t at;
		char value;
	} changes[] = {{EI_DATA, ELFDATA2MSB}, {EI_DATA, 9}, {EI_CLASS, 0}, {EI_CLASS, 3}};
	struct fg_error err = {0};
	size_t size;
	char *bytes;

	assert_int_equal(fg_fs_read(LIBRARY, 1 << 24, &bytes, &size, &err), FG_OK);
	for (size_t i = 0; i < FG_ARRAY_SIZE(changes); i++) {
		const char old = bytes[changes[i].at];
		struct fg_elf elf;

		bytes[changes[i].at] = changes[i].value;
		assert_int_equal(fg_elf_parse(bytes, size, "other", &elf, &err), FG_EUNSUPPORTED);
		assert_non_null(strstr(err.message,
				       "other: only little-endian ELF files of 32 or 64 bits"));
		bytes[changes[i].at] = old;
	}
	free(bytes);
}

static bool has(const char *program)
{
	char *path = fg_fs_find_program(program);
	const bool found = path != NULL;

	free(path);
	return found;
}

/*
 * A stripped library as distributions ship it: symbols that .dynsym lacks are in a compressed ELF
 * file inside a section.
 */
FG_TEST_IN(a_packed_symbol_table_in_a_stripped_library_has_its_hidden_names, set_up, tear_down)
{
	const struct scene *scene = *state;
	const char *stripped = in(scene, "libmini.so");
	const char *mini = in(scene, "mini");
	const char *packed = in(scene, "mini.xz");
	char *add = fg_xasprintf(".gnu_debugdata=%s", packed);
	struct fg_symbolizer *symbolizer = NULL;
	struct fg_symbol_module *module = NULL;
	const struct fg_symbol *chain;

	if (!has("xz")) {
		free(add);
		skip();
	}
	run("objcopy", (const char *const[]){"--only-keep-debug", LIBRARY, mini, NULL});
	run("objcopy", (const char *const[]){"-S", "--keep-symbol=target_hidden", mini, NULL});
	run("xz", (const char *const[]){"-k", mini, NULL});
	run("objcopy",
	    (const char *const[]){"--strip-all", "--add-section", add, LIBRARY, stripped, NULL});
	symbolizer = fg_symbolizer_new(&(struct fg_symbolizer_options){.debug_root = "/nowhere"});
	module = open_module(symbolizer, scene, stripped);
	assert_int_equal(fg_symbolizer_find(symbolizer, module,
					    address_of(&scene->elf, "target_hidden"), &chain),
			 1);
	assert_string_equal(chain[0].function->name, "target_hidden");
	assert_non_null(strstr(fg_symbol_module_source(module), "compressed symbol table"));
	(void)fg_symbolizer_find(symbolizer, module, address_of(&scene->elf, "target_plain"),
				 &chain);
	assert_string_equal(chain[0].function->name, "target_plain"); /* from .dynsym */
	fg_symbolizer_free(symbolizer);
	free(add);
}

FG_TEST_IN(a_damaged_packed_symbol_table_is_refused, set_up, tear_down)
{
	static const char rubbish[] =
		"\3757zXZ\0 and then something else, which is no stream of xz";
	const struct scene *scene = *state;
	const char *stripped = in(scene, "librubbish.so");
	const char *section = in(scene, "rubbish");
	char *add = fg_xasprintf(".gnu_debugdata=%s", section);
	struct fg_symbolizer *symbolizer = NULL;
	struct fg_symbol_module *module = NULL;
	const struct fg_symbol *chain;
	struct fg_elf elf;
	struct fg_error err = {0};

	assert_int_equal(fg_fs_write_atomic(section, rubbish, sizeof(rubbish), 0600, &err), FG_OK);
	run("objcopy",
	    (const char *const[]){"--strip-all", "--add-section", add, LIBRARY, stripped, NULL});
	assert_int_equal(fg_mini_debug_read(stripped, &elf, &err), FG_EPARSE);
	assert_int_equal(fg_mini_debug_read(LIBRARY, &elf, &err), FG_ENOENT);
	symbolizer = fg_symbolizer_new(&(struct fg_symbolizer_options){.debug_root = "/nowhere"});
	module = open_module(symbolizer, scene, stripped);
	(void)fg_symbolizer_find(symbolizer, module, address_of(&scene->elf, "target_plain"),
				 &chain);
	assert_string_equal(chain[0].function->name, "target_plain");
	fg_symbolizer_free(symbolizer);
	free(add);
}

/* dwz moves data that several files share into a third file. */
FG_TEST_IN(debug_information_that_files_share_is_followed, set_up, tear_down)
{
	const struct scene *scene = *state;
	const char *one = in(scene, "libone.so");
	const char *other = in(scene, "libother.so");
	struct scene shared = {0};
	struct fg_symbolizer *symbolizer = NULL;
	struct fg_error err = {0};

	if (!has("dwz"))
		skip();
	assert_int_equal(fg_elf_read(FG_TEST_SYMBOLS_SHARED, &shared.elf, &err), FG_OK);
	run("cp", (const char *const[]){FG_TEST_SYMBOLS_SHARED, one, NULL});
	run("cp", (const char *const[]){FG_TEST_SYMBOLS_SHARED, other, NULL});
	run("dwz", (const char *const[]){"-m", in(scene, "shared.debug"), one, other, NULL});
	symbolizer = fg_symbolizer_new(NULL);
	expect_inlined(symbolizer, &shared, one);
	fg_symbolizer_free(symbolizer);
	assert_int_equal(unlink(in(scene, "shared.debug")), 0);
	symbolizer = fg_symbolizer_new(NULL); /* no shared file: fewer details, no crash */
	(void)fg_symbolizer_find(symbolizer, open_module(symbolizer, &shared, other),
				 address_of(&shared.elf, "target_outer"),
				 &(const struct fg_symbol *){NULL});
	fg_symbolizer_free(symbolizer);
	fg_elf_release(&shared.elf);
}

static char *only_dwo(const struct scene *scene)
{
	char *found = NULL;
	char **names;
	size_t count;
	struct fg_error err = {0};

	assert_int_equal(fg_fs_list(scene->scratch.path, &names, &count, &err), FG_OK);
	for (size_t i = 0; i < count; i++)
		if (!found && strstr(names[i], ".dwo"))
			found = fg_fs_join(scene->scratch.path, names[i]);
	fg_fs_list_free(names, count);
	assert_non_null(found);
	return found;
}

/*
 * The compiler puts the functions into a .dwo file: without it there are lines but no inlined
 * frames, and nothing is cached.
 */
FG_TEST_IN(split_debug_information_is_read_and_missed, set_up, tear_down)
{
	const struct scene *scene = *state;
	const struct fg_symbolizer_options options = {.cache_folder = scene->scratch.path};
	const char *library = in(scene, "libsplit.so");
	const struct fg_symbol *chain;
	char *dwo = NULL;
	char *away = NULL;

	if (!has("gcc"))
		skip();
	run("gcc", (const char *const[]){"-g", "-O2", "-gsplit-dwarf", "-shared", "-fPIC",
					 "-Wl,--build-id", "-o", library, SOURCE, NULL});
	dwo = only_dwo(scene);
	away = fg_xasprintf("%s.away", dwo);
	for (int there = 0; there < 2; there++) {
		struct fg_symbolizer *symbolizer = fg_symbolizer_new(&options);
		struct fg_symbol_module *module =
			fg_symbolizer_module(symbolizer, library, NULL, 0, false);
		struct fg_elf elf;
		struct fg_error err = {0};
		size_t longest = 0;
		bool has_line = false;

		assert_int_equal(there ? rename(away, dwo) : rename(dwo, away), 0);
		assert_int_equal(fg_elf_read(library, &elf, &err), FG_OK);
		for (uint64_t at = 0; at < 32; at++) {
			const size_t count = fg_symbolizer_find(
				symbolizer, module, address_of(&elf, "target_outer") + at, &chain);

			longest = count > longest ? count : longest;
			has_line = has_line || chain[0].at_line > 0;
		}
		assert_int_equal(longest, there ? 3 : 1);
		assert_true(has_line);
		assert_int_equal(fg_symbol_module_missing_units(module), there ? 0 : 1);
		fg_elf_release(&elf);
		fg_symbolizer_free(symbolizer);
	}
	free(dwo);
	free(away);
}

FG_TEST_IN(a_separate_file_is_found_by_build_id, set_up, tear_down)
{
	const struct scene *scene = *state;
	const char *root = in(scene, "debug");
	const struct fg_symbolizer_options options = {.debug_root = root};
	struct fg_symbolizer *symbolizer;
	char text[FG_BUILD_ID_TEXT];
	struct fg_error err = {0};
	char *file;
	char *folder;

	fg_elf_build_id_text(&scene->elf, text);
	file = fg_xasprintf("%s/.build-id/%.2s/%s.debug", root, text, text + 2);
	folder = fg_fs_parent(file);
	assert_int_equal(fg_fs_make_folders(folder, 0755, &err), FG_OK);
	split(scene, in(scene, "libs.so"), file);
	symbolizer = fg_symbolizer_new(&options);
	expect_inlined(symbolizer, scene, in(scene, "libs.so"));
	fg_symbolizer_free(symbolizer);
	free(file);
	free(folder);
}

FG_TEST_IN(a_separate_file_is_found_by_its_link_and_checked, set_up, tear_down)
{
	const struct scene *scene = *state;
	char *link = fg_xasprintf("--add-gnu-debuglink=%s", in(scene, "libs.debug"));
	struct fg_symbolizer *symbolizer = fg_symbolizer_new(NULL);
	const struct fg_symbol *chain;
	char *text;
	size_t size;

	split(scene, in(scene, "libs.so"), in(scene, "libs.debug"));
	run("objcopy", (const char *const[]){link, in(scene, "libs.so"), NULL});
	expect_inlined(symbolizer, scene, in(scene, "libs.so"));
	fg_symbolizer_free(symbolizer);
	/* one flipped bit: the separate file's checksum no longer matches, so it is not used */
	text = fg_scratch_read(&scene->scratch, "libs.debug", &size);
	text[size - 1] ^= 1;
	fg_scratch_write(&scene->scratch, "libs.debug", text, size);
	symbolizer = fg_symbolizer_new(NULL);
	assert_int_equal(find_inlined(symbolizer,
				      open_module(symbolizer, scene, in(scene, "libs.so")), scene,
				      &chain),
			 0);
	fg_symbolizer_free(symbolizer);
	free(text);
	free(link);
}

FG_TEST_IN(a_binary_of_another_build_is_not_guessed_from, set_up, tear_down)
{
	static const uint8_t OTHER[] = {0xde, 0xad, 0xbe, 0xef};
	struct fg_symbolizer *symbolizer = fg_symbolizer_new(NULL);
	struct fg_symbol_module *module =
		fg_symbolizer_module(symbolizer, LIBRARY, OTHER, sizeof(OTHER), false);
	const struct scene *scene = *state;
	const struct fg_symbol *chain;

	assert_true(fg_symbol_module_is_bad(module));
	assert_non_null(strstr(fg_symbol_module_source(module), "deadbeef"));
	assert_int_equal(fg_symbolizer_find(symbolizer, module,
					    address_of(&scene->elf, "target_plain"), &chain),
			 1);
	assert_int_equal(chain[0].flags, FG_FRAME_NAMELESS);
	fg_symbolizer_free(symbolizer);
}

FG_TEST_IN(a_trace_from_another_host_finds_its_binaries_in_a_folder, set_up, tear_down)
{
	const struct scene *scene = *state;
	const char *folders[] = {scene->scratch.path, NULL};
	const struct fg_symbolizer_options options = {.binary_folders = folders};
	struct fg_symbolizer *symbolizer = fg_symbolizer_new(&options);
	struct fg_error err = {0};

	assert_int_equal(fg_fs_copy(LIBRARY, in(scene, "libcarried.so"), 0644, &err), FG_OK);
	expect_inlined(symbolizer, scene, "/opt/far/away/libcarried.so");
	fg_symbolizer_free(symbolizer);
}

static char *only_cache_file(const struct scene *scene)
{
	char text[FG_BUILD_ID_TEXT];

	fg_elf_build_id_text(&scene->elf, text);
	return fg_xasprintf("symbols/%.2s/%s.fgsym", text, text + 2);
}

FG_TEST_IN(the_cache_gives_the_same_answers_without_the_debug_information, set_up, tear_down)
{
	const struct scene *scene = *state;
	const struct fg_symbolizer_options options = {.cache_folder = scene->scratch.path};
	char *link = fg_xasprintf("--add-gnu-debuglink=%s", in(scene, "libs.debug"));
	char *file = only_cache_file(scene);

	split(scene, in(scene, "libs.so"), in(scene, "libs.debug"));
	run("objcopy", (const char *const[]){link, in(scene, "libs.so"), NULL});
	for (int round = 0; round < 3; round++) {
		struct fg_symbolizer *symbolizer = fg_symbolizer_new(&options);

		expect_inlined(symbolizer, scene, in(scene, "libs.so"));
		fg_symbolizer_free(symbolizer);
		assert_true(fg_fs_exists(in(scene, file)));
	}
	free(file);
	free(link);
}

FG_TEST_IN(unused_cache_files_are_removed, set_up, tear_down)
{
	static const struct timespec LONG_AGO[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};
	const struct scene *scene = *state;
	const struct fg_symbolizer_options options = {.cache_folder = scene->scratch.path};
	struct fg_symbolizer *symbolizer = fg_symbolizer_new(&options);
	struct fg_error err = {0};
	char *file = only_cache_file(scene);

	assert_int_equal(fg_fs_make_folders(in(scene, "symbols/aa"), 0755, &err), FG_OK);
	fg_scratch_write_text(&scene->scratch, "symbols/aa/old.fgsym", "x");
	fg_scratch_write_text(&scene->scratch, "symbols/aa/new.fgsym", "x");
	fg_scratch_write_text(&scene->scratch, "symbols/aa/other", "x");
	assert_int_equal(utimensat(AT_FDCWD, in(scene, "symbols/aa/old.fgsym"), LONG_AGO, 0), 0);
	assert_int_equal(utimensat(AT_FDCWD, in(scene, "symbols/aa/other"), LONG_AGO, 0), 0);
	expect_inlined(symbolizer, scene, LIBRARY);
	fg_symbolizer_free(symbolizer);
	assert_false(fg_fs_exists(in(scene, "symbols/aa/old.fgsym")));
	assert_true(fg_fs_exists(in(scene, "symbols/aa/new.fgsym")));
	assert_true(fg_fs_exists(in(scene, "symbols/aa/other")));
	assert_true(fg_fs_exists(in(scene, file)));
	free(file);
}

/* A debuginfod server without a network: libdebuginfod accepts file:// as well. */
FG_TEST_IN(debuginfod_is_used_when_switched_on, set_up, tear_down)
{
	const struct scene *scene = *state;
	const struct fg_symbolizer_options on = {.debuginfod = true};
	char *url = fg_xasprintf("file://%s", scene->scratch.path);
	struct fg_symbolizer *symbolizer;
	const struct fg_symbol *chain;
	char text[FG_BUILD_ID_TEXT];
	struct fg_error err = {0};
	char *folder;
	void *library = dlopen("libdebuginfod.so.1", RTLD_NOW);

	if (!library)
		skip(); /* not installed here */
	(void)dlclose(library);
	fg_elf_build_id_text(&scene->elf, text);
	folder = fg_xasprintf("%s/buildid/%s", scene->scratch.path, text);
	assert_int_equal(fg_fs_make_folders(folder, 0755, &err), FG_OK);
	split(scene, in(scene, "libs.so"), fg_scratch_path(&scene->scratch, "whole.debug"));
	free(folder);
	folder = fg_xasprintf("%s/buildid/%s/debuginfo", scene->scratch.path, text);
	assert_int_equal(fg_fs_copy(in(scene, "whole.debug"), folder, 0644, &err), FG_OK);
	(void)setenv("DEBUGINFOD_URLS", url, 1);
	(void)setenv("DEBUGINFOD_CACHE_PATH", in(scene, "debuginfod"), 1);
	symbolizer = fg_symbolizer_new(&on);
	expect_inlined(symbolizer, scene, in(scene, "libs.so"));
	fg_symbolizer_free(symbolizer);
	symbolizer = fg_symbolizer_new(NULL); /* off: no server is asked */
	assert_int_equal(find_inlined(symbolizer,
				      open_module(symbolizer, scene, in(scene, "libs.so")), scene,
				      &chain),
			 0);
	fg_symbolizer_free(symbolizer);
	(void)unsetenv("DEBUGINFOD_URLS");
	free(folder);
	free(url);
}

FG_TEST_IN(a_damaged_cache_is_made_anew, set_up, tear_down)
{
	const struct scene *scene = *state;
	const struct fg_symbolizer_options options = {.cache_folder = scene->scratch.path};
	struct fg_symbolizer *symbolizer = fg_symbolizer_new(&options);
	char *file = only_cache_file(scene);
	char *bytes;
	size_t size;

	expect_inlined(symbolizer, scene, LIBRARY);
	fg_symbolizer_free(symbolizer);
	bytes = fg_scratch_read(&scene->scratch, file, &size);
	for (size_t at = 0; at < size; at += size / 13 + 1) {
		for (int cut = 0; cut < 2; cut++) {
			bytes[at] ^= 0x20;
			fg_scratch_write(&scene->scratch, file, bytes, cut ? at : size);
			bytes[at] ^= 0x20;
			symbolizer = fg_symbolizer_new(&options);
			expect_inlined(symbolizer, scene, LIBRARY);
			fg_symbolizer_free(symbolizer);
		}
	}
	free(bytes);
	free(file);
}

FG_TEST_IN(damaged_binaries_are_refused_or_read_without_harm, set_up, tear_down)
{
	const struct scene *scene = *state;
	struct fg_error err = {0};
	size_t size;
	char *bytes;

	assert_int_equal(fg_fs_read(LIBRARY, 1 << 24, &bytes, &size, &err), FG_OK);
	for (size_t i = 0; i < 200; i++) {
		struct fg_elf elf;
		size_t at = i < 64 ? i : size - (i - 63) * 16; /* header, then section table */
		char old = bytes[at];

		bytes[at] = (char)0xff;
		if (fg_elf_parse(bytes, size, "damaged", &elf, &err) == FG_OK) {
			(void)fg_elf_find(&elf, 0x1100);
			(void)fg_elf_plt_target(&elf, 0x1020);
			fg_elf_release(&elf);
		}
		bytes[at] = old;
		if (fg_elf_parse(bytes, size * i / 200, "cut", &elf, &err) == FG_OK)
			fg_elf_release(&elf);
	}
	assert_int_equal(fg_elf_parse("rubbish", 7, "rubbish", &(struct fg_elf){0}, &err),
			 FG_EPARSE);
	(void)scene;
	free(bytes);
}

FG_TEST_IN(the_vdso_has_names, set_up, tear_down)
{
	struct fg_symbolizer *symbolizer = fg_symbolizer_new(NULL);
	struct fg_symbol_module *module = fg_symbolizer_module(symbolizer, "[vdso]", NULL, 0, true);
	const struct fg_symbol *chain;
	bool found = false;

	for (uint64_t at = 0; at < 0x2000 && !found; at += 16) {
		(void)fg_symbolizer_find(symbolizer, module, at, &chain);
		found = strstr(chain[0].function->name, "vdso_") != NULL;
	}
	assert_true(found);
	fg_symbolizer_free(symbolizer);
}

FG_TEST_IN(code_made_at_run_time_is_named_by_its_map, set_up, tear_down)
{
	const uint32_t pid = (uint32_t)getpid();
	struct fg_symbolizer *symbolizer = fg_symbolizer_new(NULL);
	const struct fg_symbol *chain;
	char path[64];
	FILE *file;

	(void)snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
	file = fopen(path, "we");
	assert_non_null(file);
	(void)fputs(
		"7000 100 lambda_one\nrubbish\n7100 10 \n7040 8 patched\nffffffffffffffff 9 wrap\n",
		file);
	(void)fclose(file);
	(void)fg_symbolizer_find(symbolizer, fg_symbolizer_jit(symbolizer, pid), 0x7010, &chain);
	assert_string_equal(chain[0].function->name, "lambda_one");
	assert_int_equal(chain[0].flags, FG_FRAME_JIT);
	(void)fg_symbolizer_find(symbolizer, fg_symbolizer_jit(symbolizer, pid), 0x7044, &chain);
	assert_string_equal(chain[0].function->name, "patched");
	(void)fg_symbolizer_find(symbolizer, fg_symbolizer_jit(symbolizer, pid), 0x7104, &chain);
	assert_int_equal(chain[0].flags, FG_FRAME_NAMELESS);
	(void)unlink(path);
	fg_symbolizer_free(symbolizer);
}

static void check_place(const char *name, const char *expected, const char *file, unsigned line)
{
	struct fg_jit_place place = {0};

	assert_true(fg_jit_place_read(name, &place));
	assert_string_equal(place.name, expected);
	assert_string_equal(place.file, file);
	assert_int_equal(place.line, line);
	free(place.name);
	free(place.file);
}

FG_TEST_IN(scripts_are_named_alike_wherever_they_lie, set_up, tear_down)
{
	static const char *const others[] = {
		"int Hot.warm(int)",
		"JS:*hot",
		"JS:*hot /a/bench.js",
		"JS:*hot /a/bench.js:1",
		"JS:*hot /a/bench.js:x:1",
		"JS:*hot node:fs:1:13",
		"",
		":1:2",
		" /:1:",
	};
	struct fg_jit_place place = {0};

	check_place("JS:*hot /a/b/bench.js:17:13", "JS:*hot bench.js", "/a/b/bench.js", 17);
	check_place("JS:~get size file:///a/b.mjs:2:1", "JS:~get size b.mjs", "/a/b.mjs", 2);
	check_place("JS:* /a/bench.js:3:40", "JS:* bench.js:3:40", "/a/bench.js", 3);
	for (size_t i = 0; i < FG_ARRAY_SIZE(others); i++)
		assert_false(fg_jit_place_read(others[i], &place));
}
