/* SPDX-License-Identifier: Apache-2.0 */
/* i386: registers, system calls, linker stubs.  Included only by collector/arch/arch.h. */
#ifndef FG_COLLECTOR_ARCH_I386_H
#define FG_COLLECTOR_ARCH_I386_H

#include "collector/arch/x86.h"

#include <elf.h>
#include <sys/syscall.h>

#define FG_ELF_MACHINE EM_386
#define FG_DWARF_SP    4
#define FG_DWARF_BP    5
#define FG_DWARF_RA    8
#define FG_DWARF_REGS  9

#define FG_ARCH_PLT_EXPRESSION                               \
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
 * If the handler has SA_SIGINFO, its three arguments (number, info, context) lie below the context.
 * If not, another trampoline begins with `pop %eax` for the number, and only the registers follow,
 * laid out as in a context.
 */
static inline const ucontext_t *fg_arch_signal_context(const struct fg_regs *trampoline)
{
	const uintptr_t sp = trampoline->sp;

	if (*(const uint8_t *)trampoline->pc == 0x58)
		return (const ucontext_t *)(sp + FG_WORD - offsetof(ucontext_t, uc_mcontext));
	return *(const ucontext_t *const *)(sp + 2 * FG_WORD);
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
	return (pc[0] == 0xcd && pc[1] == 0x80) ||
	       (pc[0] == 0x0f && (pc[1] == 0x34 || pc[1] == 0x05));
}

static inline bool fg_arch_behind_syscall(const uint8_t *pc)
{
	return fg_arch_same_page(pc, 2) && ((pc[-2] == 0xcd && pc[-1] == 0x80) ||
					    (pc[-2] == 0x0f && (pc[-1] == 0x34 || pc[-1] == 0x05)));
}

/*
 * libc calls the kernel with `call *%gs:0x10`, into the vDSO, where `pop %ebp; pop %edx; pop %ecx;
 * ret` follows the system call instruction. With six arguments the call is in a helper function,
 * which ends in `pop %ebp; pop %edi; pop %ebx; ret`. The number was loaded before the outermost of
 * these calls.
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

/*
 * Marks a call that the program sees as ended. The mark lasts until the program's next
 * instructions: after the calls that are known here, the vDSO pops ecx from the stack.
 */
static inline void fg_arch_mark_ended(ucontext_t *context, uintptr_t mark)
{
	context->uc_mcontext.gregs[REG_ECX] = (greg_t)mark;
}

static inline fg_arch_word *fg_arch_argument(ucontext_t *context, unsigned index)
{
	static const int8_t order[6] = {REG_EBX, REG_ECX, REG_EDX, REG_ESI, REG_EDI, REG_EBP};

	return &context->uc_mcontext.gregs[order[index]];
}

/*
 * Returns the word that carries the mark. The vDSO has pushed the third argument there and pops it
 * again, and no code uses it afterwards.
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

/* System calls that take a 32-bit time have a 64-bit twin. */
/* clang-format off */
#define FG_ARCH_TIMED_CALLS \
	{.number = SYS_epoll_wait, .timeout = FG_TIMEOUT_MS, .argument = 3}, \
	{.number = SYS_poll, .timeout = FG_TIMEOUT_MS, .argument = 2}, \
	{.number = SYS_clock_nanosleep_time64, .timeout = FG_TIMEOUT_CLOCK, .argument = 2, .half = 8}, \
	{.number = SYS_futex_time64, .timeout = FG_TIMEOUT_FUTEX, .argument = 3, .half = 8}, \
	{.number = SYS_rt_sigtimedwait_time64, .timeout = FG_TIMEOUT_SPEC, .argument = 2, .half = 8}, \
	{.number = SYS_semtimedop_time64, .timeout = FG_TIMEOUT_SPEC, .argument = 3, .half = 8}, \
	{.number = SYS_socketcall, .timeout = FG_TIMEOUT_SOCKET},

#define FG_ARCH_UNTIMED_CALLS \
	SYS_pause, SYS_select, SYS__newselect, SYS_waitpid, SYS_fcntl64, \
	SYS_ppoll_time64, SYS_pselect6_time64, SYS_recvmmsg_time64, \
	SYS_mq_timedreceive_time64, SYS_mq_timedsend_time64,
#define FG_ARCH_MASKED_CALLS \
	{.number = SYS_ppoll_time64, .argument = 3}, \
	{.number = SYS_pselect6_time64, .argument = 5, .behind = true},
#define FG_ARCH_BY_FLAG_CALLS \
	SYS_open, SYS_waitpid, SYS_fcntl64, SYS_socketcall, SYS_mq_timedreceive_time64, \
	SYS_mq_timedsend_time64,
/* clang-format on */

/* Captures the registers of the calling function, for a walk that begins there. */
static inline __attribute__((always_inline)) void fg_arch_capture(ucontext_t *context)
{
	greg_t *to = context->uc_mcontext.gregs;

	__asm__ volatile("movl %%ebx, %[bx]\n\tmovl %%ebp, %[bp]\n\tmovl %%esp, %[sp]\n\t"
			 "movl %%esi, %[si]\n\tmovl %%edi, %[di]"
			 : [bx] "=m"(to[REG_EBX]), [bp] "=m"(to[REG_EBP]), [sp] "=m"(to[REG_ESP]),
			   [si] "=m"(to[REG_ESI]), [di] "=m"(to[REG_EDI]));
	/* Only a call reveals the current address. */
	__asm__ volatile("call 1f\n1:\tpopl %%eax\n\tmovl %%eax, %[pc]"
			 : [pc] "=m"(to[REG_EIP])
			 :
			 : "eax");
}

#endif
