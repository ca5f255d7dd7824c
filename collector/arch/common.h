/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by all processors of arch/: the words of a walk and the registers of a context. */
#ifndef FG_COLLECTOR_ARCH_COMMON_H
#define FG_COLLECTOR_ARCH_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#define FG_WORD      sizeof(uintptr_t)
#define FG_ARCH_PAGE 4096u

/* The registers that a walk carries from frame to frame. */
struct fg_regs {
	uintptr_t pc;
	uintptr_t sp;
	uintptr_t bp;
};

/* The address of a frame's return address, given its CFA: the word below. */
static inline uintptr_t fg_return_address_at(uintptr_t cfa)
{
	return cfa - FG_WORD;
}

/*
 * The registers of the caller of this function that a walk needs; `frame` is
 * __builtin_frame_address(0): the caller's frame pointer, then the return address.
 */
static inline struct fg_regs fg_arch_caller(const void *frame)
{
	const uintptr_t *saved = frame;

	return (struct fg_regs){.pc = saved[1], .sp = (uintptr_t)(saved + 2), .bp = saved[0]};
}

/* A register in a signal context. */
typedef greg_t fg_arch_word;

/*
 * Do `size` bytes before `code` lie on the same page as `code`? The previous page may be unmapped.
 */
static inline bool fg_arch_same_page(const uint8_t *code, size_t size)
{
	return ((uintptr_t)code & (FG_ARCH_PAGE - 1)) >= size;
}

/* The saved registers of a context, as the bytes between these two. */
static inline uintptr_t fg_arch_registers_begin(const ucontext_t *context)
{
	return (uintptr_t)&context->uc_mcontext.gregs[0];
}

static inline uintptr_t fg_arch_registers_end(const ucontext_t *context)
{
	return (uintptr_t)&context->uc_mcontext.gregs[NGREG];
}

/* Lazy-binding entries take 16 bytes; is this address past the entry's `push`? */
static inline bool fg_arch_plt_has_pushed(uintptr_t pc)
{
	return (pc & 15u) >= 11;
}

/*
 * The number that `mov $number, %eax` loads shortly before a system call instruction, or a call of
 * one; -1: not found.
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
