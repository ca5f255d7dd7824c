// SPDX-License-Identifier: Apache-2.0
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <ucontext.h>
extern "C" int exported(int n);
#define NOT_INLINE __attribute__((noinline))
namespace text
{
struct Parser {
	NOT_INLINE int parse(int n)
	{
		return n == 0 ? leaf(3) : leaf(n) + parse(n - 1);
	}
	NOT_INLINE int leaf(int n)
	{
		volatile char some[n % 100 + 1];
		some[n % 100] = 1;
		return some[n % 100] + n;
	}
	NOT_INLINE int thrower(int n)
	{
		if (n % 2)
			throw n;
		return n;
	}
};
} // namespace text
static jmp_buf back;
NOT_INLINE static void left(int n)
{
	if (n == 0)
		longjmp(back, 1);
	left(n - 1);
	__asm__ volatile("");
}
static void *work(void *argument)
{
	text::Parser parser;
	for (int i = 0; i < 100; i++)
		parser.parse(10);
	return argument;
}
static ucontext_t outside, inside;
NOT_INLINE static void coroutine()
{
	for (;;)
		swapcontext(&inside, &outside);
}
NOT_INLINE static void resume()
{
	swapcontext(&outside, &inside);
}
int main()
{
	text::Parser parser;
	int sum = 0;
	for (int i = 0; i < 50; i++)
		try {
			sum += parser.thrower(i);
		} catch (int n) {
			sum += n;
		}
	for (volatile int i = 0; i < 20; i = i + 1)
		if (setjmp(back) == 0)
			left(5);
	pthread_t threads[3];
	for (pthread_t &thread : threads)
		pthread_create(&thread, nullptr, work, nullptr);
	for (pthread_t thread : threads)
		pthread_join(thread, nullptr);
	static char stack[1 << 16];
	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = sizeof(stack);
	makecontext(&inside, coroutine, 0);
	for (int i = 0; i < 10; i++)
		resume();
	const pid_t child = fork();
	if (child == 0) {
		parser.parse(7);
		exit(0);
	}
	waitpid(child, nullptr, 0);
	for (int i = 0; i < 3; i++) {
		void *library = dlopen("./libpart.so", RTLD_NOW);
		sum += reinterpret_cast<int (*)(int)>(dlsym(library, "part"))(i);
		dlclose(library);
	}
	std::printf("%d %d\n", sum, exported(4));
	return 0;
}
