// SPDX-License-Identifier: Apache-2.0
/*
 * Functions that the program calls itself, a known number of times. Results are checked, so that a
 * jump that corrupts an argument, a register, a flag or the stack is noticed.
 *
 * usage: entries [fork]
 */
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#ifdef __clang__
# define APART __attribute__((noinline)) /* the compiler makes no clones */
#else
# define APART __attribute__((noinline, noclone))
#endif

static volatile long sink;

static APART long add_up(long a, long b, long c, long d, long e, long f, long g, long h)
{
	long sum = a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;

	sink = sum;
	return sum;
}

/* NOLINTNEXTLINE(misc-no-recursion): that is the test */
static APART long count_down(long n)
{
	long below = 0;

	sink = n;
	if (n > 0)
		below = count_down(n - 1);
	__asm__ volatile("");
	return below + 1;
}

static APART double kernel(double x, int n, double y)
{
	double sum = x * n + y;

	sink = n;
	return sum;
}

struct guard {
	long *left;
	explicit guard(long *counter) : left(counter)
	{
	}
	~guard()
	{
		++*left;
	}
	guard(const guard &) = delete;
	guard &operator=(const guard &) = delete;
};

/* NOLINTNEXTLINE(misc-no-recursion) */
static APART void fall(int depth, long *left)
{
	const guard mine(left);

	sink = depth;
	if (depth == 0)
		throw std::runtime_error("at the bottom");
	fall(depth - 1, left);
	__asm__ volatile("");
}

static jmp_buf back;

static APART void leap(int value)
{
	sink = value;
	longjmp(back, value);
}

static APART long from_thread(long n)
{
	long twice = 2 * n;

	sink = twice;
	return twice;
}

/* The first instruction reads memory that might not be mapped. */
static APART long first_of(const long *numbers)
{
	return *numbers + 1000000;
}

static APART void on_signal(int number)
{
	long seen = number;

	sink = seen;
}

class shape
{
      public:
	virtual ~shape() = default;
	virtual long area(long by) const = 0;
};

class square : public shape
{
	long side;

      public:
	explicit square(long length) : side(length)
	{
	}
	APART long area(long by) const override
	{
		long found = 2 * by + 1000;

		sink = found;
		__asm__ volatile("" ::: "memory");
		return (found - 1000) / 2 * side * side;
	}
};

/*
 * A caller that relies on everything its callee preserves: every register but the result, the
 * flags, and the memory below the stack pointer.
 */
extern "C" long touches_little(void);
extern "C" long trusts_it(void);
/* The function is a loop that jumps back to the function's start. */
extern "C" long spins(int times);
/* clang-format off */
__asm__(
"	.text\n"
"	.globl touches_little\n"
"	.type touches_little, @function\n"
"touches_little:\n"
"	.cfi_startproc\n"
"	lea 1(%r11), %r11\n"
"	lea 1(%rax), %rax\n"
"	ret\n"
"	.cfi_endproc\n"
"	.size touches_little, . - touches_little\n"
"	.globl trusts_it\n"
"	.type trusts_it, @function\n"
"trusts_it:\n"
"	.cfi_startproc\n"
"	mov $40, %eax\n"
"	mov $1, %r11d\n"
"	mov $2, %r10d\n"
"	mov $3, %r9d\n"
"	mov $4, %r8d\n"
"	mov $5, %ecx\n"
"	mov $6, %edx\n"
"	mov $7, %esi\n"
"	mov $8, %edi\n"
"	movq %rdi, %xmm15\n"
"	movq %rsi, %xmm8\n"
"	movl $77, -64(%rsp)\n"
"	stc\n"
"	call touches_little\n"
"	jnc 1f\n"
"	cmpl $77, -64(%rsp)\n"
"	jne 1f\n"
"	add %r11, %rax\n"
"	add %r10, %rax\n"
"	add %r9, %rax\n"
"	add %r8, %rax\n"
"	add %rcx, %rax\n"
"	add %rdx, %rax\n"
"	movq %xmm15, %rdi\n"
"	movq %xmm8, %rsi\n"
"	add %rsi, %rax\n"
"	add %rdi, %rax\n"
"	ret\n"
"1:	xor %eax, %eax\n"
"	ret\n"
"	.cfi_endproc\n"
"	.size trusts_it, . - trusts_it\n"
"	.globl spins\n"
"	.type spins, @function\n"
"spins:\n"
"	.cfi_startproc\n"
"	mov $1000, %eax\n"
"	dec %edi\n"
"	jnz spins\n"
"	ret\n"
"	.cfi_endproc\n"
"	.size spins, . - spins\n");
/* clang-format on */

/* Does a call keep the processor's widest registers? */
static bool keeps_wide_registers()
{
	long lost = 0;

	if (__builtin_cpu_supports("avx2") != 0)
		__asm__ volatile("vpcmpeqd %%ymm15, %%ymm15, %%ymm15\n"
				 "call touches_little\n"
				 "vpcmpeqd %%ymm14, %%ymm14, %%ymm14\n"
				 "vpxor %%ymm14, %%ymm15, %%ymm15\n"
				 "xor %%eax, %%eax\n"
				 "vptest %%ymm15, %%ymm15\n"
				 "setnz %%al\n"
				 "vzeroupper\n"
				 : "=a"(lost)
				 :
				 : "r11", "xmm14", "xmm15", "cc", "memory");
	if (lost == 0 && __builtin_cpu_supports("avx512bw") != 0)
		__asm__ volatile("vpternlogd $255, %%zmm31, %%zmm31, %%zmm31\n"
				 "mov $123456789, %%r11d\n"
				 "kmovq %%r11, %%k7\n"
				 "call touches_little\n"
				 "kmovq %%k7, %%rax\n"
				 "sub $123456789, %%rax\n"
				 "vpternlogd $255, %%zmm30, %%zmm30, %%zmm30\n"
				 "vpcmpd $4, %%zmm30, %%zmm31, %%k7\n"
				 "kmovq %%k7, %%r11\n"
				 "or %%r11, %%rax\n"
				 "vzeroupper\n"
				 : "=a"(lost)
				 :
				 : "r11", "cc", "memory");
	return lost == 0;
}

static void expect(bool holds, const char *what)
{
	if (holds)
		return;
	std::fprintf(stderr, "%s\n", what);
	std::abort();
}

static void throw_through(void)
{
	long left = 0;

	for (int i = 0; i < 100; i++) {
		bool is_caught = false;

		try {
			fall(4, &left);
		} catch (const std::runtime_error &error) {
			is_caught = std::string(error.what()) == "at the bottom";
		}
		expect(is_caught, "an exception was lost");
	}
	expect(left == 500, "an object was not destroyed");
}

static void leap_back(void)
{
	for (volatile int i = 1; i <= 50; i = i + 1) {
		const int value = setjmp(back);

		if (value == 0)
			leap(i);
		expect(value == i, "longjmp went astray");
	}
}

static void in_threads(void)
{
	std::vector<std::thread> threads;

	threads.reserve(4);
	for (int t = 0; t < 4; t++)
		threads.emplace_back([] {
			for (long i = 0; i < 1000; i++)
				expect(from_thread(i) == 2 * i, "a thread got another's result");
		});
	for (std::thread &thread : threads)
		thread.join();
}

static void all(void)
{
	const square unit(3);
	const shape *volatile one = &unit;
	long (*volatile pointer)(long) = count_down;

	for (long i = 0; i < 1000; i++)
		expect(add_up(i, 2, 3, 4, 5, 6, 7, 8) == i + 203, "an argument was lost");
	expect(pointer(9) == 10 && count_down(14) == 15, "recursion went astray");
	for (int i = 0; i < 30; i++)
		expect(kernel(0.5 * i, 2, 1) > i, "a number was lost");
	for (long i = 0; i < 20; i++) {
		expect(one->area(i) == 9 * i, "a virtual call went astray");
		expect(trusts_it() == 78, "a register was lost");
	}
	for (long i = 1; i < 10; i++)
		expect(first_of(&i) == i + 1000000 && spins(3) == 1000, "a result was lost");
	throw_through();
	expect(keeps_wide_registers(), "a wide register was lost");
	leap_back();
	in_threads();
	(void)std::signal(SIGUSR1, on_signal);
	for (int i = 0; i < 10; i++)
		(void)std::raise(SIGUSR1);
}

int main(int argc, char **argv)
{
	all();
	if (argc > 1 && std::strcmp(argv[1], "fork") == 0) {
		int status = 1;
		const pid_t child = fork();

		if (child == 0) {
			expect(add_up(1, 2, 3, 4, 5, 6, 7, 8) == 204, "in the child");
			std::exit(0);
		}
		(void)waitpid(child, &status, 0);
		expect(status == 0, "the child failed");
	}
	std::puts("all as it should be");
	return 0;
}
