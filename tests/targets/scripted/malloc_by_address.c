// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
void *(*volatile allocate)(size_t) = malloc;
int main(void)
{
	return allocate(100) == NULL;
}
