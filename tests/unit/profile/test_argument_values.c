// SPDX-License-Identifier: Apache-2.0
#include "profile/profile.h"
#include "tests/support/fg_test.h"

/* 1.0, then 1.5, then 1.5 again: 3ff0…, a difference of 0008…, none. */
static const uint8_t packed[] = {0x62, 0xf0, 0x3f, 0x61, 0x08, 0x00};

static struct fg_argument_values piece_of(size_t size, uint32_t columns, uint32_t rows)
{
	return (struct fg_argument_values){
		.columns = columns, .rows = rows, .bytes = packed, .size = size};
}

FG_TEST(a_value_is_stored_as_its_difference_from_the_one_above)
{
	const struct fg_argument_values piece = piece_of(sizeof(packed), 1, 3);
	double values[3] = {0};

	assert_int_equal(fg_argument_values_unpack(&piece, values), 3);
	assert_true(values[0] == 1.0 && values[1] == 1.5 && values[2] == 1.5);
}

FG_TEST(columns_have_each_their_own_value_above)
{
	const uint8_t two[] = {0x62, 0xf0, 0x3f, 0x61, 0x08, 0x00, 0x62, 0xf0, 0x3f};
	const struct fg_argument_values piece = {
		.columns = 2, .rows = 2, .bytes = two, .size = sizeof(two)};
	double values[4] = {0};
	uint64_t bits = 0;

	assert_int_equal(fg_argument_values_unpack(&piece, values), 2);
	memcpy(&bits, &values[1], sizeof(bits));
	assert_true(values[0] == 1.0 && bits == UINT64_C(0x0008000000000000));
	assert_true(values[2] == 1.0 && values[3] == 1.5);
}

FG_TEST(damaged_pieces_end_early)
{
	const uint8_t too_long[] = {0x09, 1, 2, 3, 4, 5, 6, 7, 8, 9};
	struct fg_argument_values piece = piece_of(sizeof(packed) - 1, 1, 3);
	double values[3] = {0};

	assert_int_equal(fg_argument_values_unpack(&piece, values), 2);
	piece = piece_of(2, 1, 3);
	assert_int_equal(fg_argument_values_unpack(&piece, values), 0);
	piece.bytes = too_long;
	piece.size = sizeof(too_long);
	assert_int_equal(fg_argument_values_unpack(&piece, values), 0);
}
