// SPDX-License-Identifier: Apache-2.0
/*
 * Restarting a system call that the collector's signal interrupted, by changing the registers
 * passed to a handler. The registers are synthetic, so that a signal can come between any two
 * instructions. The collector is linked into this program and off.
 */
#include "collector/process/threads.h"
#include "collector/sampler/handler.h"
#include "tests/support/fg_test.h"

#include <errno.h>
#include <sys/syscall.h>

enum {
	CALL = 32, /* offset of the call: bytes before it are also examined */
	SP = 0x7000,
	BELOW = 0x6f00,
	FIRST = 0x1230, /* the call's first argument */
};

#if defined(__aarch64__)
enum {
	BEHIND = CALL + 4
};

/* The code of ppoll in libc: first argument, number, call, return. */
static _Alignas(64) const uint32_t words[16] = {[CALL / 4 - 2] = 0xaa1303e0, /* mov x0, x19 */
						[CALL / 4 - 1] = 0xd2800008 | SYS_ppoll << 5,
						[CALL / 4] = 0xd4000001,
						[BEHIND / 4] = 0xd65f03c0};
# define code           ((const uint8_t *)words)
# define PC_OF(context) ((context)->uc_mcontext.pc)
/* The kernel and the compiler do not use the upper half of this register. */
# define SPARE_OF(context) ((context)->uc_mcontext.regs[8])
static const greg_t in_use = (greg_t)42 << 32 | SYS_ppoll;
static const greg_t elsewhere_is = SYS_ppoll;

static ucontext_t context_at(const uint8_t *pc, long result, uintptr_t sp)
{
	ucontext_t context = {0};

	PC_OF(&context) = (uintptr_t)pc;
	context.uc_mcontext.regs[8] = result == -EINTR ? SYS_ppoll : (uint64_t)result;
	context.uc_mcontext.regs[0] = result == -EINTR ? (uint64_t)result : FIRST;
	context.uc_mcontext.regs[19] = FIRST;
	context.uc_mcontext.sp = sp;
	return context;
}

static long next_of(const ucontext_t *context)
{
	assert_int_equal(context->uc_mcontext.regs[0], FIRST);
	return (int)context->uc_mcontext.regs[8];
}

static long result_of(const ucontext_t *context)
{
	return (long)context->uc_mcontext.regs[0];
}
#else
enum {
	BEHIND = CALL + 2
};

/* The code of ppoll in libc: number, call, return. */
static _Alignas(64) const uint8_t code[64] = {
	[CALL - 5] = 0xb8,           [CALL - 4] = SYS_ppoll & 0xff,
	[CALL - 3] = SYS_ppoll >> 8, [CALL] = 0x0f,
	[CALL + 1] = 0x05,           [BEHIND] = 0xc3};
# define PC_OF(context)    ((context)->uc_mcontext.gregs[REG_RIP])
# define SPARE_OF(context) ((context)->uc_mcontext.gregs[REG_RCX])
static const greg_t in_use = 42;
# define elsewhere_is      ((greg_t)(uintptr_t)code)

static ucontext_t context_at(const uint8_t *pc, long result, uintptr_t sp)
{
	ucontext_t context = {0};

	PC_OF(&context) = (greg_t)(uintptr_t)pc;
	context.uc_mcontext.gregs[REG_RAX] = result;
	context.uc_mcontext.gregs[REG_RDI] = FIRST;
	context.uc_mcontext.gregs[REG_RSP] = (greg_t)sp;
	SPARE_OF(&context) = (greg_t)(uintptr_t)(code + BEHIND); /* set by the processor */
	return context;
}

static long next_of(const ucontext_t *context)
{
	assert_int_equal(context->uc_mcontext.gregs[REG_RDI], FIRST);
	return (long)context->uc_mcontext.gregs[REG_RAX];
}

static long result_of(const ucontext_t *context)
{
	return (long)context->uc_mcontext.gregs[REG_RAX];
}
#endif

#define at_call     (code + CALL)
#define behind_call (code + BEHIND)
static struct fg_thread thread;

static void expect_at(const ucontext_t *context, const uint8_t *pc, long result)
{
	assert_ptr_equal((void *)(uintptr_t)PC_OF(context), pc);
	assert_int_equal(pc == at_call ? next_of(context) : result_of(context), result);
}

/* A sample interrupts ppoll, and its handler restarts the call. */
static ucontext_t interrupted(void)
{
	ucontext_t context = context_at(behind_call, -EINTR, SP);

	thread = (struct fg_thread){0};
	assert_true(fg_restart(&thread, &context, false, 0));
	expect_at(&context, at_call, SYS_ppoll);
	return context;
}

FG_TEST(call_that_a_sample_interrupted_is_made_again)
{
	ucontext_t context = interrupted();

	/* Another sample before the call begins changes nothing. */
	assert_false(fg_restart(&thread, &context, false, 0));
	expect_at(&context, at_call, SYS_ppoll);
}

/* No signal was pending when the first handler checked. */
FG_TEST(programs_own_signal_before_the_call_ends_it)
{
	ucontext_t context = interrupted();

	fg_restart_prevent(&thread, &context, 0);
	expect_at(&context, behind_call, -EINTR);
}

FG_TEST(samples_in_between_do_not_hide_the_programs_own_signal)
{
	ucontext_t context = interrupted();

	assert_false(fg_restart(&thread, &context, false, 0));
	fg_restart_prevent(&thread, &context, 0);
	expect_at(&context, behind_call, -EINTR);
}

/* The other call may be one that a handler of the program makes. */
FG_TEST(programs_own_signal_before_another_call_lets_it_begin)
{
	ucontext_t context = context_at(at_call, SYS_ppoll, BELOW);

	(void)interrupted();
	fg_restart_prevent(&thread, &context, 0);
	expect_at(&context, at_call, SYS_ppoll);
}

FG_TEST(call_that_a_handler_of_the_program_ended_stays_ended)
{
	ucontext_t context = interrupted();

	fg_restart_prevent(&thread, &context, 0);
	fg_restart_prevent(&thread, &context, 0);
	expect_at(&context, behind_call, -EINTR);
}

/* The sample was pending while the program's handler ran. */
FG_TEST(sample_behind_the_programs_own_handler_leaves_the_call_ended)
{
	ucontext_t context = context_at(behind_call, -EINTR, SP);

	thread = (struct fg_thread){0};
	fg_restart_prevent(&thread, &context, 0);
	for (unsigned samples = 0; samples < 2; samples++) {
		assert_false(fg_restart(&thread, &context, false, 0));
		expect_at(&context, behind_call, -EINTR);
	}
}

/* The program's handler lacks SA_RESTART, and the kernel was about to restart the call. */
FG_TEST(sample_behind_the_end_of_a_read_leaves_it_ended)
{
	ucontext_t context = context_at(at_call, SYS_read, SP);

	thread = (struct fg_thread){0};
	fg_restart_prevent(&thread, &context, 0);
	expect_at(&context, behind_call, -EINTR);
	assert_false(fg_restart(&thread, &context, false, 0));
	expect_at(&context, behind_call, -EINTR);
}

FG_TEST(next_call_of_the_same_kind_is_made_again)
{
	ucontext_t context = context_at(behind_call, -EINTR, SP);

	thread = (struct fg_thread){0};
	fg_restart_prevent(&thread, &context, 0);
	(void)interrupted();
}

/* The program may have -EINTR in a register for its own reasons. */
FG_TEST(registers_that_the_program_uses_stay_as_they_are)
{
	ucontext_t behind_a_jump = context_at(behind_call, -EINTR, SP);
	ucontext_t elsewhere = context_at(code, -EINTR, SP);

	thread = (struct fg_thread){0};
	SPARE_OF(&behind_a_jump) = in_use;
	SPARE_OF(&elsewhere) = elsewhere_is;
	fg_restart_prevent(&thread, &behind_a_jump, 0);
	fg_restart_prevent(&thread, &elsewhere, 0);
	assert_int_equal(SPARE_OF(&behind_a_jump), in_use);
	assert_int_equal(SPARE_OF(&elsewhere), elsewhere_is);
}
