// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

static char block[1 << 16];
static volatile unsigned sink;

__attribute__((noinline)) void work(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink += i * i;
}

__attribute__((noinline)) void load(int fd, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (read(fd, block, sizeof(block)) < 0)
			sink++;
}

int main(void)
{
	const int fd = open("/dev/zero", O_RDONLY);

	for (int i = 0; i < 50; i++) {
		work(10000);
		load(fd, ROUNDS);
	}
	return 0;
}
