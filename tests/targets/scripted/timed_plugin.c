// SPDX-License-Identifier: Apache-2.0
#include <time.h>
void plugged_in(void)
{
	for (clock_t end = clock() + CLOCKS_PER_SEC / 5; clock() < end;)
		for (volatile int i = 0; i < 200000; i++) {
		}
}
