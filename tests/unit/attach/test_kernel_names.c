// SPDX-License-Identifier: Apache-2.0
#include "profile/attach/kernel_names.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"

#include <string.h>

static const char symbols[] = "ffffffff81000100 T do_syscall_64\n"
			      "ffffffff81000000 T _text\n"
			      "ffffffff81000000 T _stext\n"
			      "ffffffff81000180 D a_variable\n"
			      "ffffffff81000200 t vfs_read\n"
			      "not a line\n"
			      "ffffffffc0001000 t ext4_read\t[ext4]\n";

static const char *name_at(const struct fg_kernel_names *names, uint64_t address)
{
	const struct fg_kernel_function *function = fg_kernel_names_find(names, address);

	return function ? function->name : NULL;
}

FG_TEST(functions_reach_to_the_next_one)
{
	struct fg_scratch scratch;
	struct fg_kernel_names names;
	struct fg_error err = {0};

	fg_scratch_init(&scratch);
	fg_scratch_write_text(&scratch, "kallsyms", symbols);
	assert_int_equal(fg_kernel_names_read(fg_scratch_path(&scratch, "kallsyms"), &names, &err),
			 FG_OK);
	assert_string_equal(name_at(&names, 0xffffffff81000000), "_stext");
	assert_string_equal(name_at(&names, 0xffffffff81000190), "do_syscall_64");
	assert_string_equal(name_at(&names, 0xffffffff81000200), "vfs_read");
	assert_string_equal(fg_kernel_names_find(&names, 0xffffffff81000200)->library, "[kernel]");
	assert_string_equal(name_at(&names, 0xffffffffc0001010), "ext4_read");
	assert_string_equal(fg_kernel_names_find(&names, 0xffffffffc0001010)->library, "[ext4]");
	assert_null(name_at(&names, 0xffffffff80ffffff));
	assert_null(name_at(&names, 0xffffffffa0000000)); /* in a gap, far from any symbol */
	fg_kernel_names_release(&names);
	fg_scratch_release(&scratch);
}

FG_TEST(hidden_addresses_are_not_names)
{
	struct fg_scratch scratch;
	struct fg_kernel_names names;
	struct fg_error err = {0};

	fg_scratch_init(&scratch);
	fg_scratch_write_text(&scratch, "kallsyms", "0000000000000000 T _text\n");
	assert_int_equal(fg_kernel_names_read(fg_scratch_path(&scratch, "kallsyms"), &names, &err),
			 FG_EUNSUPPORTED);
	assert_non_null(strstr(err.message, "kernel.kptr_restrict"));
	fg_scratch_release(&scratch);
}
