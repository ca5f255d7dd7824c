/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All that the collector knows about a processor: registers in a signal context and in unwind tables, what a system
 * call instruction looks like.  A port is one more branch of this file.
 */
#ifndef FG_COLLECTOR_ARCH_H
#define FG_COLLECTOR_ARCH_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#define FG_WORD sizeof(uintptr_t)

/* The registers that a walk carries from frame to frame. */
struct fg_regs {
	uintptr_t pc;
	uintptr_t sp;
	uintptr_t bp;
};

#if defined(__x86_64__)

# define FG_ELF_MACHINE EM_X86_64
# define FG_DWARF_SP    7
# define FG_DWARF_BP    6
# define FG_DWARF_RA    16
# define FG_DWARF_REGS  17

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
	return pc[-2] == 0x0f && pc[-1] == 0x05;
}

/* The number of an interrupted call is gone from its register; libc loads it by `mov $number, %eax` shortly before. */
static inline long fg_arch_syscall_number(const uint8_t *pc)
{
	for (int back = 7; back <= 24; back++)
		if (pc[-back] == 0xb8 && pc[-back + 3] == 0 && pc[-back + 4] == 0)
			return pc[-back + 1] | (pc[-back + 2] << 8);
	return -1;
}

# define FG_ARCH_RESTARTS 1

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

static inline uintptr_t fg_arch_argument(const ucontext_t *context, unsigned index)
{
	static const int8_t order[6] = {REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9};

	return (uintptr_t)context->uc_mcontext.gregs[order[index]];
}

static inline void fg_arch_set_argument(ucontext_t *context, unsigned index, uintptr_t value)
{
	static const int8_t order[6] = {REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9};

	context->uc_mcontext.gregs[order[index]] = (greg_t)value;
}

#elif defined(__i386__)

# define FG_ELF_MACHINE EM_386
# define FG_DWARF_SP    4
# define FG_DWARF_BP    5
# define FG_DWARF_RA    8
# define FG_DWARF_REGS  9

static inline uintptr_t fg_arch_register(const ucontext_t *context, unsigned dwarf)
{
	static const int8_t order[FG_DWARF_REGS] = {REG_EAX, REG_ECX, REG_EDX, REG_EBX, REG_ESP,
						    REG_EBP, REG_ESI, REG_EDI, REG_EIP};

	return dwarf < FG_DWARF_REGS ? (uintptr_t)context->uc_mcontext.gregs[order[dwarf]] : 0;
}

/*
 * Below the context of a signal with SA_SIGINFO lie its three arguments: number, info, context.  Without, the trampoline is
 * another one, that begins by `pop %eax`: for the number, behind which lie the registers alone, as they do in a context.
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
	return (pc[-2] == 0xcd && pc[-1] == 0x80) ||
	       (pc[-2] == 0x0f && (pc[-1] == 0x34 || pc[-1] == 0x05));
}

# define FG_ARCH_RESTARTS 0

#else
# error "the collector knows x86-64 and i386; another processor needs a branch in collector/arch.h"
#endif

#endif
