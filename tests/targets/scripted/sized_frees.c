// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
void free_sized(void *, size_t) __attribute__((weak));
void free_aligned_sized(void *, size_t, size_t) __attribute__((weak));
__attribute__((noinline)) void give_back(void)
{
	for (int i = 0; i < 100; i++) {
		free_sized(malloc(10), 10);
		free_aligned_sized(aligned_alloc(64, 128), 64, 128);
	}
	free_sized(NULL, 1);
}
int main(void)
{
	if (!free_sized || !free_aligned_sized)
		return 3;
	give_back();
	return 0;
}
