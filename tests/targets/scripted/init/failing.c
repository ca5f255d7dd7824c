// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

int main(void)
{
	fputs("\nusage: bad FILE\nmore", TO);
	return 3;
}
