// SPDX-License-Identifier: Apache-2.0
/*
 * Known calls of functions in other objects: callers, numbers and arguments. Results are checked,
 * so that a wrapper that corrupts an argument or a result is noticed.
 *
 * usage: calls [plain | fork | signal]
 */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAR_FROM_OPTIMISED __attribute__((noinline))

static volatile double sink;
static volatile double one = 1.0;
static double (*volatile through_pointer)(double) = cos;

FAR_FROM_OPTIMISED void use_exp(int times)
{
	for (int i = 0; i < times; i++) {
		/*
		 * NOLINTNEXTLINE(bugprone-signal-handler,cert-sig30-c): a handler is tested as well
		 */
		sink = exp(one);
	}
	if (sink < 2.7182818 || sink > 2.7182819)
		abort();
	__asm__ volatile("");
}

FAR_FROM_OPTIMISED void use_pow(int times)
{
	for (int i = 0; i < times; i++)
		sink = pow(2 * one, 10 * one);
	if (sink < 1024 || sink > 1024)
		abort();
	__asm__ volatile("");
}

FAR_FROM_OPTIMISED void use_pointer(int times)
{
	for (int i = 0; i < times; i++)
		sink = through_pointer(0 * one);
	if (through_pointer != cos || sink < 1 || sink > 1)
		abort();
	__asm__ volatile("");
}

/* Passes more arguments of both kinds than fit into registers, and a count of vector registers. */
FAR_FROM_OPTIMISED void use_printf(int times)
{
	char text[200];

	for (int i = 0; i < times; i++)
		(void)snprintf(text, sizeof(text), "%d %d %d %d %d %g %g %g %g %g %g %g %g %g", 1,
			       2, 3, 4, 5, one, 2 * one, 3 * one, 4 * one, 5 * one, 6 * one,
			       7 * one, 8 * one, 9 * one);
	if (strcmp(text, "1 2 3 4 5 1 2 3 4 5 6 7 8 9") != 0)
		abort();
	__asm__ volatile("");
}

static jmp_buf back;

/* Leaves a counted setjmp() by longjmp(). */
FAR_FROM_OPTIMISED void use_longjmp(int times)
{
	for (volatile int i = 0; i < times; i = i + 1)
		if (setjmp(back) == 0)
			longjmp(back, 1);
	__asm__ volatile("");
}

__attribute__((constructor)) static void before_main(void)
{
	use_exp(7);
}

static void on_signal(int number)
{
	(void)number;
	use_exp(1);
}

static void *work(void *argument)
{
	use_exp(1000);
	return argument;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "plain";
	pthread_t threads[3];

	use_exp(1000);
	use_pow(500);
	use_pointer(300);
	use_printf(20);
	use_longjmp(10);
	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, work, NULL) != 0)
			return 1;
	for (int i = 0; i < 3; i++)
		(void)pthread_join(threads[i], NULL);
	if (strcmp(mode, "fork") == 0) {
		const pid_t child = fork();

		if (child == 0) {
			use_pow(250);
			exit(0);
		}
		(void)waitpid(child, NULL, 0);
	}
	if (strcmp(mode, "signal") == 0) {
		(void)signal(SIGUSR1, on_signal);
		for (int i = 0; i < 100; i++)
			(void)raise(SIGUSR1);
	}
	return 0;
}
