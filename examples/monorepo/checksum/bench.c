// SPDX-License-Identifier: Apache-2.0
#include "checksum.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	TOTAL_BYTES = 200 << 20
};

int main(int argc, char **argv)
{
	const size_t size = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	uint8_t *data = size ? calloc(1, size) : NULL;
	uint32_t sum = 0;

	if (!data)
		return 2;
	for (size_t done = 0; done < TOTAL_BYTES; done += size) {
		data[done % size] ^= (uint8_t)(done >> 8);
		sum = sum * 31 + checksum(data, size);
	}
	printf("%08x\n", sum);
	free(data);
	return 0;
}
