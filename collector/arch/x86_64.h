/* SPDX-License-Identifier: Apache-2.0 */
/* x86-64: registers, system calls, linker stubs.  Included only by collector/arch/arch.h. */
#ifndef FG_COLLECTOR_ARCH_X86_64_H
#define FG_COLLECTOR_ARCH_X86_64_H

#include "collector/arch/x86.h"

#include <elf.h>
#include <sys/syscall.h>

#define FG_ELF_MACHINE EM_X86_64
#define FG_DWARF_SP    7
#define FG_DWARF_BP    6
#define FG_DWARF_RA    16
#define FG_DWARF_REGS  17

/*
 * Linkers describe all lazy-binding entries with one expression: sp plus a word, plus another word
 * if the address is past the `push` at byte 11 of the 16-byte entry.
 */
#define FG_ARCH_PLT_EXPRESSION                               \
 {                                                           \
  0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22 \
 }

/* Signal contexts list registers in their own order; this is the order of the unwind tables. */
static inline uintptr_t fg_arch_register(const ucontext_t *context, unsigned dwarf)
{
	static const int8_t order[FG_DWARF_REGS] = {
		REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
		REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};

	return dwarf < FG_DWARF_REGS ? (uintptr_t)context->uc_mcontext.gregs[order[dwarf]] : 0;
}

/* The kernel put the context at the stack pointer of the signal trampoline's frame. */
static inline const ucontext_t *fg_arch_signal_context(const struct fg_regs *trampoline)
{
	return (const ucontext_t *)trampoline->sp;
}

/*
 * `pc` is known to be code, or near 0 after a call of a null pointer, but the second byte may lie
 * on an unmapped page.
 */
static inline bool fg_arch_at_syscall(const uint8_t *pc)
{
	if ((uintptr_t)pc < FG_ARCH_PAGE ||
	    ((uintptr_t)pc & (FG_ARCH_PAGE - 1)) == FG_ARCH_PAGE - 1)
		return false;
	return pc[0] == 0x0f && pc[1] == 0x05;
}

static inline bool fg_arch_behind_syscall(const uint8_t *pc)
{
	return fg_arch_same_page(pc, 2) && pc[-2] == 0x0f && pc[-1] == 0x05;
}

/*
 * Returns the number of a futex call of glibc before 2.34: `mov $number, %ecx`, followed later by
 * `mov %ecx, %eax`.
 */
static inline long fg_arch_number_by_ecx(const uint8_t *call)
{
	enum {
		NEAR = 8,
		FARTHEST = 48
	};

	for (int near = 2; fg_arch_same_page(call, FARTHEST) && near <= NEAR; near++)
		for (int back = near + 5;
		     call[-near] == 0x89 && call[-near + 1] == 0xc8 && back <= FARTHEST; back++)
			if (call[-back] == 0xb9 && call[-back + 3] == 0 && call[-back + 4] == 0)
				return call[-back + 1] | (call[-back + 2] << 8);
	return -1;
}

/*
 * Returns the number of an interrupted call; -1: unknown. The register that held the number now has
 * the result; libc loads the number with `mov $number, %eax` shortly before the call.
 */
static inline long fg_arch_syscall_number(const ucontext_t *context)
{
	const uint8_t *pc = (const uint8_t *)fg_arch_register(context, FG_DWARF_RA);

	if (!fg_arch_behind_syscall(pc))
		return -1;
	const long number = fg_arch_number_before(pc - 2);

	return number >= 0 ? number : fg_arch_number_by_ecx(pc - 2);
}

/*
 * Marks a call that the program sees as ended. The mark lasts until the program's next instruction:
 * the processor has put the return address into rcx, which no code reads.
 */
static inline void fg_arch_mark_ended(ucontext_t *context, uintptr_t mark)
{
	if (context->uc_mcontext.gregs[REG_RCX] == context->uc_mcontext.gregs[REG_RIP])
		context->uc_mcontext.gregs[REG_RCX] = (greg_t)mark;
}

static inline fg_arch_word *fg_arch_argument(ucontext_t *context, unsigned index)
{
	static const int8_t order[6] = {REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9};

	return &context->uc_mcontext.gregs[order[index]];
}

/*
 * Is the call marked as restarted? If it is interrupted again, the mark is still there, and no
 * other call has it. The kernel reads only the lower half of an int argument; the upper half
 * carries the mark.
 */
static inline bool fg_arch_is_marked(ucontext_t *context, unsigned index, uint32_t mark)
{
	return (uint64_t)*fg_arch_argument(context, index) >> 32 == mark;
}

static inline void fg_arch_set_marked(ucontext_t *context, unsigned index, int value, uint32_t mark)
{
	*fg_arch_argument(context, index) = (fg_arch_word)((uint64_t)mark << 32 | (uint32_t)value);
}

/* Timed system calls that exist only on some architectures (collector/sampler/restart.c). */
/* clang-format off */
#define FG_ARCH_TIMED_CALLS \
	{.number = SYS_epoll_wait, .timeout = FG_TIMEOUT_MS, .argument = 3}, \
	{.number = SYS_poll, .timeout = FG_TIMEOUT_MS, .argument = 2}, \
	{.number = SYS_semtimedop, .timeout = FG_TIMEOUT_SPEC, .argument = 3, .half = 8},

/* Calls that wait without a timeout, or whose timeout the kernel updates. */
#define FG_ARCH_UNTIMED_CALLS SYS_pause, SYS_select, SYS_semop, SYS_accept,
/* Calls that the kernel restarts if the handler has SA_RESTART. */
#define FG_ARCH_BY_FLAG_CALLS SYS_accept, SYS_open,
/* Further calls that install a signal mask while they wait. */
#define FG_ARCH_MASKED_CALLS
/* clang-format on */

/* Captures the registers of the calling function, for a walk that begins there. */
static inline __attribute__((always_inline)) void fg_arch_capture(ucontext_t *context)
{
	greg_t *to = context->uc_mcontext.gregs;

	__asm__ volatile("movq %%rbx, %[bx]\n\tmovq %%rbp, %[bp]\n\tmovq %%rsp, %[sp]\n\t"
			 "movq %%r12, %[r12]\n\tmovq %%r13, %[r13]\n\tmovq %%r14, %[r14]\n\t"
			 "movq %%r15, %[r15]\n\tleaq 1f(%%rip), %%rax\n\tmovq %%rax, %[pc]\n1:"
			 : [bx] "=m"(to[REG_RBX]), [bp] "=m"(to[REG_RBP]), [sp] "=m"(to[REG_RSP]),
			   [r12] "=m"(to[REG_R12]), [r13] "=m"(to[REG_R13]),
			   [r14] "=m"(to[REG_R14]), [r15] "=m"(to[REG_R15]), [pc] "=m"(to[REG_RIP])
			 :
			 : "rax");
}

/* ---- calls, decoded (collector/unwind/walk_bare.c, collector/sampler/restart.c) ---- */

#define FG_ARCH_DECODES_CALLS
enum {
	FG_ARCH_INDIRECT_SIZE = 7,
	FG_ARCH_CALL_SIZE = 7, /* longest call */
	FG_ARCH_JUMP_SIZE = 5,
	FG_ARCH_STUB_SIZE = 11,
	FG_ARCH_TRAMPOLINE_SIZE = 9,
};

/* Returns the target of the 32-bit displacement at `at`. */
static inline uintptr_t fg_arch_displaced(const uint8_t *at)
{
	int32_t displacement;

	__builtin_memcpy(&displacement, at, sizeof(displacement));
	return (uintptr_t)at + sizeof(displacement) + (uintptr_t)(intptr_t)displacement;
}

/* Returns the slot of the `call *slot(%rip)` that returns here; 0: not such an instruction. */
static inline uintptr_t fg_arch_called_slot(const uint8_t *back)
{
	return back[-6] == 0xff && back[-5] == 0x15 ? fg_arch_displaced(back - 4) : 0;
}

/* Returns the target of the `call target` that returns here; 0: not such an instruction. */
static inline uintptr_t fg_arch_called(const uint8_t *back)
{
	return back[-5] == 0xe8 ? fg_arch_displaced(back - 4) : 0;
}

/* Does an instruction that calls through a register or memory return here? */
static inline bool fg_arch_called_somewhere(const uint8_t *back)
{
	for (int size = 2; size <= FG_ARCH_INDIRECT_SIZE; size++)
		if (back[-size] == 0xff && (back[1 - size] & 0x38) == 0x10)
			return true;
	return false;
}

/* Returns the target of a conditional or unconditional jump; 0: not a jump. */
static inline uintptr_t fg_arch_jumped(const uint8_t *code)
{
	if (code[0] == 0x0f && (code[1] & 0xf0) == 0x80)
		return fg_arch_displaced(code + 2);
	return code[0] == 0xe9 ? fg_arch_displaced(code + 1) : 0;
}

/* Returns the slot of a PLT stub: an optional `endbr64`, then `jmp *slot(%rip)`; 0: not a stub. */
static inline uintptr_t fg_arch_stub_slot(const uint8_t *stub)
{
	static const uint8_t endbr[4] = {0xf3, 0x0f, 0x1e, 0xfa};

	if (__builtin_memcmp(stub, endbr, sizeof(endbr)) == 0)
		stub += sizeof(endbr);
	stub += *stub == 0xf2; /* bnd */
	return stub[0] == 0xff && stub[1] == 0x25 ? fg_arch_displaced(stub + 2) : 0;
}

/*
 * Returns the number that a caller of musl's __syscall_cp() loads with `mov $number, %edi` before
 * the call that returns here; -1: not found.
 */
static inline long fg_arch_number_passed(const uint8_t *back)
{
	enum {
		FARTHEST = 48
	};

	for (int at = 10; back[-5] == 0xe8 && at <= FARTHEST; at++)
		if (back[-at] == 0xbf && back[-at + 3] == 0 && back[-at + 4] == 0)
			return back[-at + 1] | (back[-at + 2] << 8);
	return -1;
}

/*
 * Returns the number that a caller in glibc 2.41 or newer pushes with `push $number` before the
 * call that returns here; -1: the code does not push `on_stack`.
 */
static inline long fg_arch_number_pushed(const uint8_t *back, uintptr_t on_stack)
{
	enum {
		FARTHEST = 48,
		NUMBERS = 1 << 16
	};
	const uint8_t bytes[5] = {0x68, (uint8_t)on_stack, (uint8_t)(on_stack >> 8)};

	if (on_stack >= NUMBERS || back[-5] != 0xe8)
		return -1;
	for (int at = 7; at <= FARTHEST; at++) {
		const bool is_short = back[-at] == 0x6a && on_stack < 0x80;

		if ((is_short && back[1 - at] == on_stack) ||
		    (at >= 10 && __builtin_memcmp(back - at, bytes, sizeof(bytes)) == 0))
			return (long)on_stack;
	}
	return -1;
}

/* Do signal handlers return here: `mov $SYS_rt_sigreturn, %rax; syscall`? */
static inline bool fg_arch_is_trampoline(const uint8_t *code)
{
	static const uint8_t known[FG_ARCH_TRAMPOLINE_SIZE] = {0x48, 0xc7, 0xc0, 0x0f, 0,
							       0,    0,    0x0f, 0x05};

	return __builtin_memcmp(code, known, sizeof(known)) == 0;
}

#endif
