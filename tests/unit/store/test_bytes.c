// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"
#include "store/bytes.h"
#include "store/matrix.h"
#include "tests/support/fg_test.h"

#include <math.h>

static struct fg_byte_reader reader_of(const struct fg_bytes *bytes)
{
	return (struct fg_byte_reader){bytes->data, bytes->data + bytes->size, false};
}

static void numbers_come_back(void **state)
{
	static const int64_t numbers[] = {0, 1, -1, 63, -64, 127, 128, -129, INT64_MAX, INT64_MIN};
	struct fg_bytes bytes = {0};
	struct fg_byte_reader reader;

	(void)state;
	for (size_t i = 0; i < FG_ARRAY_SIZE(numbers); i++) {
		fg_bytes_signed(&bytes, numbers[i]);
		fg_bytes_varint(&bytes, (uint64_t)numbers[i]);
	}
	fg_bytes_double(&bytes, -0.1);
	fg_bytes_float(&bytes, 2.5F);
	fg_bytes_text(&bytes, "a<b>");
	fg_bytes_text(&bytes, NULL);
	reader = reader_of(&bytes);
	for (size_t i = 0; i < FG_ARRAY_SIZE(numbers); i++) {
		assert_int_equal(fg_read_signed(&reader), numbers[i]);
		assert_int_equal(fg_read_varint(&reader), (uint64_t)numbers[i]);
	}
	assert_true(fabs(fg_read_double(&reader) + 0.1) < 1e-300);
	assert_true(fabsf(fg_read_float(&reader) - 2.5F) < 1e-30F);
	{
		const char *text = NULL;

		assert_int_equal(fg_read_text(&reader, 10, &text), 4);
		assert_memory_equal(text, "a<b>", 4);
		assert_int_equal(fg_read_text(&reader, 10, &text), 0);
		assert_null(text);
	}
	assert_false(reader.failed);
	assert_ptr_equal(reader.at, reader.end);
	fg_bytes_release(&bytes);
}

static void reading_past_the_end_fails_and_stays_failed(void **state)
{
	const uint8_t endless[] = {0xff, 0xff, 0xff};
	struct fg_byte_reader reader = {endless, endless + sizeof(endless), false};

	(void)state;
	assert_int_equal(fg_read_varint(&reader), 0);
	assert_true(reader.failed);
	assert_int_equal(fg_read_varint(&reader), 0);
}

static void announced_counts_are_held_against_what_is_there(void **state)
{
	struct fg_bytes bytes = {0};
	struct fg_byte_reader reader;
	const char *text = NULL;

	(void)state;
	fg_bytes_varint(&bytes, 1000000000);
	reader = reader_of(&bytes);
	assert_int_equal(fg_read_count(&reader, 1), 0);
	assert_true(reader.failed);
	reader = reader_of(&bytes);
	assert_int_equal(fg_read_text(&reader, SIZE_MAX, &text), 0);
	assert_true(reader.failed);
	fg_bytes_release(&bytes);
}

static void sealed_block_comes_back(void **state)
{
	struct fg_bytes block = {0};
	struct fg_bytes content = {0};
	struct fg_error err = {0};

	(void)state;
	assert_int_equal(fg_pack("hello", 5, 3, &block, &err), FG_OK);
	assert_int_equal(fg_unpack(block.data, block.size, 5, &content, &err), FG_OK);
	assert_int_equal(content.size, 5);
	assert_string_equal((const char *)content.data, "hello");
	fg_bytes_release(&content);
	assert_int_equal(fg_unpack(block.data, block.size, 4, &content, &err), FG_ELIMIT);
	fg_bytes_release(&block);
}

/*
 * Numbers of one kind after numbers of another: apart they take less room, and come back as one
 * text.
 */
static void breaks_save_room_and_change_nothing(void **state)
{
	struct fg_bytes whole = {0};
	struct fg_bytes apart = {0};
	struct fg_bytes blocks[2] = {{0}};
	struct fg_bytes content = {0};
	struct fg_error err = {0};
	struct fg_random random;

	(void)state;
	fg_random_seed(&random, 11);
	for (int kind = 0; kind < 8; kind++) {
		for (int i = 0; i < 3000; i++) {
			const uint8_t byte =
				(uint8_t)(16 * kind + (int)fg_random_below(&random, 4));

			fg_bytes_add(&whole, &byte, 1);
			fg_bytes_add(&apart, &byte, 1);
		}
		fg_bytes_break(&apart);
		fg_bytes_break(&apart); /* one is as good as two */
	}
	assert_int_equal(apart.break_count, 8);
	assert_int_equal(fg_pack_bytes(&whole, 7, &blocks[0], &err), FG_OK);
	assert_int_equal(fg_pack_bytes(&apart, 7, &blocks[1], &err), FG_OK);
	assert_true(blocks[1].size * 10 < blocks[0].size * 9);
	assert_int_equal(fg_unpack(blocks[1].data, blocks[1].size, whole.size, &content, &err),
			 FG_OK);
	assert_int_equal(content.size, whole.size);
	assert_memory_equal(content.data, whole.data, whole.size);
	fg_bytes_release(&content);
	fg_bytes_release(&whole);
	fg_bytes_release(&apart);
	fg_bytes_release(&blocks[0]);
	fg_bytes_release(&blocks[1]);
}

static void matrix_that_is_cut_short_is_refused(void **state)
{
	struct fg_matrix_row rows[] = {{.unit = 10}, {.pair = 1, .unit = 10}};
	uint64_t ids[] = {3, 5};
	size_t starts[] = {0, 2, 3};
	uint32_t entry_rows[] = {0, 1, 1};
	uint32_t samples[] = {1, 2, 3};
	double self_ns[] = {10, 20, 30};
	const struct fg_matrix m = {.rows = rows,
				    .row_count = 2,
				    .ids = ids,
				    .starts = starts,
				    .id_count = 2,
				    .entry_rows = entry_rows,
				    .samples = samples,
				    .self = self_ns,
				    .entry_count = 3};
	struct fg_matrix back = {0};
	struct fg_byte_reader reader;
	struct fg_bytes bytes = {0};
	struct fg_error err = {0};

	(void)state;
	fg_matrix_write(&m, &bytes);
	reader = reader_of(&bytes);
	assert_int_equal(fg_matrix_read(&reader, 0, &back, &err), FG_OK);
	assert_ptr_equal(reader.at, reader.end);
	assert_int_equal(back.ids[1], 5);
	assert_int_equal(back.entry_rows[2], 1);
	assert_true(fabs(back.self[1] - 20) < 1e-9);
	fg_matrix_release(&back);
	for (size_t size = 0; size < bytes.size; size++) {
		reader = (struct fg_byte_reader){bytes.data, bytes.data + size, false};
		assert_int_equal(fg_matrix_read(&reader, 0, &back, &err), FG_EPARSE);
	}
	fg_bytes_release(&bytes);
}

/* Stored bytes are read in this order and no other. */
static void entries_stand_in_classes_of_their_nodes(void **state)
{
	static const size_t entries[] = {24, 12, 9, 8, 23, 16, 1};
	static const size_t places[] = {6, 2, 3, 1, 4, 5, 0}; /* 1; 8 to 11; 12 to 15; 16 to 23 */
	enum {
		NODES = FG_ARRAY_SIZE(entries),
		ROWS = 24,
		ALL = 24 + 12 + 9 + 8 + 23 + 16 + 1
	};
	struct fg_matrix_row rows[ROWS];
	uint64_t ids[NODES];
	size_t starts[NODES + 1] = {0};
	uint32_t entry_rows[ALL];
	uint32_t samples[ALL];
	double self_ns[ALL];
	const struct fg_matrix m = {.rows = rows,
				    .row_count = ROWS,
				    .ids = ids,
				    .starts = starts,
				    .id_count = NODES,
				    .entry_rows = entry_rows,
				    .samples = samples,
				    .self = self_ns,
				    .entry_count = ALL};
	struct fg_bytes bytes = {0};
	const uint8_t *at = NULL;

	(void)state;
	for (size_t r = 0; r < ROWS; r++)
		rows[r] = (struct fg_matrix_row){.pair = (uint32_t)r, .unit = 10};
	for (size_t n = 0; n < NODES; n++) {
		ids[n] = n + 1;
		starts[n + 1] = starts[n] + entries[n];
		for (size_t e = 0; e < entries[n]; e++) {
			entry_rows[starts[n] + e] = (uint32_t)e;
			samples[starts[n] + e] = (uint32_t)n + 1;
			self_ns[starts[n] + e] = 10 * ((double)n + 1);
		}
	}
	fg_matrix_write(&m, &bytes);
	/* The samples, one byte each, then only a zero for each weight. */
	at = bytes.data + bytes.size - 2 * (size_t)ALL;
	for (size_t i = 0; i < NODES; i++) {
		for (size_t e = 0; e < entries[places[i]]; e++)
			assert_int_equal(*at++, places[i] + 1);
	}
	for (size_t e = 0; e < ALL; e++)
		assert_int_equal(*at++, 0);
	fg_bytes_release(&bytes);
}

/* Sample counts: small numbers without a pattern. Nothing repeats, and two bits encode each. */
static void small_numbers_pack_at_every_level(void **state)
{
	enum {
		COUNT = 40000
	};
	static const int levels[] = {FG_PACK_LEVEL_QUICK, FG_PACK_LEVEL, FG_PACK_LEVEL_TIGHT};
	struct fg_bytes content = {0};
	uint32_t random = 1;

	(void)state;
	for (size_t i = 0; i < COUNT; i++) {
		random = random * 1664525 + 1013904223;
		fg_bytes_varint(&content, random >> 30);
	}
	fg_bytes_break(&content);
	for (size_t i = 0; i < FG_ARRAY_SIZE(levels); i++) {
		struct fg_bytes block = {0};
		struct fg_error err = {0};

		assert_int_equal(fg_pack_bytes(&content, levels[i], &block, &err), FG_OK);
		assert_in_range(block.size, COUNT / 4, COUNT / 3);
		fg_bytes_release(&block);
	}
	fg_bytes_release(&content);
}

static void every_flipped_bit_of_a_block_is_noticed(void **state)
{
	struct fg_bytes block = {0};
	struct fg_bytes content = {0};
	struct fg_error err = {0};

	(void)state;
	assert_int_equal(fg_pack("to be or not to be, to be or not to be", 38, 3, &block, &err),
			 FG_OK);
	for (size_t bit = 0; bit < block.size * 8; bit++) {
		block.data[bit / 8] ^= (uint8_t)(1U << (bit % 8));
		assert_int_equal(fg_unpack(block.data, block.size, 1000, &content, &err),
				 FG_EPARSE);
		block.data[bit / 8] ^= (uint8_t)(1U << (bit % 8));
	}
	for (size_t size = 0; size < block.size; size++)
		assert_int_equal(fg_unpack(block.data, size, 1000, &content, &err), FG_EPARSE);
	fg_bytes_release(&block);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_come_back),
		cmocka_unit_test(reading_past_the_end_fails_and_stays_failed),
		cmocka_unit_test(breaks_save_room_and_change_nothing),
		cmocka_unit_test(matrix_that_is_cut_short_is_refused),
		cmocka_unit_test(announced_counts_are_held_against_what_is_there),
		cmocka_unit_test(sealed_block_comes_back),
		cmocka_unit_test(entries_stand_in_classes_of_their_nodes),
		cmocka_unit_test(small_numbers_pack_at_every_level),
		cmocka_unit_test(every_flipped_bit_of_a_block_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
