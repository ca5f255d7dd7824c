// SPDX-License-Identifier: Apache-2.0
/*
 * The stubs to which imports are redirected.  A stub pushes its number and jumps to the common
 * part, which saves the integer registers and counts the call with code that uses only these
 * registers.  This is enough for nearly all calls.  For the remaining calls it saves every register
 * that may carry an argument, counts the call, restores the registers and jumps to the real
 * function.  The return address keeps its place and its value, so code that inspects the stack
 * (exceptions, longjmp, setjmp, vfork, shadow stacks) finds nothing of ours.
 *
 * A timed call is the exception: the common part calls the function, and is then a frame between
 * the function and its caller, like any wrapper. It has unwind tables and nothing to clean up:
 * exceptions and longjmp() pass through it. Only functions all of whose arguments are in registers
 * can be called in this way (collector/calls/signatures.c).
 */
#include "base/attrs.h"
#include "collector/calls/call_registers.h"

#include <cpuid.h>

enum {
	STUB_BYTES = 16
};

uint32_t fg_call_components;
uint32_t fg_call_knows_in_use;
uint32_t fg_call_is_quick;

extern const uint8_t fg_call_stubs[] __attribute__((visibility("hidden")));
extern const uint8_t fg_call_frame_code[] __attribute__((visibility("hidden")));

_Static_assert(offsetof(struct fg_call_glance, rbp) == 32, "the assembly below assumes 32");
_Static_assert(offsetof(struct fg_call_glance, index) == 32 + 80,
	       "the assembly below pushes 10 words");
_Static_assert(FG_CALL_STUBS_MAX == 4096, "the assembly below makes 4096 stubs");

/* clang-format off */
__asm__(
"	.text\n"
"	.hidden fg_call_stubs, fg_call_frame_code, fg_call_components, fg_call_knows_in_use\n"
"	.hidden fg_call_is_quick, fg_call_count_quickly, fg_call_count, fg_call_returned_from\n"
"	.balign 64\n"
"	.globl fg_call_frame_code\n"
"	.type fg_call_frame_code, @function\n"
"fg_call_frame_code:\n"
"	.cfi_startproc\n"
"	nop\n"
"	ud2\n"
"	.cfi_endproc\n"
"	.size fg_call_frame_code, . - fg_call_frame_code\n"
"\n"
"	.balign 64\n"
"	.type fg_call_enter, @function\n"
"fg_call_enter:\n"
"	.cfi_startproc\n"
"	.cfi_def_cfa_offset 16\n"
"	cmpl $0, fg_call_is_quick(%rip)\n"
"	je fg_call_whole\n"
"	.irp register, %rax, %rcx, %rdx, %rsi, %rdi, %r8, %r9, %r10, $0, %rbp\n"
"	pushq \\register\n"
"	.cfi_adjust_cfa_offset 8\n"
"	.endr\n"
"	subq $32, %rsp\n"
"	.cfi_adjust_cfa_offset 32\n"
"	testl $4, fg_call_components(%rip)\n"
"	jz 1f\n"
"	.irp n, 0, 1, 2, 3\n	vmovq %xmm\\n, 8 * \\n(%rsp)\n	.endr\n"
"	jmp 2f\n"
"1:	.irp n, 0, 1, 2, 3\n	movq %xmm\\n, 8 * \\n(%rsp)\n	.endr\n"
"2:	movq %rsp, %rdi\n"
"	call fg_call_count_quickly\n"
"	movq %rax, %r11\n"
"	addq $48, %rsp\n"
"	.cfi_adjust_cfa_offset -48\n"
"	.irp register, %r10, %r9, %r8, %rdi, %rsi, %rdx, %rcx, %rax\n"
"	popq \\register\n"
"	.cfi_adjust_cfa_offset -8\n"
"	.endr\n"
"	testq %r11, %r11\n"
"	jz fg_call_whole\n"
"	leaq 8(%rsp), %rsp\n"
"	.cfi_adjust_cfa_offset -8\n"
"	jmp *%r11\n"
"	.cfi_endproc\n"
"	.size fg_call_enter, . - fg_call_enter\n");

/*
 * On entry the stack holds a stub's number, then the return address. The struct fg_call_state is
 * made below them.
 */
__asm__(
"	.text\n"
"	.balign 64\n"
"	.type fg_call_whole, @function\n"
"fg_call_whole:\n"
"	.cfi_startproc\n"
"	.cfi_def_cfa_offset 16\n"
"	pushq %rbp\n"
"	.cfi_def_cfa_offset 24\n"
"	.cfi_offset %rbp, -24\n"
"	movq %rsp, %rbp\n"
"	.cfi_def_cfa_register %rbp\n"
"	andq $-64, %rsp\n"
"	subq $704, %rsp\n"
FG_ASM_SAVE_INTEGERS
"	movq 0(%rbp), %rax\n"
"	movq %rax, 8(%rsp)\n"
"	leaq 16(%rbp), %rax\n"
"	movq %rax, 48(%rsp)\n"
"	movq 8(%rbp), %rax\n"
"	movq %rax, 56(%rsp)\n"
FG_ASM_COMPONENTS_IN_USE
FG_ASM_SAVE_VECTORS(FG_ASM_FIRST_8, "64", "")
"	movq %rsp, %rdi\n"
"	call fg_call_count\n"
"	movq %rax, %r11\n"
FG_ASM_LOAD_VECTORS(FG_ASM_FIRST_8, "64", "")
FG_ASM_LOAD_INTEGERS
"	cmpl $0, 136(%rsp)\n"
"	jne 5f\n"
"	.cfi_remember_state\n"
"	movq %rbp, %rsp\n"
"	popq %rbp\n"
"	.cfi_def_cfa %rsp, 16\n"
"	.cfi_restore %rbp\n"
"	leaq 8(%rsp), %rsp\n"
"	.cfi_def_cfa_offset 8\n"
"	jmp *%r11\n"
"	.cfi_restore_state\n"
"5:	call *%r11\n"
"	movq %rax, 64(%rsp)\n"
"	movq %rdx, 80(%rsp)\n"
"	movaps %xmm0, 192(%rsp)\n"
"	movaps %xmm1, 256(%rsp)\n"
"	movq %rsp, %rdi\n"
"	call fg_call_returned_from\n"
"	movq 64(%rsp), %rax\n"
"	movq 80(%rsp), %rdx\n"
"	movaps 192(%rsp), %xmm0\n"
"	movaps 256(%rsp), %xmm1\n"
"	movq %rbp, %rsp\n"
"	popq %rbp\n"
"	.cfi_def_cfa %rsp, 16\n"
"	.cfi_restore %rbp\n"
"	leaq 8(%rsp), %rsp\n"
"	.cfi_def_cfa_offset 8\n"
"	ret\n"
"	.cfi_endproc\n"
"	.size fg_call_whole, . - fg_call_whole\n"
"\n"
"	.balign 64\n"
"	.globl fg_call_stubs\n"
"	.type fg_call_stubs, @function\n"
"fg_call_stubs:\n"
"	.set number, 0\n"
"	.rept 4096\n"
"	endbr64\n"
"	pushq $number\n"
"	jmp fg_call_enter\n"
"	.balign 16\n"
"	.set number, number + 1\n"
"	.endr\n"
"	.size fg_call_stubs, . - fg_call_stubs\n");
/* clang-format on */

static uint32_t enabled_components(void)
{
	uint32_t low = 0;
	uint32_t high = 0;

	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return low;
}

bool fg_call_registers_init(void)
{
	uint32_t a = 0;
	uint32_t b = 0;
	uint32_t c = 0;
	uint32_t d = 0;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
		return true; /* no component beyond SSE */
	fg_call_components = enabled_components() & (FG_COMPONENT_AVX | FG_COMPONENTS_AVX512);
	if (__get_cpuid_count(13, 1, &a, &b, &c, &d))
		fg_call_knows_in_use = (a >> 2) & 1;
	/*
	 * Masks are saved 64 bits wide, with an instruction that the first processors with masks
	 * lack.
	 */
	return !(fg_call_components & FG_COMPONENTS_AVX512) ||
	       (__get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_AVX512BW));
}

uintptr_t fg_call_stub(uint32_t index)
{
	return (uintptr_t)fg_call_stubs + (uintptr_t)index * STUB_BYTES;
}

uintptr_t fg_call_frame(void)
{
	return (uintptr_t)fg_call_frame_code;
}

bool fg_call_is_stub(uintptr_t address)
{
	return address && address >= fg_call_stub(0) && address < fg_call_stub(FG_CALL_STUBS_MAX);
}
