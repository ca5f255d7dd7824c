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
"	movaps %xmm0, 192(%rsp)\n"
"	movaps %xmm1, 256(%rsp)\n"
"	movaps %xmm2, 320(%rsp)\n"
"	movaps %xmm3, 384(%rsp)\n"
"	movaps %xmm4, 448(%rsp)\n"
"	movaps %xmm5, 512(%rsp)\n"
"	movaps %xmm6, 576(%rsp)\n"
"	movaps %xmm7, 640(%rsp)\n"
"	movaps %xmm8, 704(%rsp)\n"
"	movaps %xmm9, 768(%rsp)\n"
"	movaps %xmm10, 832(%rsp)\n"
"	movaps %xmm11, 896(%rsp)\n"
"	movaps %xmm12, 960(%rsp)\n"
"	movaps %xmm13, 1024(%rsp)\n"
"	movaps %xmm14, 1088(%rsp)\n"
"	movaps %xmm15, 1152(%rsp)\n"
"	jmp 4f\n"
"2:\n"
"	vmovaps %ymm0, 192(%rsp)\n"
"	vmovaps %ymm1, 256(%rsp)\n"
"	vmovaps %ymm2, 320(%rsp)\n"
"	vmovaps %ymm3, 384(%rsp)\n"
"	vmovaps %ymm4, 448(%rsp)\n"
"	vmovaps %ymm5, 512(%rsp)\n"
"	vmovaps %ymm6, 576(%rsp)\n"
"	vmovaps %ymm7, 640(%rsp)\n"
"	vmovaps %ymm8, 704(%rsp)\n"
"	vmovaps %ymm9, 768(%rsp)\n"
"	vmovaps %ymm10, 832(%rsp)\n"
"	vmovaps %ymm11, 896(%rsp)\n"
"	vmovaps %ymm12, 960(%rsp)\n"
"	vmovaps %ymm13, 1024(%rsp)\n"
"	vmovaps %ymm14, 1088(%rsp)\n"
"	vmovaps %ymm15, 1152(%rsp)\n"
"	vzeroupper\n"
"	jmp 4f\n"
"3:\n"
"	vmovaps %zmm0, 192(%rsp)\n"
"	vmovaps %zmm1, 256(%rsp)\n"
"	vmovaps %zmm2, 320(%rsp)\n"
"	vmovaps %zmm3, 384(%rsp)\n"
"	vmovaps %zmm4, 448(%rsp)\n"
"	vmovaps %zmm5, 512(%rsp)\n"
"	vmovaps %zmm6, 576(%rsp)\n"
"	vmovaps %zmm7, 640(%rsp)\n"
"	vmovaps %zmm8, 704(%rsp)\n"
"	vmovaps %zmm9, 768(%rsp)\n"
"	vmovaps %zmm10, 832(%rsp)\n"
"	vmovaps %zmm11, 896(%rsp)\n"
"	vmovaps %zmm12, 960(%rsp)\n"
"	vmovaps %zmm13, 1024(%rsp)\n"
"	vmovaps %zmm14, 1088(%rsp)\n"
"	vmovaps %zmm15, 1152(%rsp)\n"
"	vmovaps %zmm16, 1216(%rsp)\n"
"	vmovaps %zmm17, 1280(%rsp)\n"
"	vmovaps %zmm18, 1344(%rsp)\n"
"	vmovaps %zmm19, 1408(%rsp)\n"
"	vmovaps %zmm20, 1472(%rsp)\n"
"	vmovaps %zmm21, 1536(%rsp)\n"
"	vmovaps %zmm22, 1600(%rsp)\n"
"	vmovaps %zmm23, 1664(%rsp)\n"
"	vmovaps %zmm24, 1728(%rsp)\n"
"	vmovaps %zmm25, 1792(%rsp)\n"
"	vmovaps %zmm26, 1856(%rsp)\n"
"	vmovaps %zmm27, 1920(%rsp)\n"
"	vmovaps %zmm28, 1984(%rsp)\n"
"	vmovaps %zmm29, 2048(%rsp)\n"
"	vmovaps %zmm30, 2112(%rsp)\n"
"	vmovaps %zmm31, 2176(%rsp)\n"
"	kmovq %k0, 2240(%rsp)\n"
"	kmovq %k1, 2248(%rsp)\n"
"	kmovq %k2, 2256(%rsp)\n"
"	kmovq %k3, 2264(%rsp)\n"
"	kmovq %k4, 2272(%rsp)\n"
"	kmovq %k5, 2280(%rsp)\n"
"	kmovq %k6, 2288(%rsp)\n"
"	kmovq %k7, 2296(%rsp)\n"
"	vzeroupper\n"
"4:	movq %rsp, %rdi\n"
"	call *fg_call_jump_counter(%rip)\n"
"	movl 128(%rsp), %eax\n"
"	testl $224, %eax\n"
"	jnz 3f\n"
"	testl $4, %eax\n"
"	jnz 2f\n"
"	movaps 192(%rsp), %xmm0\n"
"	movaps 256(%rsp), %xmm1\n"
"	movaps 320(%rsp), %xmm2\n"
"	movaps 384(%rsp), %xmm3\n"
"	movaps 448(%rsp), %xmm4\n"
"	movaps 512(%rsp), %xmm5\n"
"	movaps 576(%rsp), %xmm6\n"
"	movaps 640(%rsp), %xmm7\n"
"	movaps 704(%rsp), %xmm8\n"
"	movaps 768(%rsp), %xmm9\n"
"	movaps 832(%rsp), %xmm10\n"
"	movaps 896(%rsp), %xmm11\n"
"	movaps 960(%rsp), %xmm12\n"
"	movaps 1024(%rsp), %xmm13\n"
"	movaps 1088(%rsp), %xmm14\n"
"	movaps 1152(%rsp), %xmm15\n"
"	jmp 4f\n"
"2:\n"
"	vmovaps 192(%rsp), %ymm0\n"
"	vmovaps 256(%rsp), %ymm1\n"
"	vmovaps 320(%rsp), %ymm2\n"
"	vmovaps 384(%rsp), %ymm3\n"
"	vmovaps 448(%rsp), %ymm4\n"
"	vmovaps 512(%rsp), %ymm5\n"
"	vmovaps 576(%rsp), %ymm6\n"
"	vmovaps 640(%rsp), %ymm7\n"
"	vmovaps 704(%rsp), %ymm8\n"
"	vmovaps 768(%rsp), %ymm9\n"
"	vmovaps 832(%rsp), %ymm10\n"
"	vmovaps 896(%rsp), %ymm11\n"
"	vmovaps 960(%rsp), %ymm12\n"
"	vmovaps 1024(%rsp), %ymm13\n"
"	vmovaps 1088(%rsp), %ymm14\n"
"	vmovaps 1152(%rsp), %ymm15\n"
"	jmp 4f\n"
"3:\n"
"	vmovaps 192(%rsp), %zmm0\n"
"	vmovaps 256(%rsp), %zmm1\n"
"	vmovaps 320(%rsp), %zmm2\n"
"	vmovaps 384(%rsp), %zmm3\n"
"	vmovaps 448(%rsp), %zmm4\n"
"	vmovaps 512(%rsp), %zmm5\n"
"	vmovaps 576(%rsp), %zmm6\n"
"	vmovaps 640(%rsp), %zmm7\n"
"	vmovaps 704(%rsp), %zmm8\n"
"	vmovaps 768(%rsp), %zmm9\n"
"	vmovaps 832(%rsp), %zmm10\n"
"	vmovaps 896(%rsp), %zmm11\n"
"	vmovaps 960(%rsp), %zmm12\n"
"	vmovaps 1024(%rsp), %zmm13\n"
"	vmovaps 1088(%rsp), %zmm14\n"
"	vmovaps 1152(%rsp), %zmm15\n"
"	vmovaps 1216(%rsp), %zmm16\n"
"	vmovaps 1280(%rsp), %zmm17\n"
"	vmovaps 1344(%rsp), %zmm18\n"
"	vmovaps 1408(%rsp), %zmm19\n"
"	vmovaps 1472(%rsp), %zmm20\n"
"	vmovaps 1536(%rsp), %zmm21\n"
"	vmovaps 1600(%rsp), %zmm22\n"
"	vmovaps 1664(%rsp), %zmm23\n"
"	vmovaps 1728(%rsp), %zmm24\n"
"	vmovaps 1792(%rsp), %zmm25\n"
"	vmovaps 1856(%rsp), %zmm26\n"
"	vmovaps 1920(%rsp), %zmm27\n"
"	vmovaps 1984(%rsp), %zmm28\n"
"	vmovaps 2048(%rsp), %zmm29\n"
"	vmovaps 2112(%rsp), %zmm30\n"
"	vmovaps 2176(%rsp), %zmm31\n"
"	kmovq 2240(%rsp), %k0\n"
"	kmovq 2248(%rsp), %k1\n"
"	kmovq 2256(%rsp), %k2\n"
"	kmovq 2264(%rsp), %k3\n"
"	kmovq 2272(%rsp), %k4\n"
"	kmovq 2280(%rsp), %k5\n"
"	kmovq 2288(%rsp), %k6\n"
"	kmovq 2296(%rsp), %k7\n"
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
