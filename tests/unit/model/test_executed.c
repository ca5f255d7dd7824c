// SPDX-License-Identifier: Apache-2.0
#include "base/strbuf.h"
#include "model/executed.h"
#include "tests/support/fg_test.h"

static struct fg_executed executed;

static void make(void)
{
	struct fg_executed_file *program = NULL;

	fg_executed_release(&executed);
	executed = (struct fg_executed){0};
	program = fg_executed_add_file(&executed, "build/my program", true, "0123");
	fg_executed_add_function(program, "main");
	fg_executed_add_function(program, "parse.part.0");
	fg_executed_add_function(program, "_ZN3FooC1Ev");
	fg_executed_add_file(&executed, "/usr/lib/libm.so.6", false, "4567")->is_whole = true;
}

FG_TEST(a_part_and_a_clone_stand_for_their_function)
{
	const struct fg_executed_file *program = NULL;

	make();
	program = fg_executed_find(&executed, "build/my program");
	assert_non_null(program);
	assert_true(fg_executed_has_function(program, "parse"));
	assert_true(fg_executed_has_function(program, "parse.cold"));
	assert_true(fg_executed_has_function(program, "main.constprop.1"));
	assert_false(fg_executed_has_function(program, "parser"));
	assert_false(fg_executed_has_function(program, "pars"));
	assert_null(fg_executed_find(&executed, "build/my"));
}

FG_TEST(written_lists_are_read_back)
{
	struct fg_strbuf text = {0};
	struct fg_strbuf again = {0};
	struct fg_executed read;

	make();
	fg_executed_doubt(&executed, "it starts %s", "sh");
	fg_executed_doubt(&executed, "another reason");
	fg_executed_write(&executed, &text);
	assert_int_equal(fg_executed_read(text.data, text.length, &read, NULL), FG_OK);
	fg_executed_write(&read, &again);
	assert_string_equal(fg_strbuf_text(&again), fg_strbuf_text(&text));
	assert_string_equal(read.doubt, "it starts sh");
	assert_int_equal(read.file_count, 2);
	assert_true(read.files[0].is_inside);
	assert_false(read.files[0].is_whole);
	assert_string_equal(read.files[0].path, "build/my program");
	assert_string_equal(read.files[0].identity, "0123");
	assert_true(fg_executed_has_function(&read.files[0], "_ZN3FooC1Ev"));
	assert_true(read.files[1].is_whole);
	fg_executed_release(&read);
	fg_strbuf_release(&text);
	fg_strbuf_release(&again);
}

FG_TEST(a_broken_file_is_refused)
{
	static const char *const texts[] = {
		"",
		"fastgate-executed/2\n",
		"fastgate-executed/1\nfile inside named\n",
		"fastgate-executed/1\nfile inside named 01 \n",
		"fastgate-executed/1\n main\n",
		"fastgate-executed/1\nfile inside named 01 work\n main",
		"fastgate-executed/1\nsomething else\n",
	};
	struct fg_executed read;
	struct fg_error err = {0};

	for (size_t i = 0; i < FG_ARRAY_SIZE(texts); i++) {
		assert_int_equal(fg_executed_read(texts[i], strlen(texts[i]), &read, &err),
				 FG_EPARSE);
		assert_int_equal(read.file_count, 0);
	}
}

FG_TEST(the_sampler_adds_unknown_functions)
{
	make();
	assert_true(fg_executed_add_sampled(&executed, "my program", "fast_path"));
	assert_false(fg_executed_add_sampled(&executed, "my program", "fast_path"));
	assert_false(fg_executed_add_sampled(&executed, "libm.so.6", "sin"));
	assert_true(fg_executed_has_function(&executed.files[0], "fast_path"));
}
