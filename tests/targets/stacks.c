// SPDX-License-Identifier: Apache-2.0
/*
 * Works on a coroutine's stack, in signal handlers on an alternate stack, in code without unwind
 * tables and in code with unusual ones.
 */
#include "work.h"

#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

enum {
	STACK = 128 * 1024,
	GENERATED = 20 /* frames of generated code */
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

/*
 * A signal arrives between any two instructions of a function that calls no other function. On
 * arm64 processors with SVE, the SVE registers are in use meanwhile, and saved in the signal's
 * frame.
 */
static volatile sig_atomic_t alarmed;

#if defined(__aarch64__)
static int has_vectors;

static void use_vectors(void)
{
	if (has_vectors)
		__asm__ volatile(".inst 0x2518e3e0"); /* ptrue p0.b */
}

static void check_vectors(const ucontext_t *context)
{
	const struct _aarch64_ctx *record = (const void *)context->uc_mcontext.__reserved;

	while (record->magic && record->magic != SVE_MAGIC)
		record = (const void *)((const char *)record + record->size);
	check(!has_vectors || record->size > sizeof(struct sve_context),
	      "SVE registers in a frame");
}
#else
static void use_vectors(void)
{
}

static void check_vectors(const ucontext_t *context)
{
	(void)context;
}
#endif

NOINLINE static void in_alarm(void)
{
	spin_us(work_us);
}

static void on_alarm(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	check_vectors(context);
	in_alarm();
	alarmed = 1;
}

NOINLINE static void interrupted(void)
{
	while (!alarmed)
		use_vectors();
}

NOINLINE static void interrupting(void)
{
	const struct itimerval soon = {.it_value = {.tv_usec = 1000}};

	check(setitimer(ITIMER_REAL, &soon, NULL) == 0, "setitimer");
	interrupted();
	KEEP_FRAME();
}

NOINLINE static void called_back(void)
{
	spin_us(work_us);
}

/*
 * Code generated at run time that calls itself: push %rbp; mov %rsp,%rbp; dec %rsi; jz 1f; call
 * itself; jmp 2f; 1: call *%rdi; 2: pop %rbp; ret.
 */
NOINLINE static void generated_code(void)
{
#if defined(__x86_64__)
	static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xff, 0xce,
					     0x74, 0x07, 0xe8, 0xf2, 0xff, 0xff, 0xff,
					     0xeb, 0x02, 0xff, 0xd7, 0x5d, 0xc3};
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);

	check(at != MAP_FAILED, "mmap");
	memcpy(at, code, sizeof(code));
	(__extension__(void (*)(void (*)(void), unsigned long)) at)(called_back, GENERATED);
#else
	called_back();
#endif
	KEEP_FRAME();
}

/*
 * Frames that only hand-written code has: one is found by a register that its callees preserve, as
 * in the dynamic loader's lazy binding; the other keeps its old stack pointer on the new stack, as
 * in cryptographic libraries.
 */
#if defined(__x86_64__)
void through_register(void (*call)(void));
void through_memory(void (*call)(void));
__asm__(".text\n"
	".type through_register, @function\n"
	"through_register:\n"
	".cfi_startproc\n"
	"push %rbx\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset %rbx, -16\n"
	"mov %rsp, %rbx\n"
	".cfi_def_cfa_register %rbx\n"
	"and $-64, %rsp\n"
	"call *%rdi\n"
	"mov %rbx, %rsp\n"
	".cfi_def_cfa_register %rsp\n"
	"pop %rbx\n"
	".cfi_def_cfa_offset 8\n"
	"ret\n"
	".cfi_endproc\n"
	".size through_register, .-through_register\n"
	".type through_memory, @function\n"
	"through_memory:\n"
	".cfi_startproc\n"
	"mov %rsp, %rax\n"
	".cfi_def_cfa_register %rax\n"
	"sub $64, %rsp\n"
	"and $-64, %rsp\n"
	"mov %rax, 32(%rsp)\n"
	".cfi_escape 0x0f, 5, 0x77, 32, 0x06, 0x23, 8\n" /* CFA = *(rsp + 32) + 8 */
	"call *%rdi\n"
	"mov 32(%rsp), %rsp\n"
	".cfi_def_cfa %rsp, 8\n"
	"ret\n"
	".cfi_endproc\n"
	".size through_memory, .-through_memory\n");
#else
NOINLINE static void through_register(void (*call)(void))
{
	call();
	KEEP_FRAME();
}

NOINLINE static void through_memory(void (*call)(void))
{
	call();
	KEEP_FRAME();
}
#endif

NOINLINE static void called_by_register(void)
{
	spin_us(work_us);
}

NOINLINE static void called_by_memory(void)
{
	spin_us(work_us);
}

NOINLINE static void odd_frames(void)
{
	through_register(called_by_register);
	through_memory(called_by_memory);
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
#if defined(__aarch64__)
	has_vectors = (getauxval(AT_HWCAP) & HWCAP_SVE) != 0;
#endif
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
	action.sa_sigaction = on_alarm;
	action.sa_flags = SA_ONSTACK | SA_SIGINFO;
	(void)sigaction(SIGALRM, &action, NULL);
	interrupting();
	generated_code();
	odd_frames();

	/* The smallest possible stack must suffice. */
	(void)pthread_attr_init(&attr);
	check(pthread_attr_setstacksize(&attr, (size_t)sysconf(_SC_THREAD_STACK_MIN)) == 0,
	      "stack size");
	check(pthread_create(&thread, &attr, small_thread, NULL) == 0, "pthread_create");
	(void)pthread_join(thread, NULL);
	return 0;
}
