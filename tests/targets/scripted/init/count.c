// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

int main(void)
{
	static char data[1 << 16];
	size_t all = 0, size = 0;

	while ((size = fread(data, 1, sizeof(data), stdin)) > 0)
		for (size_t i = 0; i < size; i++)
			all += data[i] == '\n';
	return printf("%zu\n", all) < 0;
}
