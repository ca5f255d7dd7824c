// SPDX-License-Identifier: Apache-2.0
/* Leaves MARK behind if it is run. */
#include <stdio.h>

int main(void)
{
	FILE *file = fopen(MARK, "w");

	return file ? fclose(file) : 1;
}
