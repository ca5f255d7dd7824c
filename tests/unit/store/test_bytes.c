// SPDX-License-Identifier: Apache-2.0
#include "store/bytes.h"
#include "store/matrix.h"
#include "tests/support/fg_test.h"

#include <math.h>

static struct fg_byte_reader reader_of(const struct fg_bytes *bytes)
{
	return (struct fg_byte_reader){bytes->data, bytes->data + bytes->size, false};
}

FG_TEST(numbers_are_read_back)
{
	static const int64_t numbers[] = {0, 1, -1, 63, -64, 127, 128, -129, INT64_MAX, INT64_MIN};
	struct fg_bytes bytes = {0};
	struct fg_byte_reader reader;

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

FG_TEST(reading_past_the_end_fails_and_stays_failed)
{
	const uint8_t endless[] = {0xff, 0xff, 0xff};
	struct fg_byte_reader reader = {endless, endless + sizeof(endless), false};

	assert_int_equal(fg_read_varint(&reader), 0);
	assert_true(reader.failed);
	assert_int_equal(fg_read_varint(&reader), 0);
}

FG_TEST(announced_counts_are_compared_with_the_contents)
{
	struct fg_bytes bytes = {0};
	struct fg_byte_reader reader;
	const char *text = NULL;

	fg_bytes_varint(&bytes, 1000000000);
	reader = reader_of(&bytes);
	assert_int_equal(fg_read_count(&reader, 1), 0);
	assert_true(reader.failed);
	reader = reader_of(&bytes);
	assert_int_equal(fg_read_text(&reader, SIZE_MAX, &text), 0);
	assert_true(reader.failed);
	fg_bytes_release(&bytes);
}

FG_TEST(sealed_block_is_read_back)
{
	struct fg_bytes block = {0};
	struct fg_bytes content = {0};
	struct fg_error err = {0};

	assert_int_equal(fg_pack("hello", 5, 3, &block, &err), FG_OK);
	assert_int_equal(fg_unpack(block.data, block.size, 5, &content, &err), FG_OK);
	assert_int_equal(content.size, 5);
	assert_string_equal((const char *)content.data, "hello");
	fg_bytes_release(&content);
	assert_int_equal(fg_unpack(block.data, block.size, 4, &content, &err), FG_ELIMIT);
	fg_bytes_release(&block);
}

FG_TEST(matrix_that_is_cut_short_is_refused)
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

/*
 * Sample counts: small numbers without a pattern. Nothing repeats, and two bits encode each number.
 */
FG_TEST(small_numbers_pack_at_every_level)
{
	enum {
		COUNT = 40000
	};
	static const int levels[] = {FG_PACK_LEVEL_QUICK, FG_PACK_LEVEL, FG_PACK_LEVEL_TIGHT};
	struct fg_bytes content = {0};
	uint32_t random = 1;

	for (size_t i = 0; i < COUNT; i++) {
		random = random * 1664525 + 1013904223;
		fg_bytes_varint(&content, random >> 30);
	}
	for (size_t i = 0; i < FG_ARRAY_SIZE(levels); i++) {
		struct fg_bytes block = {0};
		struct fg_error err = {0};

		assert_int_equal(fg_pack_bytes(&content, levels[i], &block, &err), FG_OK);
		assert_in_range(block.size, COUNT / 4, COUNT / 3);
		fg_bytes_release(&block);
	}
	fg_bytes_release(&content);
}

FG_TEST(every_flipped_bit_of_a_block_is_noticed)
{
	struct fg_bytes block = {0};
	struct fg_bytes content = {0};
	struct fg_error err = {0};

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
