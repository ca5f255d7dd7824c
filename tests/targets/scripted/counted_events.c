// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
void *volatile kept;
__attribute__((noinline)) static void plain(void)
{
	for (int i = 0; i < 100; i++)
		kept = malloc(1000);
	__asm__ volatile("");
}
__attribute__((noinline)) static void cleared(void)
{
	for (int i = 0; i < 30; i++) {
		kept = calloc(10, 10);
		free(kept);
	}
}
__attribute__((noinline)) static void aligned(void)
{
	void *p;
	for (int i = 0; i < 20; i++)
		if (posix_memalign(&p, 64, 128) == 0)
			free(p);
}
__attribute__((noinline)) static void writing(void)
{
	int fd = open("/dev/null", O_WRONLY);
	for (int i = 0; i < 10; i++)
		if (write(fd, "abc", 3) != 3)
			exit(1);
}
int main(void)
{
	plain();
	cleared();
	aligned();
	writing();
	return 0;
}
