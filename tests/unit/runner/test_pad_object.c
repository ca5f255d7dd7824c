// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "runner/build/pad_object.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static struct fg_scratch scratch;

static char *sh(const char *script)
{
	char *argv[] = {"/bin/sh", "-ec", (char *)(uintptr_t)script, NULL};

	return fg_scratch_run(argv, scratch.path);
}

static int set_up(void **state)
{
	(void)state;
	fg_scratch_init(&scratch);
	free(sh("echo 'int main(void) { return 0; }' >main.c; cc -c main.c"));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fg_scratch_release(&scratch);
	return 0;
}

static void write_pad(size_t pad_bytes)
{
	struct fg_error err = {0};

	assert_int_equal(fg_pad_object_write(fg_scratch_path(&scratch, "pad.o"), pad_bytes, &err),
			 FG_OK);
}

/* Links the program with this much padding, runs it, and returns the address of main(). */
static unsigned long place_of_main(size_t pad_bytes)
{
	char *text = NULL;
	unsigned long place = 0;

	write_pad(pad_bytes);
	free(sh("cc -Wl,--gc-sections,-u," FG_PAD_SYMBOL " -o program pad.o main.o; ./program"));
	text = sh("nm program | sed -n 's/ T main$//p'");
	place = strtoul(text, NULL, 16);
	assert_int_not_equal(place, 0);
	free(text);
	return place;
}

FG_TEST_IN(code_is_shifted_by_the_requested_bytes, set_up, tear_down)
{
	unsigned long unshifted = place_of_main(0);

	assert_int_equal(place_of_main(16), unshifted + 16);
	assert_int_equal(place_of_main(32), unshifted + 32);
	assert_int_equal(place_of_main(48), unshifted + 48);
}

FG_TEST_IN(the_stack_stays_without_execution, set_up, tear_down)
{
	char *text = NULL;

	(void)place_of_main(48);
	text = sh("readelf -lW program | grep GNU_STACK");
	assert_non_null(strstr(text, " RW "));
	assert_null(strstr(text, "RWE"));
	free(text);
}

FG_TEST_IN(its_symbol_is_not_exported_by_a_library, set_up, tear_down)
{
	char *text = NULL;

	write_pad(32);
	text = sh("cc -shared -fPIC -o library.so pad.o main.o; nm -D library.so");
	assert_null(strstr(text, FG_PAD_SYMBOL));
	assert_non_null(strstr(text, " T main"));
	free(text);
}

FG_TEST_IN(all_parts_lie_within_the_file, set_up, tear_down)
{
	char *bytes = NULL;
	size_t size = 0;
	Elf64_Ehdr header;
	struct fg_error err = {0};

	write_pad(256);
	assert_int_equal(
		fg_fs_read(fg_scratch_path(&scratch, "pad.o"), 1 << 20, &bytes, &size, &err),
		FG_OK);
	memcpy(&header, bytes, sizeof(header));
	for (size_t i = 0; i < header.e_shnum; i++) {
		Elf64_Shdr section;
		size_t at = header.e_shoff + i * sizeof(section);

		assert_true(at + sizeof(section) <= size);
		memcpy(&section, bytes + at, sizeof(section));
		assert_true(section.sh_offset + section.sh_size <= size);
	}
	free(bytes);
}

FG_TEST_IN(a_folder_that_is_not_there_is_an_error, set_up, tear_down)
{
	struct fg_error err = {0};

	assert_int_not_equal(
		fg_pad_object_write(fg_scratch_path(&scratch, "missing/pad.o"), 16, &err), FG_OK);
	assert_non_null(strstr(err.message, "missing"));
}
