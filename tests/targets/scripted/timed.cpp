// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
extern "C" {
int thrower(int n);
int down(int n);
int nap(int ms);
double mixed(int a, double x, long b, float y, const char *text, unsigned c);
int on_the_stack(long a, long b, long c, long d, long e, long f, long g);
}
static jmp_buf back;
static int compared;
static int compare(const void *a, const void *b)
{
	if (++compared % 450 == 0)
		longjmp(back, 1);
	return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}
static void sort_some()
{
	int some[30];
	for (int i = 0; i < 30; i++)
		some[i] = i * 7 % 31;
	qsort(some, 30, sizeof(some[0]), compare);
}
static void *napping(void *argument)
{
	nap(1);
	return argument;
}
int main(int argc, char **)
{
	int caught = 0;
	volatile int left = 0;
	for (int i = 0; i < 50; i++)
		try {
			thrower(i);
		} catch (int n) {
			caught += n == i;
		}
	for (volatile int i = 0; i < 40; i = i + 1)
		if (setjmp(back) == 0)
			sort_some();
		else
			left = left + 1;
	pthread_t threads[3];
	for (pthread_t &thread : threads)
		pthread_create(&thread, nullptr, napping, nullptr);
	for (pthread_t thread : threads)
		pthread_join(thread, nullptr);
	nap(3);
	const pid_t child = fork();
	if (child == 0) {
		nap(1);
		exit(0);
	}
	waitpid(child, nullptr, 0);
	std::printf("%d %d %d %g %d %.17g\n", caught, left, down(100), mixed(1, 2, 3, 4, "\5", 6),
		    on_the_stack(1, 2, 3, 4, 5, 6, 7), std::exp(argc));
	return 0;
}
