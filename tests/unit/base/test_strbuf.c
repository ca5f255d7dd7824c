// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "base/strbuf.h"
#include "tests/support/fg_test.h"

FG_TEST(empty_buffer_reads_as_empty_text)
{
	struct fg_strbuf text = {0};
	char *mine = NULL;

	assert_string_equal(fg_strbuf_text(&text), "");
	mine = fg_strbuf_detach(&text);
	assert_string_equal(mine, "");
	free(mine);
}

FG_TEST(pieces_are_joined_whatever_their_length)
{
	struct fg_strbuf text = {0};
	char big[1000];

	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	fg_strbuf_add_text(&text, "a");
	fg_strbuf_add_char(&text, 'b');
	fg_strbuf_printf(&text, "%d%s", 7, big);
	fg_strbuf_add_repeated(&text, '-', 3);
	assert_int_equal(text.length, 3 + 999 + 3);
	assert_memory_equal(text.data, "ab7xxx", 6);
	assert_string_equal(text.data + text.length - 4, "x---");
	fg_strbuf_release(&text);
}

FG_TEST(limit_cuts_and_says_so)
{
	struct fg_strbuf text = {0};

	fg_strbuf_set_limit(&text, 5);
	fg_strbuf_add_text(&text, "abc");
	assert_false(text.cut);
	fg_strbuf_add_text(&text, "defgh");
	assert_true(text.cut);
	assert_string_equal(text.data, "abcde");
	fg_strbuf_add_text(&text, "more");
	assert_int_equal(text.length, 5);
	fg_strbuf_release(&text);
}

FG_TEST(arena_memory_is_zeroed_aligned_and_apart)
{
	struct fg_arena arena = {0};
	unsigned char *before = NULL;

	for (size_t size = 1; size < 300; size += 7) {
		unsigned char *memory = fg_arena_alloc(&arena, size);

		assert_int_equal((uintptr_t)memory % 16, 0);
		for (size_t i = 0; i < size; i++)
			assert_int_equal(memory[i], 0);
		memset(memory, 0xff, size);
		assert_ptr_not_equal(memory, before);
		before = memory;
	}
	assert_string_equal(fg_arena_printf(&arena, "%s-%d", "n", 3), "n-3");
	assert_string_equal(fg_arena_strndup(&arena, "abcdef", 3), "abc");
	assert_null(fg_arena_strdup(&arena, NULL));
	assert_non_null(fg_arena_alloc(&arena, 100000));
	fg_arena_release(&arena);
	assert_int_equal(arena.used_bytes, 0);
}
