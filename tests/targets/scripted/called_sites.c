// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>
#include <stdio.h>
#include <string.h>
extern uint8_t *taken(void);
void call_with_registers(const void *vectors);
int main(void)
{
	static uint64_t vectors[8][8];
	uint64_t first[] = {0x7ff0000000000001, 0x3ff8000000000000, 0x000000000000beef,
			    0xbfb999999999999a};
	for (unsigned i = 0; i < 64; i++)
		vectors[i / 8][i % 8] = 0x0123456789abcdef * (i + 1);
	for (unsigned i = 0; i < 4; i++)
		vectors[i][0] = first[i];
	for (int i = 0; i < 4; i++) {
		memset(taken(), 0, 256 + 8 * 64);
		call_with_registers(vectors);
		for (unsigned at = 0; at < 256 + 8 * 64; at++)
			printf("%02x", taken()[at]);
		puts("");
	}
	return 0;
}
