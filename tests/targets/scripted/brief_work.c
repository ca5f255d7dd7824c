// SPDX-License-Identifier: Apache-2.0
#include <time.h>
__attribute__((noinline)) static void work(void)
{
	for (volatile int i = 0; i < 300000; i++) {
	}
}
int main(void)
{
	while (clock() < CLOCKS_PER_SEC / 5)
		work();
	return 7;
}
