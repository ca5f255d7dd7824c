// SPDX-License-Identifier: Apache-2.0
/* Leaves a file behind, to show that it ran. */
#include <stdio.h>

int main(void)
{
	FILE *file = fopen("it-ran", "w");

	return file ? fclose(file) : 1;
}
