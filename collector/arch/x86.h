/* SPDX-License-Identifier: Apache-2.0 */
/* Code that x86-64 and i386 share. */
#ifndef FG_COLLECTOR_ARCH_X86_H
#define FG_COLLECTOR_ARCH_X86_H

#include "collector/arch/common.h"

#include <errno.h>

/* A call pushes the return address: it is never in a register. */
#define FG_ARCH_LINK_REGISTER 0

/* Numbers of asm/perf_regs.h for both widths; the kernel writes the registers in this order. */
#define FG_ARCH_PERF_BP 6
#define FG_ARCH_PERF_SP 7
#define FG_ARCH_PERF_IP 8

/* A frame keeps its return address in the word below its CFA. */
static inline uintptr_t fg_return_address_at(uintptr_t cfa)
{
	return cfa - FG_WORD;
}

/* Returns 0: x86 has no link register. */
static inline uintptr_t fg_arch_link(const ucontext_t *context)
{
	(void)context;
	return 0;
}

/* Returns the address unchanged: return addresses have no signature on x86. */
static inline uintptr_t fg_arch_strip(uintptr_t address)
{
	return address;
}

/*
 * Is this the code that a signal handler returns to? Not needed on x86: unwind tables mark that
 * code.
 */
static inline bool fg_arch_is_rt_sigreturn(const uint8_t *code)
{
	(void)code;
	return false;
}

/*
 * Returns the caller's registers. The frame holds the caller's frame pointer, then the return
 * address.
 */
static inline struct fg_regs fg_arch_caller_of(const void *frame)
{
	const uintptr_t *saved = frame;

	return (struct fg_regs){.pc = saved[1], .sp = (uintptr_t)(saved + 2), .bp = saved[0]};
}

/* The registers of the function's caller that a walk needs. */
#define FG_ARCH_CALLER fg_arch_caller_of(__builtin_frame_address(0))

/* A register in a signal context. */
typedef greg_t fg_arch_word;

#ifdef __x86_64__
# define FG_REG_AX REG_RAX
# define FG_REG_CX REG_RCX
# define FG_REG_IP REG_RIP
#else
# define FG_REG_AX REG_EAX
# define FG_REG_CX REG_ECX
# define FG_REG_IP REG_EIP
#endif

static inline long fg_arch_result(const ucontext_t *context)
{
	return (long)context->uc_mcontext.gregs[FG_REG_AX];
}

/* Returns the number of the system call that the thread is about to make. */
static inline long fg_arch_next_number(const ucontext_t *context)
{
	return fg_arch_result(context);
}

/* Makes the program repeat the system call when the handler returns. */
static inline void fg_arch_restart(ucontext_t *context, long number)
{
	context->uc_mcontext.gregs[FG_REG_AX] = number;
	context->uc_mcontext.gregs[FG_REG_IP] -= 2;
}

/* Ends a system call that was about to be repeated, as if a signal had interrupted it. */
static inline void fg_arch_interrupt(ucontext_t *context)
{
	context->uc_mcontext.gregs[FG_REG_AX] = -EINTR;
	context->uc_mcontext.gregs[FG_REG_IP] += 2;
}

static inline bool fg_arch_is_ended(const ucontext_t *context, uintptr_t mark)
{
	return context->uc_mcontext.gregs[FG_REG_CX] == (greg_t)mark;
}

static inline fg_arch_word *fg_arch_argument(ucontext_t *context, unsigned index);

/* Returns the first argument of an interrupted system call. */
static inline fg_arch_word fg_arch_first(ucontext_t *context)
{
	return *fg_arch_argument(context, 0);
}

/* The saved registers of a context are the bytes between these two addresses. */
static inline uintptr_t fg_arch_registers_begin(const ucontext_t *context)
{
	return (uintptr_t)&context->uc_mcontext.gregs[0];
}

static inline uintptr_t fg_arch_registers_end(const ucontext_t *context)
{
	return (uintptr_t)&context->uc_mcontext.gregs[NGREG];
}

/* A lazy-binding entry has 16 bytes; is this address past the entry's `push`? */
static inline bool fg_arch_plt_has_pushed(uintptr_t pc)
{
	return (pc & 15u) >= 11;
}

/*
 * Returns the number that `mov $number, %eax` loads shortly before `call`, which is a system call
 * instruction or a call of code that executes it; -1: not found.
 */
static inline long fg_arch_number_before(const uint8_t *call)
{
	enum {
		FARTHEST = 22
	};

	if (!fg_arch_same_page(call, FARTHEST))
		return -1;
	for (int back = 5; back <= FARTHEST; back++)
		if (call[-back] == 0xb8 && call[-back + 3] == 0 && call[-back + 4] == 0)
			return call[-back + 1] | (call[-back + 2] << 8);
	return -1;
}

#endif
