// SPDX-License-Identifier: Apache-2.0
/*
 * What the stubs at entries call.  A function that is called within its own object may be called
 * in ways that no ABI knows: the compiler looks at which registers it leaves alone, and assembly
 * passes what it likes where it likes.  So every register is put back, with the flags, and the 128
 * bytes below the stack pointer are left alone.  What is in use of the wide registers is asked for:
 * to load them otherwise would slow down the program's SSE code.
 *
 * The stub calls this and gets its control back by `ret`, so a shadow stack agrees.  The unwind
 * table leads from here to the caller of the function; the stub itself has none, and nothing that
 * unwinds can start there but a signal handler.
 */
#include "collector/call_jumps.h"

#include <cpuid.h>

enum {
	COMPONENT_AVX = 4,       /* of XCR0 */
	COMPONENTS_AVX512 = 224, /* masks, upper halves of zmm0 to zmm15, zmm16 to zmm31 */
};

/* Components of the vector registers that may be in use. */
uint32_t fg_call_jump_components __attribute__((visibility("hidden")));
/* The processor tells which are in use. */
uint32_t fg_call_jump_asks __attribute__((visibility("hidden")));
void (*fg_call_jump_counter)(const struct fg_call_state *) __attribute__((visibility("hidden")));

extern const uint8_t fg_call_jump_code[] __attribute__((visibility("hidden")));

/* Offsets are those of struct fg_call_state; registers beyond it lie behind it. */
_Static_assert(offsetof(struct fg_call_state, rax) == 64, "the code below says 64");
_Static_assert(offsetof(struct fg_call_state, in_use) == 128, "the code below says 128");
_Static_assert(offsetof(struct fg_call_state, r11) == 144, "the code below says 144");
_Static_assert(offsetof(struct fg_call_state, vectors) == 192, "the code below says 192");
_Static_assert(sizeof(struct fg_call_state) == 704, "zmm8 lies behind it, at 704");

/* clang-format off */
__asm__(
"	.text\n"
"	.hidden fg_call_jump_code, fg_call_jump_components, fg_call_jump_asks, fg_call_jump_counter\n"
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
"	andq $-64, %rsp\n"
"	subq $2304, %rsp\n"
"	movq %rbx, 0(%rsp)\n"
"	movq %r12, 16(%rsp)\n"
"	movq %r13, 24(%rsp)\n"
"	movq %r14, 32(%rsp)\n"
"	movq %r15, 40(%rsp)\n"
"	movq %rax, 64(%rsp)\n"
"	movq %rcx, 72(%rsp)\n"
"	movq %rdx, 80(%rsp)\n"
"	movq %rsi, 88(%rsp)\n"
"	movq %rdi, 96(%rsp)\n"
"	movq %r8, 104(%rsp)\n"
"	movq %r9, 112(%rsp)\n"
"	movq %r10, 120(%rsp)\n"
"	movq %r11, 144(%rsp)\n"
"	movq 0(%rbp), %rax\n"
"	movq %rax, 8(%rsp)\n"
"	leaq 160(%rbp), %rax\n"
"	movq %rax, 48(%rsp)\n"
"	movq 24(%rbp), %rax\n"
"	movq %rax, 56(%rsp)\n"
"	movl fg_call_jump_components(%rip), %eax\n"
"	cmpl $0, fg_call_jump_asks(%rip)\n"
"	je 1f\n"
"	movl $1, %ecx\n"
"	xgetbv\n"
"	andl fg_call_jump_components(%rip), %eax\n"
"1:	movl %eax, %eax\n"
"	movq %rax, 128(%rsp)\n"
"	movq $0, 136(%rsp)\n"
"	testl $224, %eax\n"
"	jnz 3f\n"
"	testl $4, %eax\n"
"	jnz 2f\n"
"	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
"	movaps %xmm\\n, 192 + 64 * \\n(%rsp)\n"
"	.endr\n"
"	jmp 4f\n"
"2:\n"
"	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
"	vmovaps %ymm\\n, 192 + 64 * \\n(%rsp)\n"
"	.endr\n"
"	vzeroupper\n"
"	jmp 4f\n"
"3:\n"
"	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
"	vmovaps %zmm\\n, 192 + 64 * \\n(%rsp)\n"
"	.endr\n"
"	.irp n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31\n"
"	vmovaps %zmm\\n, 192 + 64 * \\n(%rsp)\n"
"	.endr\n"
"	.irp n, 0, 1, 2, 3, 4, 5, 6, 7\n"
"	kmovq %k\\n, 2240 + 8 * \\n(%rsp)\n"
"	.endr\n"
"	vzeroupper\n"
"4:	movq %rsp, %rdi\n"
"	call *fg_call_jump_counter(%rip)\n"
"	movl 128(%rsp), %eax\n"
"	testl $224, %eax\n"
"	jnz 3f\n"
"	testl $4, %eax\n"
"	jnz 2f\n"
"	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
"	movaps 192 + 64 * \\n(%rsp), %xmm\\n\n"
"	.endr\n"
"	jmp 4f\n"
"2:\n"
"	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
"	vmovaps 192 + 64 * \\n(%rsp), %ymm\\n\n"
"	.endr\n"
"	jmp 4f\n"
"3:\n"
"	.irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
"	vmovaps 192 + 64 * \\n(%rsp), %zmm\\n\n"
"	.endr\n"
"	.irp n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31\n"
"	vmovaps 192 + 64 * \\n(%rsp), %zmm\\n\n"
"	.endr\n"
"	.irp n, 0, 1, 2, 3, 4, 5, 6, 7\n"
"	kmovq 2240 + 8 * \\n(%rsp), %k\\n\n"
"	.endr\n"
"4:\n"
"	movq 64(%rsp), %rax\n"
"	movq 72(%rsp), %rcx\n"
"	movq 80(%rsp), %rdx\n"
"	movq 88(%rsp), %rsi\n"
"	movq 96(%rsp), %rdi\n"
"	movq 104(%rsp), %r8\n"
"	movq 112(%rsp), %r9\n"
"	movq 120(%rsp), %r10\n"
"	movq 144(%rsp), %r11\n"
"	movq %rbp, %rsp\n"
"	popq %rbp\n"
"	.cfi_def_cfa %rsp, 160\n"
"	.cfi_restore %rbp\n"
"	popfq\n"
"	.cfi_def_cfa_offset 152\n"
"	ret\n"
"	.cfi_endproc\n"
"	.size fg_call_jump_code, . - fg_call_jump_code\n");
/* clang-format on */

static uint32_t enabled_components(void)
{
	uint32_t low = 0;
	uint32_t high = 0;

	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return low;
}

bool fg_call_jump_entry_init(void (*counter)(const struct fg_call_state *state))
{
	uint32_t a = 0;
	uint32_t b = 0;
	uint32_t c = 0;
	uint32_t d = 0;

	fg_call_jump_counter = counter;
	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
		return true; /* nothing beyond SSE */
	fg_call_jump_components = enabled_components() & (COMPONENT_AVX | COMPONENTS_AVX512);
	if (__get_cpuid_count(13, 1, &a, &b, &c, &d))
		fg_call_jump_asks = (a >> 2) & 1;
	if (!(fg_call_jump_components & COMPONENTS_AVX512))
		return true;
	/* Masks of 64 bits are saved by an instruction that the first such processors lack. */
	return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_AVX512BW);
}

uintptr_t fg_call_jump_entry(void)
{
	return (uintptr_t)fg_call_jump_code;
}
