/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arm64: registers, system calls, signal frames.  Included only by collector/arch/arch.h.
 *
 * A call leaves the return address in x30, the link register; functions that call other functions
 * store it, nearly all of them as a pair with the frame pointer x29. The address may carry a
 * signature (pointer authentication), which is stripped wherever the address is read.
 */
#ifndef FG_COLLECTOR_ARCH_AARCH64_H
#define FG_COLLECTOR_ARCH_AARCH64_H

#include "collector/arch/common.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>

#define FG_ARCH_LINK_REGISTER 1

#define FG_ELF_MACHINE EM_AARCH64
#define FG_DWARF_BP    29
#define FG_DWARF_LR    30
#define FG_DWARF_SP    31
#define FG_DWARF_RA    32 /* stands for a context's pc; unwind tables use x30 */
#define FG_DWARF_REGS  33

/* Numbers of asm/perf_regs.h; the kernel writes the registers in this order. */
#define FG_ARCH_PERF_BP 29
#define FG_ARCH_PERF_LR 30
#define FG_ARCH_PERF_SP 31
#define FG_ARCH_PERF_IP 32

/* Lazy-binding entries have no unwind tables on arm64, so no rule is FG_RULE_PLT. */
static inline bool fg_arch_plt_has_pushed(uintptr_t pc)
{
	(void)pc;
	return false;
}

static inline uintptr_t fg_arch_register(const ucontext_t *context, unsigned dwarf)
{
	if (dwarf < FG_DWARF_SP)
		return context->uc_mcontext.regs[dwarf];
	if (dwarf == FG_DWARF_SP)
		return context->uc_mcontext.sp;
	return dwarf == FG_DWARF_RA ? context->uc_mcontext.pc : 0;
}

/*
 * Strips the signature with xpaclri, which older processors ignore. A program's addresses lie below
 * the signature's bits, so an address without a signature does not change.
 */
static inline uintptr_t fg_arch_strip(uintptr_t address)
{
	register uintptr_t link __asm__("x30") = address;

	__asm__("hint #7" : "+r"(link));
	return link;
}

static inline uintptr_t fg_arch_link(const ucontext_t *context)
{
	return fg_arch_strip(context->uc_mcontext.regs[FG_DWARF_LR]);
}

/*
 * gcc may put the frame record anywhere in a frame; only the CFA gives the caller's stack pointer.
 */
#define FG_ARCH_CALLER                                                          \
 ((struct fg_regs){.pc = fg_arch_strip((uintptr_t)__builtin_return_address(0)), \
		   .sp = (uintptr_t)__builtin_dwarf_cfa(),                      \
		   .bp = *(const uintptr_t *)__builtin_frame_address(0)})

/* A register in a signal context. */
typedef unsigned long long fg_arch_word;

static inline uintptr_t fg_arch_registers_begin(const ucontext_t *context)
{
	return (uintptr_t)&context->uc_mcontext.regs[0];
}

static inline uintptr_t fg_arch_registers_end(const ucontext_t *context)
{
	return (uintptr_t)(&context->uc_mcontext.pc + 1);
}

/* ---- signal frames ---- */

static inline uint32_t fg_arch_instruction(const uint8_t *code)
{
	return *(const uint32_t *)(const void *)code;
}

/*
 * Is this `mov x8, #139; svc #0`, which calls rt_sigreturn? The kernel's trampoline has unwind
 * tables in only some versions, so unwinders recognise it by its instructions.
 */
static inline bool fg_arch_is_rt_sigreturn(const uint8_t *code)
{
	return fg_arch_instruction(code) == 0xd2801168u &&
	       fg_arch_instruction(code + 4) == 0xd4000001u;
}

/*
 * The trampoline's stack pointer is the start of the kernel's signal frame: siginfo, then the
 * context. The vector registers follow; with SVE they may have any size.
 */
static inline const ucontext_t *fg_arch_signal_context(const struct fg_regs *trampoline)
{
	return (const ucontext_t *)(trampoline->sp + sizeof(siginfo_t));
}

/* ---- system calls ---- */

/* `pc` is known to be code, or near 0 after a call of a null pointer. */
static inline bool fg_arch_at_syscall(const uint8_t *pc)
{
	return (uintptr_t)pc >= FG_ARCH_PAGE && (uintptr_t)pc % 4 == 0 &&
	       fg_arch_instruction(pc) == 0xd4000001u;
}

static inline bool fg_arch_behind_syscall(const uint8_t *pc)
{
	return (uintptr_t)pc >= FG_ARCH_PAGE && fg_arch_same_page(pc, 4) &&
	       (uintptr_t)pc % 4 == 0 && fg_arch_instruction(pc - 4) == 0xd4000001u;
}

/* May this instruction change register `number`, or jump? Yes if in doubt. */
static inline bool fg_arch_may_change(uint32_t code, unsigned number)
{
	const bool is_branch =
		(code & 0x1c000000u) == 0x14000000u; /* system instructions included */
	const bool is_memory = (code & 0x0a000000u) == 0x08000000u; /* may also update its base */
	const bool is_pair = (code & 0x3a000000u) == 0x28000000u;

	return is_branch || (code & 31u) == number || (is_memory && (code >> 5 & 31u) == number) ||
	       (is_pair && (code >> 10 & 31u) == number);
}

/*
 * Finds the argument that libc moves into x0 shortly before the call: a constant, or the value of a
 * register that has not changed since.
 */
static inline bool fg_arch_moved_argument(const ucontext_t *context, uint64_t *first)
{
	enum {
		FARTHEST = 10
	};
	const uint8_t *const call = (const uint8_t *)(uintptr_t)context->uc_mcontext.pc - 4;
	uint32_t codes[FARTHEST];

	for (unsigned i = 0; i < FARTHEST && fg_arch_same_page(call, 4u * (i + 1)); i++) {
		const uint32_t code = codes[i] = fg_arch_instruction(call - 4 * (ptrdiff_t)(i + 1));
		const unsigned from = code >> 16 & 31u;

		if ((code & 0x7fe0001fu) == 0x52800000u) { /* mov x0, #number */
			*first = code >> 5 & 0xffffu;
			return true;
		}
		if ((code & 0x7fe0ffffu) == 0x2a0003e0u) { /* mov x0, xN, of either width */
			const uint64_t value = from == 31 ? 0 : context->uc_mcontext.regs[from];

			while (i > 0)
				if (fg_arch_may_change(codes[--i], from))
					return false;
			*first = code >> 31 ? value : (uint32_t)value;
			return true;
		}
		if (fg_arch_may_change(code, 0))
			return false;
	}
	return false;
}

/* Recovers the first argument of an interrupted call, which the result has overwritten. */
static inline bool fg_arch_first_argument(const ucontext_t *context, uint64_t *first)
{
	if (fg_arch_moved_argument(context, first))
		return true;
	*first = (uintptr_t)fg_arch_suspended;
	return *first && (int)context->uc_mcontext.regs[8] == SYS_rt_sigsuspend;
}

static inline long fg_arch_result(const ucontext_t *context)
{
	return (long)context->uc_mcontext.regs[0];
}

static inline long fg_arch_next_number(const ucontext_t *context)
{
	return (int)context->uc_mcontext.regs[8];
}

/*
 * Returns the number of the interrupted call; -1: no call was interrupted, or it cannot be
 * restarted because its first argument is not found.
 */
static inline long fg_arch_syscall_number(const ucontext_t *context)
{
	uint64_t first = 0;

	if (!fg_arch_behind_syscall((const uint8_t *)(uintptr_t)context->uc_mcontext.pc) ||
	    !fg_arch_first_argument(context, &first))
		return -1;
	return fg_arch_next_number(context);
}

/* Returns the first argument of an interrupted call. */
static inline fg_arch_word fg_arch_first(const ucontext_t *context)
{
	uint64_t first = 0;

	(void)fg_arch_first_argument(context, &first);
	return first;
}

static inline void fg_arch_restart(ucontext_t *context, long number)
{
	(void)number; /* the number is still in x8 */
	context->uc_mcontext.pc -= 4;
}

/* Ends a call that was about to be restarted, as if a signal had interrupted it. */
static inline void fg_arch_interrupt(ucontext_t *context)
{
	context->uc_mcontext.regs[0] = (uint64_t)(int64_t)-EINTR;
	context->uc_mcontext.pc += 4;
}

/*
 * Marks a call that the program sees as ended. The mark lasts until the next call: the kernel reads
 * only the lower half of x8, and programs do not read x8.
 */
static inline void fg_arch_mark_ended(ucontext_t *context, uintptr_t mark)
{
	if (context->uc_mcontext.regs[8] >> 32 == 0)
		context->uc_mcontext.regs[8] |= (uint64_t)mark << 32;
}

static inline bool fg_arch_is_ended(const ucontext_t *context, uintptr_t mark)
{
	return context->uc_mcontext.regs[8] >> 32 == (uint32_t)mark;
}

static inline fg_arch_word *fg_arch_argument(ucontext_t *context, unsigned index)
{
	return &context->uc_mcontext.regs[index];
}

/* The kernel reads only the lower half of an int argument; the upper half has the mark. */
static inline bool fg_arch_is_marked(ucontext_t *context, unsigned index, uint32_t mark)
{
	return *fg_arch_argument(context, index) >> 32 == mark;
}

static inline void fg_arch_set_marked(ucontext_t *context, unsigned index, int value, uint32_t mark)
{
	*fg_arch_argument(context, index) = (uint64_t)mark << 32 | (uint32_t)value;
}

/* Timed system calls that exist only on some architectures (collector/sampler/restart.c). */
/* clang-format off */
#define FG_ARCH_TIMED_CALLS \
	{.number = SYS_semtimedop, .timeout = FG_TIMEOUT_SPEC, .argument = 3, .half = 8},

#define FG_ARCH_UNTIMED_CALLS SYS_semop, SYS_accept,
#define FG_ARCH_BY_FLAG_CALLS SYS_accept,
#define FG_ARCH_MASKED_CALLS
/* clang-format on */

/* Captures the registers here, for a walk that begins in the calling function. */
static inline __attribute__((always_inline)) void fg_arch_capture(ucontext_t *context)
{
	uintptr_t scratch;

	/* sp and pc follow x30 */
	__asm__ volatile("stp x19, x20, [%[to], #152]\n\tstp x21, x22, [%[to], #168]\n\t"
			 "stp x23, x24, [%[to], #184]\n\tstp x25, x26, [%[to], #200]\n\t"
			 "stp x27, x28, [%[to], #216]\n\tstp x29, x30, [%[to], #232]\n\t"
			 "mov %[scratch], sp\n\tstr %[scratch], [%[to], #248]\n\t"
			 "adr %[scratch], .\n\tstr %[scratch], [%[to], #256]"
			 : [scratch] "=&r"(scratch)
			 : [to] "r"(context->uc_mcontext.regs)
			 : "memory");
}

#endif
