// SPDX-License-Identifier: Apache-2.0
/*
 * The stubs that imports are led to.  A stub pushes its number and jumps to the common part, which
 * saves the integer registers and has the call counted by code that uses no others.  That does for
 * nearly all calls.  For the others it saves whatever may carry an argument, has the call counted,
 * puts everything back and jumps to the real function.  The return address stays where it is and
 * what it is, so nothing that looks at stacks (exceptions, longjmp, setjmp, vfork, shadow stacks)
 * meets anything of ours.
 *
 * A call that is timed is the exception: there the common part calls the function and so stands
 * between it and its caller, as any wrapper would.  It has unwind tables and nothing to clean up:
 * exceptions and longjmp() pass it.  Only functions all of whose arguments are in registers can be
 * called in this way (collector/signatures.c).
 *
 * The upper halves of vector registers are saved only where the processor says that they are in
 * use: to load them otherwise would make them so, and slow down the program's SSE code.
 */
#include "base/attrs.h"
#include "collector/calls.h"

#include <cpuid.h>

enum {
	STUB_BYTES = 16,
	COMPONENT_AVX = 4,     /* of XCR0 */
	COMPONENT_AVX512 = 64, /* upper 256 bits of zmm0 to zmm15 */
};

/* Components of the vector registers that may be in use. */
uint32_t fg_call_components __attribute__((visibility("hidden")));
/* The processor tells which are in use. */
uint32_t fg_call_asks __attribute__((visibility("hidden")));

uintptr_t (*fg_call_quick)(const struct fg_call_glance *) __attribute__((visibility("hidden")));
uintptr_t (*fg_call_counter)(struct fg_call_state *) __attribute__((visibility("hidden")));
void (*fg_call_returned)(const struct fg_call_state *) __attribute__((visibility("hidden")));

extern const uint8_t fg_call_stubs[] __attribute__((visibility("hidden")));
extern const uint8_t fg_call_frame_code[] __attribute__((visibility("hidden")));

/* Offsets are those of struct fg_call_state. */
_Static_assert(offsetof(struct fg_call_state, rax) == 64, "the code below says 64");
_Static_assert(offsetof(struct fg_call_state, in_use) == 128, "the code below says 128");
_Static_assert(offsetof(struct fg_call_state, is_timed) == 136, "the code below says 136");
_Static_assert(offsetof(struct fg_call_state, vectors) == 192, "the code below says 192");
_Static_assert(sizeof(struct fg_call_state) == 704, "the code below says 704");
_Static_assert(offsetof(struct fg_call_glance, rbp) == 32, "the code below says 32");
_Static_assert(offsetof(struct fg_call_glance, index) == 32 + 80, "the code below pushes 10");
_Static_assert(FG_CALL_STUBS_MAX == 4096, "the code below says 4096");

/* clang-format off */
__asm__(
"	.text\n"
"	.hidden fg_call_stubs, fg_call_frame_code, fg_call_components, fg_call_asks, fg_call_quick, fg_call_counter, fg_call_returned\n"
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
"	cmpq $0, fg_call_quick(%rip)\n"
"	je fg_call_whole\n"
"	pushq %rax\n"
"	.cfi_adjust_cfa_offset 8\n"
"	pushq %rcx\n"
"	.cfi_adjust_cfa_offset 8\n"
"	pushq %rdx\n"
"	.cfi_adjust_cfa_offset 8\n"
"	pushq %rsi\n"
"	.cfi_adjust_cfa_offset 8\n"
"	pushq %rdi\n"
"	.cfi_adjust_cfa_offset 8\n"
"	pushq %r8\n"
"	.cfi_adjust_cfa_offset 8\n"
"	pushq %r9\n"
"	.cfi_adjust_cfa_offset 8\n"
"	pushq %r10\n"
"	.cfi_adjust_cfa_offset 8\n"
"	pushq $0\n"
"	.cfi_adjust_cfa_offset 8\n"
"	pushq %rbp\n"
"	.cfi_adjust_cfa_offset 8\n"
"	subq $32, %rsp\n"
"	.cfi_adjust_cfa_offset 32\n"
"	testl $4, fg_call_components(%rip)\n"
"	jz 1f\n"
"	vmovq %xmm0, 0(%rsp)\n"
"	vmovq %xmm1, 8(%rsp)\n"
"	vmovq %xmm2, 16(%rsp)\n"
"	vmovq %xmm3, 24(%rsp)\n"
"	jmp 2f\n"
"1:	movq %xmm0, 0(%rsp)\n"
"	movq %xmm1, 8(%rsp)\n"
"	movq %xmm2, 16(%rsp)\n"
"	movq %xmm3, 24(%rsp)\n"
"2:	movq %rsp, %rdi\n"
"	call *fg_call_quick(%rip)\n"
"	movq %rax, %r11\n"
"	addq $48, %rsp\n"
"	.cfi_adjust_cfa_offset -48\n"
"	popq %r10\n"
"	.cfi_adjust_cfa_offset -8\n"
"	popq %r9\n"
"	.cfi_adjust_cfa_offset -8\n"
"	popq %r8\n"
"	.cfi_adjust_cfa_offset -8\n"
"	popq %rdi\n"
"	.cfi_adjust_cfa_offset -8\n"
"	popq %rsi\n"
"	.cfi_adjust_cfa_offset -8\n"
"	popq %rdx\n"
"	.cfi_adjust_cfa_offset -8\n"
"	popq %rcx\n"
"	.cfi_adjust_cfa_offset -8\n"
"	popq %rax\n"
"	.cfi_adjust_cfa_offset -8\n"
"	testq %r11, %r11\n"
"	jz fg_call_whole\n"
"	leaq 8(%rsp), %rsp\n"
"	.cfi_adjust_cfa_offset -8\n"
"	jmp *%r11\n"
"	.cfi_endproc\n"
"	.size fg_call_enter, . - fg_call_enter\n");

/* The state, on top of the number of a stub and the return address. */
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
"	movq 0(%rbp), %rax\n"
"	movq %rax, 8(%rsp)\n"
"	leaq 16(%rbp), %rax\n"
"	movq %rax, 48(%rsp)\n"
"	movq 8(%rbp), %rax\n"
"	movq %rax, 56(%rsp)\n"
"	movl fg_call_components(%rip), %eax\n"
"	cmpl $0, fg_call_asks(%rip)\n"
"	je 1f\n"
"	movl $1, %ecx\n"
"	xgetbv\n"
"	andl fg_call_components(%rip), %eax\n"
"1:	movq %rax, 128(%rsp)\n"
"	movq $0, 136(%rsp)\n"
"	testl $64, %eax\n"
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
"	jmp 4f\n"
"2:	vmovaps %ymm0, 192(%rsp)\n"
"	vmovaps %ymm1, 256(%rsp)\n"
"	vmovaps %ymm2, 320(%rsp)\n"
"	vmovaps %ymm3, 384(%rsp)\n"
"	vmovaps %ymm4, 448(%rsp)\n"
"	vmovaps %ymm5, 512(%rsp)\n"
"	vmovaps %ymm6, 576(%rsp)\n"
"	vmovaps %ymm7, 640(%rsp)\n"
"	vzeroupper\n"
"	jmp 4f\n"
"3:	vmovaps %zmm0, 192(%rsp)\n"
"	vmovaps %zmm1, 256(%rsp)\n"
"	vmovaps %zmm2, 320(%rsp)\n"
"	vmovaps %zmm3, 384(%rsp)\n"
"	vmovaps %zmm4, 448(%rsp)\n"
"	vmovaps %zmm5, 512(%rsp)\n"
"	vmovaps %zmm6, 576(%rsp)\n"
"	vmovaps %zmm7, 640(%rsp)\n"
"	vzeroupper\n"
"4:	movq %rsp, %rdi\n"
"	call *fg_call_counter(%rip)\n"
"	movq %rax, %r11\n"
"	movl 128(%rsp), %eax\n"
"	testl $64, %eax\n"
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
"	jmp 4f\n"
"2:	vmovaps 192(%rsp), %ymm0\n"
"	vmovaps 256(%rsp), %ymm1\n"
"	vmovaps 320(%rsp), %ymm2\n"
"	vmovaps 384(%rsp), %ymm3\n"
"	vmovaps 448(%rsp), %ymm4\n"
"	vmovaps 512(%rsp), %ymm5\n"
"	vmovaps 576(%rsp), %ymm6\n"
"	vmovaps 640(%rsp), %ymm7\n"
"	jmp 4f\n"
"3:	vmovaps 192(%rsp), %zmm0\n"
"	vmovaps 256(%rsp), %zmm1\n"
"	vmovaps 320(%rsp), %zmm2\n"
"	vmovaps 384(%rsp), %zmm3\n"
"	vmovaps 448(%rsp), %zmm4\n"
"	vmovaps 512(%rsp), %zmm5\n"
"	vmovaps 576(%rsp), %zmm6\n"
"	vmovaps 640(%rsp), %zmm7\n"
"4:	movq 64(%rsp), %rax\n"
"	movq 72(%rsp), %rcx\n"
"	movq 80(%rsp), %rdx\n"
"	movq 88(%rsp), %rsi\n"
"	movq 96(%rsp), %rdi\n"
"	movq 104(%rsp), %r8\n"
"	movq 112(%rsp), %r9\n"
"	movq 120(%rsp), %r10\n"
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
"	call *fg_call_returned(%rip)\n"
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

void fg_call_entry_init(const struct fg_call_counters *counters)
{
	uint32_t a = 0;
	uint32_t b = 0;
	uint32_t c = 0;
	uint32_t d = 0;

	fg_call_quick = counters->quick;
	fg_call_counter = counters->whole;
	fg_call_returned = counters->returned;
	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
		return; /* nothing beyond SSE */
	fg_call_components = enabled_components() & (COMPONENT_AVX | COMPONENT_AVX512);
	if (__get_cpuid_count(13, 1, &a, &b, &c, &d))
		fg_call_asks = (a >> 2) & 1;
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
