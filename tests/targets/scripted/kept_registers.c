// SPDX-License-Identifier: Apache-2.0
/* Is every register that run() has stored before its call of probe() the same in probe()? */
#include <string.h>
unsigned char before[1024], after[1024];
unsigned char pattern[64];
void run(void);
int main(void)
{
	for (int i = 0; i < 64; i++)
		pattern[i] = (unsigned char)(3 * i + 1);
	for (int i = 0; i < 100; i++) {
		memset(before, 0, sizeof(before));
		memset(after, 1, sizeof(after));
		run();
		for (unsigned at = 0; at < 128 + 16 * 32; at++)
			if (at % 32 < WIDTH && (at < 120 || at >= 128) && before[at] != after[at])
				return 1 + (int)(at / 8);
	}
	return 0;
}
