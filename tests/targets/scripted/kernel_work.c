// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static char block[1 << 16];
static double used(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}
static void reads(void)
{
	const int fd = open("/dev/zero", O_RDONLY);
	const double begin = used();
	while (used() - begin < 0.2)
		for (int i = 0; i < 50; i++)
			if (read(fd, block, sizeof(block)) < 0)
				exit(1);
	close(fd);
}
#define READER(name)                       \
 __attribute__((noinline)) void name(void) \
 {                                         \
  reads();                                 \
  __asm__ volatile("" ::: "memory");       \
 }
READER(in_parent)
READER(in_child)
READER(in_thread) READER(in_executed) READER(in_child_of_child) static void *thread(void *unused)
{
	in_thread();
	return unused;
}
int main(int argc, char **argv)
{
	pthread_t other;
	if (argc > 1) {
		in_executed();
		return 0;
	}
	in_parent();
	const pid_t child = fork();
	if (child == 0) {
		in_child();
		const pid_t grandchild = fork();
		if (grandchild == 0) {
			in_child_of_child();
			_exit(0);
		}
		return waitpid(grandchild, NULL, 0) != grandchild;
	}
	if (pthread_create(&other, NULL, thread, NULL) != 0)
		return 1;
	pthread_join(other, NULL);
	if (waitpid(child, NULL, 0) != child)
		return 1;
	execl(argv[0], argv[0], "executed", (char *)NULL);
	return 1;
}
