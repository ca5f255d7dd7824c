// SPDX-License-Identifier: Apache-2.0
#include "checksum.h"

enum {
	MODULUS = 65521,
	BEFORE_OVERFLOW = 5552, /* maximum number of bytes whose sums fit into 32 bits */
};

uint32_t checksum(const uint8_t *data, size_t size)
{
	uint32_t low = 1;
	uint32_t high = 0;

	while (size > 0) {
		const size_t part = size < BEFORE_OVERFLOW ? size : BEFORE_OVERFLOW;

		for (size_t i = 0; i < part; i++) {
			low += data[i];
			high += low;
		}
		low %= MODULUS;
		high %= MODULUS;
		data += part;
		size -= part;
	}
	return high << 16 | low;
}
