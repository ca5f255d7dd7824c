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

static struct fg_scratch scratch;
static struct fg_elf elf; /* LIBRARY, before its debug sections are split off */
static struct fg_symbolizer *symbolizer;
static const struct fg_symbol *chain; /* the last one found */
static struct fg_error err;

static void run(const char *program, const char *const *arguments)
{
	char *argv[12] = {fg_xstrdup(program)};
	struct fg_process_options options = {.argv = argv, .stderr_to = FG_STREAM_INHERIT};
	struct fg_process_result result = {0};

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
	(void)state;
	fg_scratch_init(&scratch);
	if (fg_elf_read(LIBRARY, &elf, &err) != FG_OK)
		fail_msg("%s", err.message);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fg_symbolizer_free(symbolizer);
	symbolizer = NULL;
	fg_elf_release(&elf);
	fg_scratch_release(&scratch);
	return 0;
}

static void new_symbolizer(const struct fg_symbolizer_options *options)
{
	fg_symbolizer_free(symbolizer);
	symbolizer = fg_symbolizer_new(options);
}

static const char *in(const char *name)
{
	return fg_scratch_path(&scratch, name);
}

/* Splits the library: `stripped` without names and debug information, `debug` with only these. */
static void split(const char *stripped, const char *debug)
{
	run("objcopy", (const char *const[]){"--only-keep-debug", LIBRARY, debug, NULL});
	run("objcopy", (const char *const[]){"--strip-all", LIBRARY, stripped, NULL});
}

static uint64_t address_of(const struct fg_elf *of, const char *name)
{
	for (size_t i = 0; i < of->symbol_count; i++)
		if (strcmp(fg_elf_name(of, &of->symbols[i]), name) == 0)
			return of->symbols[i].value;
	fail_msg("no symbol '%s'", name);
	return 0;
}

static unsigned line_of(const char *mark)
{
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

/* `of` is the library whose build-id is expected. */
static struct fg_symbol_module *open_module(const struct fg_elf *of, const char *path)
{
	return fg_symbolizer_module(symbolizer, path, of->build_id, of->build_id_size, false);
}

/* Finds the innermost name at an address of the module. */
static size_t find(struct fg_symbol_module *module, uint64_t address)
{
	return fg_symbolizer_find(symbolizer, module, address, &chain);
}

/* Finds an address in target_outer() with the chain outer → middle → inner. */
static size_t find_inlined(struct fg_symbol_module *module, const struct fg_elf *of)
{
	uint64_t start = address_of(of, "target_outer");

	for (uint64_t at = start; at < start + 64; at++)
		if (find(module, at) == 3)
			return 3;
	return 0;
}

static void expect_inlined_of(const struct fg_elf *of, const char *path)
{
	struct fg_symbol_module *module = open_module(of, path);

	if (find_inlined(module, of) != 3)
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

/* A symbolizer with these options finds the whole chain. Its end writes the cache, if any. */
static void expect_inlined(const struct fg_symbolizer_options *options, const char *path)
{
	new_symbolizer(options);
	expect_inlined_of(&elf, path);
	fg_symbolizer_free(symbolizer);
	symbolizer = NULL;
}

/* The caller releases the name of the cache's file. */
static char *cache_file(void)
{
	char text[FG_BUILD_ID_TEXT];

	fg_elf_build_id_text(&elf, text);
	return fg_xasprintf("symbols/%.2s/%s.fgsym", text, text + 2);
}

/* Splits the library into libs.so and libs.debug, to which libs.so has a link. */
static void split_and_link(void)
{
	char *link = fg_xasprintf("--add-gnu-debuglink=%s", in("libs.debug"));

	split(in("libs.so"), in("libs.debug"));
	run("objcopy", (const char *const[]){link, in("libs.so"), NULL});
	free(link);
}

FG_TEST_IN(inlined_frames_and_lines_are_found, set_up, tear_down)
{
	expect_inlined(NULL, LIBRARY);
}

FG_TEST_IN(addresses_are_found_in_any_order_and_repeatedly, set_up, tear_down)
{
	enum {
		COUNT = 64
	};
	const uint64_t start = address_of(&elf, "target_outer");
	struct fg_symbolizer *up = fg_symbolizer_new(NULL);
	struct fg_symbol_module *ordered =
		fg_symbolizer_module(up, LIBRARY, elf.build_id, elf.build_id_size, false);
	const struct fg_symbol *first[COUNT] = {NULL};
	struct fg_symbol_module *mixed;

	new_symbolizer(NULL);
	mixed = open_module(&elf, LIBRARY);
	for (size_t i = 0; i < COUNT; i++)
		(void)fg_symbolizer_find(up, ordered, start + i, &first[i]);
	for (size_t i = 0; i < 3 * (size_t)COUNT; i++) {
		const size_t at = i * 37 % COUNT; /* each address three times, in mixed order */
		const size_t count = find(mixed, start + at);
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
}

FG_TEST_IN(names_only_looks_at_no_debug_information, set_up, tear_down)
{
	struct fg_symbol_module *module;

	new_symbolizer(&(struct fg_symbolizer_options){.names_only = true});
	module = open_module(&elf, LIBRARY);
	assert_int_equal(find_inlined(module, &elf), 0);
	assert_int_equal(find(module, address_of(&elf, "target_hidden")), 1);
	assert_string_equal(chain[0].function->name, "target_hidden");
	assert_null(chain[0].at_file);
}

FG_TEST_IN(a_stripped_library_has_its_dynamic_names_and_beginnings, set_up, tear_down)
{
	const uint64_t start = address_of(&elf, "target_hidden");
	char *name = fg_xasprintf("libstripped.so+0x%llx", (unsigned long long)start);
	struct fg_symbol_module *module;

	split(in("libstripped.so"), in("elsewhere.debug"));
	new_symbolizer(NULL);
	module = open_module(&elf, in("libstripped.so"));
	(void)find(module, address_of(&elf, "target_plain"));
	assert_string_equal(chain[0].function->name, "target_plain");
	for (uint64_t at = start; at < start + 4; at++) {
		(void)find(module, at);
		assert_string_equal(chain[0].function->name, name);
		assert_int_equal(chain[0].flags, FG_FRAME_NAMELESS);
	}
	free(name);
}

FG_TEST_IN(binaries_of_another_byte_order_or_width_are_refused_in_words, set_up, tear_down)
{
	static const struct {
		size_t at;
		char value;
	} changes[] = {{EI_DATA, ELFDATA2MSB}, {EI_DATA, 9}, {EI_CLASS, 0}, {EI_CLASS, 3}};
	size_t size;
	char *bytes;

	assert_int_equal(fg_fs_read(LIBRARY, 1 << 24, &bytes, &size, &err), FG_OK);
	for (size_t i = 0; i < FG_ARRAY_SIZE(changes); i++) {
		const char old = bytes[changes[i].at];
		struct fg_elf changed;

		bytes[changes[i].at] = changes[i].value;
		assert_int_equal(fg_elf_parse(bytes, size, "other", &changed, &err),
				 FG_EUNSUPPORTED);
		assert_non_null(strstr(err.message,
				       "other: only little-endian ELF files of 32 or 64 bits"));
		bytes[changes[i].at] = old;
	}
	free(bytes);
}

static void skip_without(const char *program)
{
	char *path = fg_fs_find_program(program);

	if (!path)
		skip();
	free(path);
}

/* Strips the library, and adds a file as its packed symbol table. */
static void strip_and_add(const char *stripped, const char *packed)
{
	char *add = fg_xasprintf(".gnu_debugdata=%s", packed);

	run("objcopy",
	    (const char *const[]){"--strip-all", "--add-section", add, LIBRARY, stripped, NULL});
	free(add);
}

/*
 * A stripped library as distributions ship it: symbols that .dynsym lacks are in a compressed ELF
 * file inside a section.
 */
FG_TEST_IN(a_packed_symbol_table_in_a_stripped_library_has_its_hidden_names, set_up, tear_down)
{
	const char *stripped = in("libmini.so");
	const char *mini = in("mini");
	const char *packed = in("mini.xz");
	struct fg_symbol_module *module = NULL;

	skip_without("xz");
	run("objcopy", (const char *const[]){"--only-keep-debug", LIBRARY, mini, NULL});
	run("objcopy", (const char *const[]){"-S", "--keep-symbol=target_hidden", mini, NULL});
	run("xz", (const char *const[]){"-k", mini, NULL});
	strip_and_add(stripped, packed);
	new_symbolizer(&(struct fg_symbolizer_options){.debug_root = "/nowhere"});
	module = open_module(&elf, stripped);
	assert_int_equal(find(module, address_of(&elf, "target_hidden")), 1);
	assert_string_equal(chain[0].function->name, "target_hidden");
	assert_non_null(strstr(fg_symbol_module_source(module), "compressed symbol table"));
	(void)find(module, address_of(&elf, "target_plain"));
	assert_string_equal(chain[0].function->name, "target_plain"); /* from .dynsym */
}

FG_TEST_IN(a_damaged_packed_symbol_table_is_refused, set_up, tear_down)
{
	static const char rubbish[] =
		"\3757zXZ\0 and then something else, which is no stream of xz";
	const char *stripped = in("librubbish.so");
	const char *section = in("rubbish");
	struct fg_symbol_module *module = NULL;
	struct fg_elf mini;

	assert_int_equal(fg_fs_write_atomic(section, rubbish, sizeof(rubbish), 0600, &err), FG_OK);
	strip_and_add(stripped, section);
	assert_int_equal(fg_mini_debug_read(stripped, &mini, &err), FG_EPARSE);
	assert_int_equal(fg_mini_debug_read(LIBRARY, &mini, &err), FG_ENOENT);
	new_symbolizer(&(struct fg_symbolizer_options){.debug_root = "/nowhere"});
	module = open_module(&elf, stripped);
	(void)find(module, address_of(&elf, "target_plain"));
	assert_string_equal(chain[0].function->name, "target_plain");
}

/* dwz moves data that several files share into a third file. */
FG_TEST_IN(debug_information_that_files_share_is_followed, set_up, tear_down)
{
	const char *one = in("libone.so");
	const char *other = in("libother.so");
	struct fg_elf shared = {0};

	skip_without("dwz");
	assert_int_equal(fg_elf_read(FG_TEST_SYMBOLS_SHARED, &shared, &err), FG_OK);
	run("cp", (const char *const[]){FG_TEST_SYMBOLS_SHARED, one, NULL});
	run("cp", (const char *const[]){FG_TEST_SYMBOLS_SHARED, other, NULL});
	run("dwz", (const char *const[]){"-m", in("shared.debug"), one, other, NULL});
	new_symbolizer(NULL);
	expect_inlined_of(&shared, one);
	assert_int_equal(unlink(in("shared.debug")), 0);
	new_symbolizer(NULL); /* no shared file: fewer details, no crash */
	(void)find(open_module(&shared, other), address_of(&shared, "target_outer"));
	fg_elf_release(&shared);
}

static char *only_dwo(void)
{
	char *found = NULL;
	char **names;
	size_t count;

	assert_int_equal(fg_fs_list(scratch.path, &names, &count, &err), FG_OK);
	for (size_t i = 0; i < count; i++)
		if (!found && strstr(names[i], ".dwo"))
			found = fg_fs_join(scratch.path, names[i]);
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
	const struct fg_symbolizer_options options = {.cache_folder = scratch.path};
	const char *library = in("libsplit.so");
	char *dwo = NULL;
	char *away = NULL;

	skip_without("gcc");
	run("gcc", (const char *const[]){"-g", "-O2", "-gsplit-dwarf", "-shared", "-fPIC",
					 "-Wl,--build-id", "-o", library, SOURCE, NULL});
	dwo = only_dwo();
	away = fg_xasprintf("%s.away", dwo);
	for (int there = 0; there < 2; there++) {
		struct fg_symbol_module *module;
		struct fg_elf whole;
		size_t longest = 0;
		bool has_line = false;

		new_symbolizer(&options);
		module = fg_symbolizer_module(symbolizer, library, NULL, 0, false);
		assert_int_equal(there ? rename(away, dwo) : rename(dwo, away), 0);
		assert_int_equal(fg_elf_read(library, &whole, &err), FG_OK);
		for (uint64_t at = 0; at < 32; at++) {
			const size_t count = find(module, address_of(&whole, "target_outer") + at);

			longest = count > longest ? count : longest;
			has_line = has_line || chain[0].at_line > 0;
		}
		assert_int_equal(longest, there ? 3 : 1);
		assert_true(has_line);
		assert_int_equal(fg_symbol_module_missing_units(module), there ? 0 : 1);
		fg_elf_release(&whole);
	}
	free(dwo);
	free(away);
}

FG_TEST_IN(a_separate_file_is_found_by_build_id, set_up, tear_down)
{
	const char *root = in("debug");
	const struct fg_symbolizer_options options = {.debug_root = root};
	char text[FG_BUILD_ID_TEXT];
	char *file;
	char *folder;

	fg_elf_build_id_text(&elf, text);
	file = fg_xasprintf("%s/.build-id/%.2s/%s.debug", root, text, text + 2);
	folder = fg_fs_parent(file);
	assert_int_equal(fg_fs_make_folders(folder, 0755, &err), FG_OK);
	split(in("libs.so"), file);
	expect_inlined(&options, in("libs.so"));
	free(file);
	free(folder);
}

FG_TEST_IN(a_separate_file_is_found_by_its_link_and_checked, set_up, tear_down)
{
	char *text;
	size_t size;

	split_and_link();
	expect_inlined(NULL, in("libs.so"));
	/* one flipped bit: the separate file's checksum no longer matches, so it is not used */
	text = fg_scratch_read(&scratch, "libs.debug", &size);
	text[size - 1] ^= 1;
	fg_scratch_write(&scratch, "libs.debug", text, size);
	new_symbolizer(NULL);
	assert_int_equal(find_inlined(open_module(&elf, in("libs.so")), &elf), 0);
	free(text);
}

FG_TEST_IN(a_binary_of_another_build_is_not_guessed_from, set_up, tear_down)
{
	static const uint8_t OTHER[] = {0xde, 0xad, 0xbe, 0xef};
	struct fg_symbol_module *module;

	new_symbolizer(NULL);
	module = fg_symbolizer_module(symbolizer, LIBRARY, OTHER, sizeof(OTHER), false);
	assert_true(fg_symbol_module_is_bad(module));
	assert_non_null(strstr(fg_symbol_module_source(module), "deadbeef"));
	assert_int_equal(find(module, address_of(&elf, "target_plain")), 1);
	assert_int_equal(chain[0].flags, FG_FRAME_NAMELESS);
}

FG_TEST_IN(a_trace_from_another_host_finds_its_binaries_in_a_folder, set_up, tear_down)
{
	const char *folders[] = {scratch.path, NULL};
	const struct fg_symbolizer_options options = {.binary_folders = folders};

	assert_int_equal(fg_fs_copy(LIBRARY, in("libcarried.so"), 0644, &err), FG_OK);
	expect_inlined(&options, "/opt/far/away/libcarried.so");
}

FG_TEST_IN(the_cache_gives_the_same_answers_without_the_debug_information, set_up, tear_down)
{
	const struct fg_symbolizer_options options = {.cache_folder = scratch.path};
	char *file = cache_file();

	split_and_link();
	for (int round = 0; round < 3; round++) {
		expect_inlined(&options, in("libs.so"));
		assert_true(fg_fs_exists(in(file)));
	}
	free(file);
}

FG_TEST_IN(unused_cache_files_are_removed, set_up, tear_down)
{
	static const struct timespec LONG_AGO[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};
	const struct fg_symbolizer_options options = {.cache_folder = scratch.path};
	char *file = cache_file();

	assert_int_equal(fg_fs_make_folders(in("symbols/aa"), 0755, &err), FG_OK);
	fg_scratch_write_text(&scratch, "symbols/aa/old.fgsym", "x");
	fg_scratch_write_text(&scratch, "symbols/aa/new.fgsym", "x");
	fg_scratch_write_text(&scratch, "symbols/aa/other", "x");
	assert_int_equal(utimensat(AT_FDCWD, in("symbols/aa/old.fgsym"), LONG_AGO, 0), 0);
	assert_int_equal(utimensat(AT_FDCWD, in("symbols/aa/other"), LONG_AGO, 0), 0);
	expect_inlined(&options, LIBRARY);
	assert_false(fg_fs_exists(in("symbols/aa/old.fgsym")));
	assert_true(fg_fs_exists(in("symbols/aa/new.fgsym")));
	assert_true(fg_fs_exists(in("symbols/aa/other")));
	assert_true(fg_fs_exists(in(file)));
	free(file);
}

/* A debuginfod server without a network: libdebuginfod accepts file:// as well. */
FG_TEST_IN(debuginfod_is_used_when_switched_on, set_up, tear_down)
{
	char *url = fg_xasprintf("file://%s", scratch.path);
	char text[FG_BUILD_ID_TEXT];
	char *folder;
	void *library = dlopen("libdebuginfod.so.1", RTLD_NOW);

	if (!library)
		skip(); /* not installed here */
	(void)dlclose(library);
	fg_elf_build_id_text(&elf, text);
	folder = fg_xasprintf("%s/buildid/%s", scratch.path, text);
	assert_int_equal(fg_fs_make_folders(folder, 0755, &err), FG_OK);
	split(in("libs.so"), in("whole.debug"));
	free(folder);
	folder = fg_xasprintf("%s/buildid/%s/debuginfo", scratch.path, text);
	assert_int_equal(fg_fs_copy(in("whole.debug"), folder, 0644, &err), FG_OK);
	(void)setenv("DEBUGINFOD_URLS", url, 1);
	(void)setenv("DEBUGINFOD_CACHE_PATH", in("debuginfod"), 1);
	expect_inlined(&(struct fg_symbolizer_options){.debuginfod = true}, in("libs.so"));
	new_symbolizer(NULL); /* off: no server is asked */
	assert_int_equal(find_inlined(open_module(&elf, in("libs.so")), &elf), 0);
	(void)unsetenv("DEBUGINFOD_URLS");
	free(folder);
	free(url);
}

FG_TEST_IN(a_damaged_cache_is_made_anew, set_up, tear_down)
{
	const struct fg_symbolizer_options options = {.cache_folder = scratch.path};
	char *file = cache_file();
	char *bytes;
	size_t size;

	expect_inlined(&options, LIBRARY);
	bytes = fg_scratch_read(&scratch, file, &size);
	for (size_t at = 0; at < size; at += size / 13 + 1) {
		for (int cut = 0; cut < 2; cut++) {
			bytes[at] ^= 0x20;
			fg_scratch_write(&scratch, file, bytes, cut ? at : size);
			bytes[at] ^= 0x20;
			expect_inlined(&options, LIBRARY);
		}
	}
	free(bytes);
	free(file);
}

FG_TEST_IN(damaged_binaries_are_refused_or_read_without_harm, set_up, tear_down)
{
	size_t size;
	char *bytes;

	assert_int_equal(fg_fs_read(LIBRARY, 1 << 24, &bytes, &size, &err), FG_OK);
	for (size_t i = 0; i < 200; i++) {
		struct fg_elf damaged;
		size_t at = i < 64 ? i : size - (i - 63) * 16; /* header, then section table */
		char old = bytes[at];

		bytes[at] = (char)0xff;
		if (fg_elf_parse(bytes, size, "damaged", &damaged, &err) == FG_OK) {
			(void)fg_elf_find(&damaged, 0x1100);
			(void)fg_elf_plt_target(&damaged, 0x1020);
			fg_elf_release(&damaged);
		}
		bytes[at] = old;
		if (fg_elf_parse(bytes, size * i / 200, "cut", &damaged, &err) == FG_OK)
			fg_elf_release(&damaged);
	}
	assert_int_equal(fg_elf_parse("rubbish", 7, "rubbish", &(struct fg_elf){0}, &err),
			 FG_EPARSE);
	free(bytes);
}

FG_TEST_IN(the_vdso_has_names, set_up, tear_down)
{
	struct fg_symbol_module *module;
	bool found = false;

	new_symbolizer(NULL);
	module = fg_symbolizer_module(symbolizer, "[vdso]", NULL, 0, true);
	for (uint64_t at = 0; at < 0x2000 && !found; at += 16) {
		(void)find(module, at);
		found = strstr(chain[0].function->name, "vdso_") != NULL;
	}
	assert_true(found);
}

FG_TEST_IN(code_made_at_run_time_is_named_by_its_map, set_up, tear_down)
{
	const uint32_t pid = (uint32_t)getpid();
	char path[64];
	FILE *file;

	(void)snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
	file = fopen(path, "we");
	assert_non_null(file);
	(void)fputs(
		"7000 100 lambda_one\nrubbish\n7100 10 \n7040 8 patched\nffffffffffffffff 9 wrap\n",
		file);
	(void)fclose(file);
	new_symbolizer(NULL);
	(void)find(fg_symbolizer_jit(symbolizer, pid), 0x7010);
	assert_string_equal(chain[0].function->name, "lambda_one");
	assert_int_equal(chain[0].flags, FG_FRAME_JIT);
	(void)find(fg_symbolizer_jit(symbolizer, pid), 0x7044);
	assert_string_equal(chain[0].function->name, "patched");
	(void)find(fg_symbolizer_jit(symbolizer, pid), 0x7104);
	assert_int_equal(chain[0].flags, FG_FRAME_NAMELESS);
	(void)unlink(path);
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
