/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All that the collector knows about a processor: registers in a signal context and in unwind
 * tables, what a system call instruction looks like, what linkers write into the unwind tables of
 * their own code.  A port is one more branch of this file.
 *
 * Where calls leave the return address in a register, as on arm64, a port needs more than that, in
 * two places:
 * - collector/rules.c gives rules only for frames whose return address lies right below the CFA,
 *   and collector/walk.c reads it
 *   there (step_to_cfa(), rest_holds()).  Such a rule would say where it lies, as it says for the frame pointer, or that it
 *   is still in its register, which then has to be carried in `struct fg_regs`; and signatures in it have to be taken off.
 * - collector/restart.c makes a call again with the arguments that are still in their registers.
 *   Where the result overwrites
 *   the first of them, that has to be had from elsewhere; the number, in return, is still in its register there.
 */
#ifndef FG_COLLECTOR_ARCH_H
#define FG_COLLECTOR_ARCH_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#if !defined(__x86_64__) && !defined(__i386__)
# error "the collector knows x86-64 and i386; another processor needs a branch in collector/arch.h"
#endif

#define FG_WORD      sizeof(uintptr_t)
#define FG_ARCH_PAGE 4096u

/* The registers that a walk carries from frame to frame. */
struct fg_regs {
	uintptr_t pc;
	uintptr_t sp;
	uintptr_t bp;
};

/* ---- what both processors share ---- */

/* Of a signal context; system calls take their arguments from such. */
typedef greg_t fg_arch_word;

/*
 * Do `size` bytes before `code` lie on the same page as what follows?  The page before need not be
 * there.
 */
static inline bool fg_arch_same_page(const uint8_t *code, size_t size)
{
	return ((uintptr_t)code & (FG_ARCH_PAGE - 1)) >= size;
}

/* The saved registers of a context, as bytes from here to there. */
static inline uintptr_t fg_arch_registers_begin(const ucontext_t *context)
{
	return (uintptr_t)&context->uc_mcontext.gregs[0];
}

static inline uintptr_t fg_arch_registers_end(const ucontext_t *context)
{
	return (uintptr_t)&context->uc_mcontext.gregs[NGREG];
}

/* Lazy-binding entries take 16 bytes; is this one past its `push`? */
static inline bool fg_arch_plt_has_pushed(uintptr_t pc)
{
	return (pc & 15u) >= 11;
}

/*
 * The number that `mov $number, %eax` loads shortly before a system call instruction, or a call of
 * one; -1: none is seen.
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

/* ---- what they do not ---- */

#if defined(__x86_64__)

# define FG_ELF_MACHINE EM_X86_64
# define FG_DWARF_SP    7
# define FG_DWARF_BP    6
# define FG_DWARF_RA    16
# define FG_DWARF_REGS  17

/*
 * Linkers describe all lazy-binding entries by one expression: sp + a word, and a word more when
 * the address is past the `push` at byte 11 of the 16-byte entry.
 */
# define FG_ARCH_PLT_EXPRESSION                               \
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

/* Of the frame of the signal trampoline: at its stack pointer the kernel put the context. */
static inline const ucontext_t *fg_arch_signal_context(const struct fg_regs *trampoline)
{
	return (const ucontext_t *)trampoline->sp;
}

static inline bool fg_arch_behind_syscall(const uint8_t *pc)
{
	return fg_arch_same_page(pc, 2) && pc[-2] == 0x0f && pc[-1] == 0x05;
}

/*
 * The number of an interrupted call is gone from its register; libc loads it by `mov $number, %eax`
 * shortly before.
 */
static inline long fg_arch_syscall_number(const ucontext_t *context)
{
	const uint8_t *pc = (const uint8_t *)fg_arch_register(context, FG_DWARF_RA);

	return fg_arch_behind_syscall(pc) ? fg_arch_number_before(pc - 2) : -1;
}

static inline long fg_arch_result(const ucontext_t *context)
{
	return (long)context->uc_mcontext.gregs[REG_RAX];
}

/* Let the program execute the same system call again when the handler returns. */
static inline void fg_arch_restart(ucontext_t *context, long number)
{
	context->uc_mcontext.gregs[REG_RAX] = number;
	context->uc_mcontext.gregs[REG_RIP] -= 2;
}

static inline fg_arch_word *fg_arch_argument(ucontext_t *context, unsigned index)
{
	static const int8_t order[6] = {REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9};

	return &context->uc_mcontext.gregs[order[index]];
}

/*
 * A mark on an interrupted call that is started again: still there when the same call is
 * interrupted once more, never there at another.  The kernel looks at the lower half of an argument
 * that is an int; the upper half carries the mark.
 */
static inline bool fg_arch_is_marked(ucontext_t *context, unsigned index, uint32_t mark)
{
	return (uint64_t)*fg_arch_argument(context, index) >> 32 == mark;
}

static inline void fg_arch_set_marked(ucontext_t *context, unsigned index, int value, uint32_t mark)
{
	*fg_arch_argument(context, index) = (fg_arch_word)((uint64_t)mark << 32 | (uint32_t)value);
}

#elif defined(__i386__)

# define FG_ELF_MACHINE EM_386
# define FG_DWARF_SP    4
# define FG_DWARF_BP    5
# define FG_DWARF_RA    8
# define FG_DWARF_REGS  9

# define FG_ARCH_PLT_EXPRESSION                               \
  {                                                           \
   0x74, 4, 0x78, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x32, 0x24, 0x22 \
  }

static inline uintptr_t fg_arch_register(const ucontext_t *context, unsigned dwarf)
{
	static const int8_t order[FG_DWARF_REGS] = {REG_EAX, REG_ECX, REG_EDX, REG_EBX, REG_ESP,
						    REG_EBP, REG_ESI, REG_EDI, REG_EIP};

	return dwarf < FG_DWARF_REGS ? (uintptr_t)context->uc_mcontext.gregs[order[dwarf]] : 0;
}

/*
 * Below the context of a signal with SA_SIGINFO lie its three arguments: number, info, context.
 * Without, the trampoline is another one, that begins by `pop %eax`: for the number, behind which
 * lie the registers alone, as they do in a context.
 */
static inline const ucontext_t *fg_arch_signal_context(const struct fg_regs *trampoline)
{
	const uintptr_t sp = trampoline->sp;

	if (*(const uint8_t *)trampoline->pc == 0x58)
		return (const ucontext_t *)(sp + FG_WORD - offsetof(ucontext_t, uc_mcontext));
	return *(const ucontext_t *const *)(sp + 2 * FG_WORD);
}

static inline bool fg_arch_behind_syscall(const uint8_t *pc)
{
	return fg_arch_same_page(pc, 2) && ((pc[-2] == 0xcd && pc[-1] == 0x80) ||
					    (pc[-2] == 0x0f && (pc[-1] == 0x34 || pc[-1] == 0x05)));
}

/*
 * libc calls the kernel by `call *%gs:0x10`, into the vDSO, where `pop %ebp; pop %edx; pop %ecx;
 * ret` follows the system call instruction; with six arguments by a function of its own, that ends
 * in `pop %ebp; pop %edi; pop %ebx; ret`.  The number was loaded before the outermost of these
 * calls.
 */
static inline long fg_arch_syscall_number(const ucontext_t *context)
{
	static const uint8_t behind_call[4] = {0x5d, 0x5a, 0x59, 0xc3};
	static const uint8_t behind_six[4] = {0x5d, 0x5f, 0x5b, 0xc3};
	static const uint8_t call_kernel[7] = {0x65, 0xff, 0x15, 0x10, 0, 0, 0};
	const uint8_t *pc = (const uint8_t *)fg_arch_register(context, FG_DWARF_RA);
	const uintptr_t *stack = (const uintptr_t *)fg_arch_register(context, FG_DWARF_SP);

	if (!fg_arch_behind_syscall(pc) ||
	    __builtin_memcmp(pc, behind_call, sizeof(behind_call)) != 0)
		return -1;
	const uint8_t *caller = (const uint8_t *)stack[3];

	if (!fg_arch_same_page(caller, sizeof(call_kernel)) ||
	    __builtin_memcmp(caller - sizeof(call_kernel), call_kernel, sizeof(call_kernel)) != 0)
		return -1;
	if (__builtin_memcmp(caller, behind_six, sizeof(behind_six)) == 0)
		return fg_arch_number_before((const uint8_t *)stack[7] - 5);
	return fg_arch_number_before(caller - sizeof(call_kernel));
}

static inline long fg_arch_result(const ucontext_t *context)
{
	return (long)context->uc_mcontext.gregs[REG_EAX];
}

static inline void fg_arch_restart(ucontext_t *context, long number)
{
	context->uc_mcontext.gregs[REG_EAX] = number;
	context->uc_mcontext.gregs[REG_EIP] -= 2;
}

static inline fg_arch_word *fg_arch_argument(ucontext_t *context, unsigned index)
{
	static const int8_t order[6] = {REG_EBX, REG_ECX, REG_EDX, REG_ESI, REG_EDI, REG_EBP};

	return &context->uc_mcontext.gregs[order[index]];
}

/*
 * The vDSO has put the third argument onto the stack, takes it from there again, and nobody looks
 * at it then.
 */
static inline uintptr_t *fg_arch_mark(const ucontext_t *context)
{
	return (uintptr_t *)fg_arch_register(context, FG_DWARF_SP) + 1;
}

static inline bool fg_arch_is_marked(ucontext_t *context, unsigned index, uint32_t mark)
{
	(void)index;
	return *fg_arch_mark(context) == mark;
}

static inline void fg_arch_set_marked(ucontext_t *context, unsigned index, int value, uint32_t mark)
{
	*fg_arch_argument(context, index) = value;
	*fg_arch_mark(context) = mark;
}

#endif

#endif
