// SPDX-License-Identifier: Apache-2.0
#include "profile/profile.h"

#include <string.h>

struct piece {
	const uint8_t *at;
	const uint8_t *end;
};

/*
 * Reads the difference between a value and the previous one, as packed by
 * collector/calls/call_values.c.
 */
static bool take(struct piece *piece, uint64_t *difference)
{
	unsigned size = 0;
	unsigned below = 0;

	if (piece->at == piece->end)
		return false;
	size = *piece->at & 15u;
	below = *piece->at++ >> 4;
	if (size + below > sizeof(*difference) || size > (size_t)(piece->end - piece->at))
		return false;
	*difference = 0;
	for (unsigned i = 0; i < size; i++)
		*difference |= (uint64_t)piece->at[i] << 8 * (below + i);
	piece->at += size;
	return true;
}

uint32_t fg_argument_values_unpack(const struct fg_argument_values *values, double *to)
{
	struct piece piece = {values->bytes, values->bytes + values->size};
	uint64_t last[FG_VALUES_COLUMNS_MAX] = {0};

	for (uint32_t row = 0; row < values->rows; row++)
		for (uint32_t column = 0; column < values->columns; column++) {
			uint64_t difference = 0;

			if (!take(&piece, &difference))
				return row;
			last[column] ^= difference;
			memcpy(to++, &last[column], sizeof(*to));
		}
	return values->rows;
}
