/* SPDX-License-Identifier: Apache-2.0 */
/* The types and helpers that all architectures of arch/ share. */
#ifndef FG_COLLECTOR_ARCH_COMMON_H
#define FG_COLLECTOR_ARCH_COMMON_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#define FG_WORD sizeof(uintptr_t)
/*
 * The smallest page size of the supported architectures: a page of this size lies within one page
 * of the kernel.
 */
#define FG_ARCH_PAGE 4096u

/* The registers that a walk carries from frame to frame. */
struct fg_regs {
	uintptr_t pc;
	uintptr_t sp;
	uintptr_t bp;
};

/*
 * The argument of the thread's sigsuspend() in progress, or NULL. libc passes it to the kernel
 * unchanged; on some architectures an interrupted call no longer has it in a register.
 */
extern _Thread_local const sigset_t *fg_arch_suspended __attribute__((tls_model("initial-exec")));

/*
 * Do `size` bytes before `code` lie on the same page as `code`? The previous page may be unmapped.
 */
static inline bool fg_arch_same_page(const uint8_t *code, size_t size)
{
	return ((uintptr_t)code & (FG_ARCH_PAGE - 1)) >= size;
}

#endif
