// SPDX-License-Identifier: Apache-2.0
#include "collector/calls/call_values.h"

#include "collector/sampler/writer.h"

#include <string.h>

_Static_assert(FG_DOMAIN_ARGUMENTS_MAX == FG_VALUES_COLUMNS_MAX,
	       "each argument must have a column");

enum {
	MANTISSA_BITS = 52,
	PACKED_MAX = 9, /* bytes of one value */
};

static uint64_t one_of; /* one call in this many is kept; 0: values are not kept */
static unsigned mantissa_bits = MANTISSA_BITS;

static bool read_number(const char *text, uint64_t least, uint64_t most, uint64_t *number)
{
	uint64_t value = 0;

	if (!text || !*text)
		return false;
	for (; *text >= '0' && *text <= '9' && value < most; text++)
		value = 10 * value + (uint64_t)(*text - '0');
	if (*text || value < least || value > most)
		return false;
	*number = value;
	return true;
}

void fg_call_values_choose(const char *every, const char *bits)
{
	uint64_t number = 0;

	if (read_number(every, 1, UINT32_MAX, &number))
		one_of = number;
	if (read_number(bits, 1, MANTISSA_BITS, &number))
		mantissa_bits = (unsigned)number;
}

bool fg_call_values_wanted(void)
{
	return one_of > 0;
}

bool fg_call_values_draw(uint64_t *draw)
{
	if (one_of == 1)
		return true;
	*draw = *draw * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (*draw >> 32) % one_of == 0;
}

bool fg_call_values_fit(const struct fg_call_values *values, const struct fg_signature *signature)
{
	const size_t lanes = signature->lanes ? signature->lanes : 1;

	return values->size + PACKED_MAX * lanes * signature->count <= FG_CALL_VALUES_ROOM;
}

/*
 * Rounds to nearest; a value that would become infinite is truncated instead, and a NaN stays a
 * NaN.
 */
static uint64_t rounded(uint64_t bits)
{
	const unsigned dropped = MANTISSA_BITS - mantissa_bits;
	const uint64_t exponent = UINT64_C(0x7ff) << MANTISSA_BITS;
	const uint64_t mask = (UINT64_C(1) << dropped) - 1;
	uint64_t near = 0;

	if (dropped == 0)
		return bits;
	if ((bits & exponent) == exponent)
		return bits << 12 ? exponent | UINT64_C(1) << (MANTISSA_BITS - 1) : bits;
	near = (bits + (UINT64_C(1) << (dropped - 1))) & ~mask;
	return (near & exponent) == exponent ? bits & ~mask : near;
}

/*
 * Writes a byte that holds two counts (bytes that follow, zero bytes below them), then the bytes.
 */
static uint32_t pack(uint64_t difference, uint8_t *to)
{
	unsigned below = 0;
	uint32_t size = 0;

	if (difference == 0) {
		*to = 0;
		return 1;
	}
	below = (unsigned)__builtin_ctzll(difference) / 8;
	difference >>= 8 * below;
	for (; difference; difference >>= 8)
		to[++size] = (uint8_t)difference;
	*to = (uint8_t)(below << 4 | size);
	return 1 + size;
}

void fg_call_values_add(struct fg_call_values *values, const uint64_t *arguments, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const uint64_t bits = rounded(arguments[i]);

		values->size += pack(bits ^ values->last[i], values->bytes + values->size);
		values->last[i] = bits;
	}
	values->rows++;
}

void fg_call_values_take(struct fg_thread *writer, struct fg_call_values *values, unsigned columns)
{
	fg_record_number(writer, columns);
	fg_record_number(writer, values->rows);
	fg_record_text(writer, values->bytes, values->size);
	values->rows = 0;
	values->size = 0;
	memset(values->last, 0, sizeof(values->last));
}
