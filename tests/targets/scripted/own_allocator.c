// SPDX-License-Identifier: Apache-2.0
/* An allocator that the loader does not know: ALLOCATE is its name, and LINKAGE may be static. */
#include <stddef.h>
LINKAGE void *ALLOCATE(size_t n)
{
	static char room[1 << 16];
	static size_t used;
	void *at = room + used;
	used += (n + 15) & ~(size_t)15;
	return at;
}
int main(void)
{
	return ALLOCATE(100) == NULL;
}
