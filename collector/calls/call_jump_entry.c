// SPDX-License-Identifier: Apache-2.0
/*
 * The stubs at entries call this code. A function that is called within its own object may be
 * called in ways that no ABI describes: the compiler knows which registers the function leaves
 * alone, and assembly passes arguments anywhere. So every register and the flags are restored, and
 * the 128 bytes below the stack pointer are not touched. Most calls are counted by code that uses
 * only integer registers; the vector registers are saved only for the remaining calls.
 *
 * The stub gets control back by `ret`, which a shadow stack accepts. The unwind table leads from
 * here to the function's caller. The stub itself has none; only a signal handler can start to
 * unwind there.
 */
#include "collector/calls/call_registers.h"

/* Vector registers from number 8 on follow the state, and the masks follow them at 2240. */
_Static_assert(offsetof(struct fg_call_state, r11) == 144, "the assembly below assumes 144");
_Static_assert(offsetof(struct fg_call_jump_frame, return_address) == 160,
	       "the assembly below assumes 160");

#define SAVE_WIDE                              \
 FG_ASM_SAVE("vmovaps", "zmm", FG_ASM_LAST_16) \
 "	.irp n, " FG_ASM_FIRST_8 "\n	kmovq %k\\n, 2240 + 8 * \\n(%rsp)\n	.endr\n"
#define LOAD_WIDE                              \
 FG_ASM_LOAD("vmovaps", "zmm", FG_ASM_LAST_16) \
 "	.irp n, " FG_ASM_FIRST_8 "\n	kmovq 2240 + 8 * \\n(%rsp), %k\\n\n	.endr\n"

/* clang-format off */
__asm__(
"	.text\n"
"	.hidden fg_call_jump_code, fg_call_components, fg_call_knows_in_use\n"
"	.hidden fg_call_is_quick, fg_call_count_jump, fg_call_count_jump_quickly\n"
"	.balign 64\n"
"	.globl fg_call_jump_code\n"
"	.type fg_call_jump_code, @function\n"
"fg_call_jump_code:\n"
"	.cfi_startproc\n"
"	.cfi_def_cfa_offset 152\n"
"	endbr64\n"
"	pushfq\n"
"	.cfi_def_cfa_offset 160\n"
"	pushq %rbp\n"
"	.cfi_def_cfa_offset 168\n"
"	.cfi_offset %rbp, -168\n"
"	movq %rsp, %rbp\n"
"	.cfi_def_cfa_register %rbp\n"
"	cld\n"
"	cmpl $0, fg_call_is_quick(%rip)\n"
"	je 6f\n"
"	.irp register, %rax, %rcx, %rdx, %rsi, %rdi, %r8, %r9, %r10, %r11\n"
"	pushq \\register\n"
"	.endr\n"
"	movq %rbp, %rdi\n"
"	andq $-16, %rsp\n"
"	call fg_call_count_jump_quickly\n"
"	leaq -72(%rbp), %rsp\n"
"	testq %rax, %rax\n"
"	.irp register, %r11, %r10, %r9, %r8, %rdi, %rsi, %rdx, %rcx, %rax\n"
"	popq \\register\n"
"	.endr\n"
"	jnz 7f\n"
"6:	andq $-64, %rsp\n"
"	subq $2304, %rsp\n"
FG_ASM_SAVE_INTEGERS
"	movq %r11, 144(%rsp)\n"
"	movq 0(%rbp), %rax\n"
"	movq %rax, 8(%rsp)\n"
"	leaq 160(%rbp), %rax\n"
"	movq %rax, 48(%rsp)\n"
"	movq 24(%rbp), %rax\n"
"	movq %rax, 56(%rsp)\n"
FG_ASM_COMPONENTS_IN_USE
FG_ASM_SAVE_VECTORS(FG_ASM_FIRST_16, "224", SAVE_WIDE)
"	movq %rsp, %rdi\n"
"	call fg_call_count_jump\n"
FG_ASM_LOAD_VECTORS(FG_ASM_FIRST_16, "224", LOAD_WIDE)
FG_ASM_LOAD_INTEGERS
"	movq 144(%rsp), %r11\n"
"7:	movq %rbp, %rsp\n"
"	popq %rbp\n"
"	.cfi_def_cfa %rsp, 160\n"
"	.cfi_restore %rbp\n"
"	popfq\n"
"	.cfi_def_cfa_offset 152\n"
"	ret\n"
"	.cfi_endproc\n"
"	.size fg_call_jump_code, . - fg_call_jump_code\n");
/* clang-format on */
