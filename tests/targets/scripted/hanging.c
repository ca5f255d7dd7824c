// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

static int next_record(int fd)
{
	char byte;

	return (int)read(fd, &byte, 1);
}

int main(void)
{
	int ends[2];

	return pipe(ends) || next_record(ends[0]);
}
