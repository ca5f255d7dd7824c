// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
int work(int);
int inside(int);
int main(int argc, char **argv)
{
	int sum = 0;
	if (argc > 1 && system(argv[1]) != 0)
		return 9;
	for (int i = 0; i < 5; i++)
		sum += work(i);
	return sum + inside(OFTEN) > 0 ? 0 : 1;
}
