// SPDX-License-Identifier: Apache-2.0
#include "collector/sampler/crc32c.h"

static uint32_t table[256];

void fg_crc32c_init(void)
{
	for (uint32_t byte = 0; byte < 256; byte++) {
		uint32_t crc = byte;

		for (int bit = 0; bit < 8; bit++)
			crc = (crc >> 1) ^ (crc & 1u ? 0x82f63b78u : 0u);
		table[byte] = crc;
	}
}

uint32_t fg_trace_crc32c(uint32_t crc, const void *data, size_t size)
{
	const uint8_t *at = data;

	crc = ~crc;
	while (size--)
		crc = (crc >> 8) ^ table[(crc ^ *at++) & 0xffu];
	return ~crc;
}
