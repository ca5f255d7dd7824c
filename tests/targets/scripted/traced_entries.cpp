// SPDX-License-Identifier: Apache-2.0
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#define OWN         __attribute__((noinline)) static
#define STAY(value) __asm__ volatile("" : "+r"(value) : : "memory")
/* If a test defines constants instead of variables, the compiler clones mix(). */
#ifndef FACTORS
# define FACTORS three, one
#endif
struct item {
	int value;
	struct item *next;
};
static item last = {1, nullptr}, first = {2, &last};
static jmp_buf back;
OWN int reads(item *at)
{
	int value = at->value;
	STAY(value);
	return value;
}
OWN int tiny()
{
	__asm__ volatile("" ::: "memory");
	return 7;
}
OWN int descend(item *at)
{
	int value = at->value;
	STAY(value);
	value += at->next ? descend(at->next) : 0;
	STAY(value);
	return value;
}
OWN int thrower(int n)
{
	if (n % 2)
		throw n;
	STAY(n);
	return n;
}
OWN void leap(int n)
{
	if (n == 0)
		longjmp(back, 1);
	STAY(n);
	leap(n - 1);
	STAY(n);
}
OWN double mix(double x, long n, double y)
{
	__asm__ volatile("" : "+x"(x), "+x"(y), "+r"(n));
	return x + y * static_cast<double>(n);
}
namespace text
{
struct Parser {
	int at;
	__attribute__((noinline)) int parse(int n)
	{
		STAY(n);
		return at + n;
	}
};
} // namespace text
static void *work(void *argument)
{
	for (int i = 0; i < 100; i++)
		reads(static_cast<item *>(argument));
	return nullptr;
}
int main(int argc, char **)
{
	text::Parser parser = {1};
	pthread_t threads[3];
	volatile long three = 3;
	volatile double one = 1;
	long sum = 0;
	for (int i = 0; i < 50; i++)
		sum += reads(&first) + tiny() + parser.parse(i);
	for (int i = 0; i < 20; i++)
		sum += descend(&first);
	for (int i = 0; i < 10; i++)
		try {
			sum += thrower(i);
		} catch (int n) {
			sum += n;
		}
	for (volatile int i = 0; i < 4; i = i + 1)
		if (setjmp(back) == 0)
			leap(2);
	for (int i = 0; i < 8; i++)
		sum += static_cast<long>(mix(i / 2.0, FACTORS));
	for (pthread_t &thread : threads) {
		pthread_create(&thread, nullptr, work, &first);
		/* The C library does not count for gprof in two threads at once. */
		if (argc > 1)
			pthread_join(thread, nullptr);
	}
	if (argc == 1) {
		for (pthread_t thread : threads)
			pthread_join(thread, nullptr);
		const pid_t child = fork();
		if (child == 0) {
			reads(&first);
			return 0;
		}
		waitpid(child, nullptr, 0);
	}
	std::printf("%ld\n", sum);
	return 0;
}
#ifdef LOOKS_UP_NOPS
extern void *const list[] __asm__("__start___patchable_function_entries");
void *const *where();
void *const *where()
{
	return list;
}
#endif
