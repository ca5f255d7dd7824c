// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/byte_range.h"

#define UNIT "bytes="

/* Digits, of which there may be too many for a number: then the largest.  False: there are none. */
static bool take_number(const char **at, uint64_t *number)
{
	const char *start = *at;

	*number = 0;
	for (; **at >= '0' && **at <= '9'; (*at)++) {
		const uint64_t digit = (uint64_t)(**at - '0');

		*number = *number > (UINT64_MAX - digit) / 10 ? UINT64_MAX : *number * 10 + digit;
	}
	return *at > start;
}

/* "-N": the last N bytes. */
static enum fg_byte_range_kind read_end(const char *at, uint64_t size, struct fg_byte_range *range)
{
	uint64_t count = 0;

	if (!take_number(&at, &count) || *at)
		return FG_BYTES_ALL;
	if (count == 0 || size == 0)
		return FG_BYTES_NONE;
	if (count < size)
		*range = (struct fg_byte_range){.first = size - count, .length = count};
	return FG_BYTES_PART;
}

enum fg_byte_range_kind fg_byte_range_read(const char *header, uint64_t size,
					   struct fg_byte_range *range)
{
	const char *at = header;
	uint64_t first = 0;
	uint64_t last = UINT64_MAX;

	*range = (struct fg_byte_range){.length = size};
	if (!header || strncasecmp(header, UNIT, strlen(UNIT)) != 0)
		return FG_BYTES_ALL;
	at += strlen(UNIT);
	if (*at == '-')
		return read_end(at + 1, size, range);
	if (!take_number(&at, &first) || *at++ != '-')
		return FG_BYTES_ALL;
	if (*at && !take_number(&at, &last))
		return FG_BYTES_ALL;
	if (*at || last < first)
		return FG_BYTES_ALL;
	if (first >= size)
		return FG_BYTES_NONE;
	if (last >= size)
		last = size - 1;
	*range = (struct fg_byte_range){.first = first, .length = last - first + 1};
	return FG_BYTES_PART;
}

/* Only the same tag will do; a time says too little, and weak tags are not compared so. */
bool fg_byte_range_is_meant(const char *if_range, const char *tag)
{
	return !if_range || strcmp(if_range, tag) == 0;
}
