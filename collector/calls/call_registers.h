/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assembly that saves registers in a struct fg_call_state at %rsp, aligned to 64 bytes, and
 * restores them. call_entry.c preserves the registers that may carry arguments; call_jump_entry.c
 * preserves every register.
 *
 * The upper parts of vector registers are saved only if the processor says that they are in use:
 * loading unused parts would put them into use, and slow down the program's SSE code.
 */
#ifndef FG_COLLECTOR_CALL_REGISTERS_H
#define FG_COLLECTOR_CALL_REGISTERS_H

#include "collector/calls/calls.h"

_Static_assert(offsetof(struct fg_call_state, rax) == 64, "the assembly below assumes 64");
_Static_assert(offsetof(struct fg_call_state, in_use) == 128, "the assembly below assumes 128");
_Static_assert(offsetof(struct fg_call_state, is_timed) == 136, "the assembly below assumes 136");
_Static_assert(offsetof(struct fg_call_state, vectors) == 192, "the assembly below assumes 192");
_Static_assert(sizeof(struct fg_call_state) == 704, "the assembly reserves 704 bytes");

/* The components of the vector registers that may be in use. */
extern uint32_t fg_call_components __attribute__((visibility("hidden")));
/* Does the processor report which components are in use? */
extern uint32_t fg_call_knows_in_use __attribute__((visibility("hidden")));

enum {
	FG_COMPONENT_AVX = 4,       /* component of XCR0 */
	FG_COMPONENTS_AVX512 = 224, /* masks, upper halves of zmm0 to zmm15, zmm16 to zmm31 */
};

/*
 * Sets fg_call_components and fg_call_knows_in_use. False: this processor has registers that an
 * entry's stub cannot save.
 */
bool fg_call_registers_init(void);

/* ---- calls.c, for the stubs ---- */

/* The stack at an entry before the state is made; only integer registers are saved. */
struct fg_call_jump_frame {
	uint64_t rbp, flags;
	uintptr_t stub;
	uint64_t index;
	uint64_t room[16];        /* the function's red zone */
	uintptr_t return_address; /* on the stack, as the caller left it */
};

/* The quick functions count calls from known places; 0: the state is always made. */
extern uint32_t fg_call_is_quick __attribute__((visibility("hidden")));

/*
 * The quick functions use only integer registers and keep errno. They return 0 if they have not
 * counted the call: then the state is made, and the function without `_quickly` counts the call.
 */
uintptr_t fg_call_count_jump_quickly(const struct fg_call_jump_frame *frame);
void fg_call_count_jump(const struct fg_call_state *state);
/* For imports, fg_call_count_quickly() and fg_call_count() return the address to continue at. */
uintptr_t fg_call_count_quickly(const struct fg_call_glance *call);
/* If this sets state->is_timed, fg_call_returned_from() is called afterwards. */
uintptr_t fg_call_count(struct fg_call_state *state);
void fg_call_returned_from(const struct fg_call_state *state);

/* Saves the integer registers except %rsp, %rbp and %r11, which the code around the macro saves. */
#define FG_ASM_SAVE_INTEGERS \
 "	movq %rbx, 0(%rsp)\n"     \
 "	movq %r12, 16(%rsp)\n"    \
 "	movq %r13, 24(%rsp)\n"    \
 "	movq %r14, 32(%rsp)\n"    \
 "	movq %r15, 40(%rsp)\n"    \
 "	movq %rax, 64(%rsp)\n"    \
 "	movq %rcx, 72(%rsp)\n"    \
 "	movq %rdx, 80(%rsp)\n"    \
 "	movq %rsi, 88(%rsp)\n"    \
 "	movq %rdi, 96(%rsp)\n"    \
 "	movq %r8, 104(%rsp)\n"    \
 "	movq %r9, 112(%rsp)\n"    \
 "	movq %r10, 120(%rsp)\n"

/* Restores the saved integer registers that a call may change. */
#define FG_ASM_LOAD_INTEGERS \
 "	movq 64(%rsp), %rax\n"    \
 "	movq 72(%rsp), %rcx\n"    \
 "	movq 80(%rsp), %rdx\n"    \
 "	movq 88(%rsp), %rsi\n"    \
 "	movq 96(%rsp), %rdi\n"    \
 "	movq 104(%rsp), %r8\n"    \
 "	movq 112(%rsp), %r9\n"    \
 "	movq 120(%rsp), %r10\n"

/*
 * Puts the components in use into %eax and the state, and clears the state's is_timed. Changes %rcx
 * and %rdx.
 */
#define FG_ASM_COMPONENTS_IN_USE          \
 "	movl fg_call_components(%rip), %eax\n" \
 "	cmpl $0, fg_call_knows_in_use(%rip)\n" \
 "	je 1f\n"                               \
 "	movl $1, %ecx\n"                       \
 "	xgetbv\n"                              \
 "	andl fg_call_components(%rip), %eax\n" \
 "1:	movl %eax, %eax\n"                   \
 "	movq %rax, 128(%rsp)\n"                \
 "	movq $0, 136(%rsp)\n"

#define FG_ASM_FIRST_8  "0, 1, 2, 3, 4, 5, 6, 7"
#define FG_ASM_FIRST_16 FG_ASM_FIRST_8 ", 8, 9, 10, 11, 12, 13, 14, 15"
#define FG_ASM_LAST_16  "16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31"

#define FG_ASM_SAVE(move, kind, numbers) \
 "	.irp n, " numbers "\n	" move " %" kind "\\n, 192 + 64 * \\n(%rsp)\n	.endr\n"
#define FG_ASM_LOAD(move, kind, numbers) \
 "	.irp n, " numbers "\n	" move " 192 + 64 * \\n(%rsp), %" kind "\\n\n	.endr\n"

/*
 * Saves the vector registers with these numbers, at the width that %eax says is in use. `wide`: the
 * components that need the widest form; `wide_too`: code that then saves further registers.
 */
#define FG_ASM_SAVE_VECTORS(numbers, wide, wide_too)                                        \
 "	testl $" wide ", %eax\n"                                                            \
 "	jnz 3f\n"                                                                                \
 "	testl $4, %eax\n"                                                                        \
 "	jnz 2f\n" FG_ASM_SAVE(                                                              \
	 "movaps", "xmm",                                                                   \
	 numbers) "	jmp 4f\n"                                                               \
		  "2:\n" FG_ASM_SAVE("vmovaps", "ymm",                                      \
				     numbers) "	vzeroupper\n"                               \
					      "	jmp 4f\n"                                   \
					      "3:\n" FG_ASM_SAVE("vmovaps", "zmm", numbers) \
						      wide_too "	vzeroupper\n"              \
							       "4:\n"

#define FG_ASM_LOAD_VECTORS(numbers, wide, wide_too)                                              \
 "	movl 128(%rsp), %eax\n"                                                                        \
 "	testl $" wide ", %eax\n"                                                                  \
 "	jnz 3f\n"                                                                                      \
 "	testl $4, %eax\n"                                                                              \
 "	jnz 2f\n" FG_ASM_LOAD(                                                                    \
	 "movaps", "xmm", numbers) "	jmp 4f\n"                                                    \
				   "2:\n" FG_ASM_LOAD("vmovaps", "ymm",                           \
						      numbers) "\tjmp 4f\n"                       \
							       "3:\n" FG_ASM_LOAD("vmovaps",      \
										  "zmm", numbers) \
								       wide_too "4:\n"

#endif
