// SPDX-License-Identifier: Apache-2.0
/* Work on a coroutine's stack, in a signal handler on an alternate stack, and in code that has no unwind table at all. */
#include "work.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

enum {
	STACK = 128 * 1024
};

static ucontext_t outside;
static ucontext_t inside;
static uint64_t work_us;

NOINLINE static void on_coroutine(void)
{
	spin_us(work_us);
}

static void coroutine(void)
{
	on_coroutine();
	KEEP_FRAME();
	(void)swapcontext(&inside, &outside);
}

NOINLINE static void in_handler(void)
{
	spin_us(work_us);
}

static void on_signal(int number)
{
	(void)number;
	in_handler();
	KEEP_FRAME();
}

NOINLINE static void raiser(void)
{
	(void)raise(SIGUSR1);
	KEEP_FRAME();
}

NOINLINE static void called_back(void)
{
	spin_us(work_us);
}

/* push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret, written at run time. */
NOINLINE static void generated_code(void)
{
#if defined(__x86_64__)
	static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);

	check(at != MAP_FAILED, "mmap");
	memcpy(at, code, sizeof(code));
	(__extension__(void (*)(void (*)(void))) at)(called_back);
#else
	called_back();
#endif
	KEEP_FRAME();
}

static void *small_thread(void *unused)
{
	on_coroutine();
	return unused;
}

int main(void)
{
	stack_t alternate = {0};
	struct sigaction action;
	pthread_attr_t attr;
	pthread_t thread;

	work_us = 150000;
	check(getcontext(&inside) == 0, "getcontext");
	inside.uc_stack.ss_sp = malloc(STACK);
	inside.uc_stack.ss_size = STACK;
	makecontext(&inside, coroutine, 0);
	(void)swapcontext(&outside, &inside);

	alternate.ss_sp = malloc(STACK);
	alternate.ss_size = STACK;
	check(sigaltstack(&alternate, NULL) == 0, "sigaltstack");
	memset(&action, 0, sizeof(action));
	action.sa_handler = on_signal;
	action.sa_flags = SA_ONSTACK;
	(void)sigaction(SIGUSR1, &action, NULL);
	raiser();
	generated_code();

	/* The smallest stack that there is must do. */
	(void)pthread_attr_init(&attr);
	check(pthread_attr_setstacksize(&attr, 16384) == 0, "stack size");
	check(pthread_create(&thread, &attr, small_thread, NULL) == 0, "pthread_create");
	(void)pthread_join(thread, NULL);
	return 0;
}
