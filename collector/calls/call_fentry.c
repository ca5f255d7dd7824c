// SPDX-License-Identifier: Apache-2.0
/*
 * The hook __fentry__. On entry the stack holds
 *
 *	0	the hook's return address, in the function
 *	8	the function's return address
 *
 * and all registers are as the function's caller left them. Most calls are to functions that are
 * not counted; finding that out needs only integer registers. For a counted function, the stack is
 * arranged the way a stub at an entry leaves it (call_jumps.c), and the code that stubs call
 * (call_jump_entry.c) counts the call.
 */
#include "collector/calls/call_fentry.h"

#include "collector/calls/call_symbols.h"
#include "collector/process/symbols.h"

#include <string.h>

enum {
	PLT_BYTES = 16
};

static bool ready;

void fg_fentry_noop(void) __attribute__((visibility("hidden")));
/* The C library's hook, or a hook that does nothing. */
void (*fg_fentry_next)(void) __attribute__((visibility("hidden"))) = fg_fentry_noop;

/* Returns the place of the function that called __fentry__; 0: the function is not counted. */
static __attribute__((used, noinline)) uint64_t find_place(uintptr_t site)
{
	return fg_call_symbol_place(site);
}

/* clang-format off */
__asm__(
"	.text\n"
"	.hidden fg_fentry_next, fg_fentry_noop, fg_call_jump_code\n"
"	.balign 64\n"
"	.globl __fentry__\n"
"	.type __fentry__, @function\n"
"__fentry__:\n"
"	.cfi_startproc\n"
"	endbr64\n"
"	.irp register, %rax, %rcx, %rdx, %rsi, %rdi, %r8, %r9, %r10, %r11\n"
"	pushq \\register\n"
"	.cfi_adjust_cfa_offset 8\n"
"	.endr\n"
"	subq $8, %rsp\n"
"	.cfi_adjust_cfa_offset 8\n"
"	movq 80(%rsp), %rdi\n"
"	call find_place\n"
"	testq %rax, %rax\n"
	/* the stub number, at the end of the red zone, which no signal handler touches */
"	movq %rax, -48(%rsp)\n"
"	leaq 8(%rsp), %rsp\n"
"	.cfi_adjust_cfa_offset -8\n"
"	.irp register, %r11, %r10, %r9, %r8, %rdi, %rsi, %rdx, %rcx, %rax\n"
"	popq \\register\n"
"	.cfi_adjust_cfa_offset -8\n"
"	.endr\n"
"	jz 1f\n"
"	leaq -128(%rsp), %rsp\n"
"	.cfi_adjust_cfa_offset 128\n"
"	call fg_call_jump_code\n"
"	leaq 128(%rsp), %rsp\n"
"	.cfi_adjust_cfa_offset -128\n"
"1:	jmp *fg_fentry_next(%rip)\n"
"	.cfi_endproc\n"
"	.size __fentry__, . - __fentry__\n"
"\n"
"	.type fg_fentry_noop, @function\n"
"fg_fentry_noop:\n"
"	.cfi_startproc\n"
"	endbr64\n"
"	ret\n"
"	.cfi_endproc\n"
"	.size fg_fentry_noop, . - fg_fentry_noop\n");
/* clang-format on */

void fg_fentry_init(bool is_ready)
{
	void *next = fg_symbol_find(FG_SYMBOL_NEXT, NULL, "__fentry__");

	if (next)
		memcpy(&fg_fentry_next, &next, sizeof(next));
	ready = is_ready;
}

bool fg_fentry_is_ready(void)
{
	return ready;
}

void fg_fentry_slot_add(struct fg_fentry_slots *slots, uintptr_t slot)
{
	if (slots->count < FG_FENTRY_SLOTS_MAX)
		slots->slots[slots->count++] = slot;
}

/* ---- functions that call __fentry__ ---- */

struct code {
	const uint8_t *at;
	size_t size;
};

static bool skip(struct code *code, const char *bytes, size_t size)
{
	if (code->size < size || memcmp(code->at, bytes, size) != 0)
		return false;
	code->at += size;
	code->size -= size;
	return true;
}

/* Reads a 32-bit distance and finds its target. */
static bool take_target(struct code *code, uintptr_t *target)
{
	int32_t distance = 0;

	if (code->size < sizeof(distance))
		return false;
	memcpy(&distance, code->at, sizeof(distance));
	code->at += sizeof(distance);
	code->size -= sizeof(distance);
	*target = (uintptr_t)code->at + (uintptr_t)(intptr_t)distance;
	return true;
}

static bool is_slot(const struct fg_fentry_slots *slots, uintptr_t address)
{
	for (unsigned i = 0; i < slots->count; i++)
		if (slots->slots[i] == address)
			return true;
	return false;
}

/* Does the PLT entry at this address jump through this slot? */
static bool is_plt(const struct fg_fentry_slots *slots, uintptr_t address)
{
	struct code code = {.at = (const uint8_t *)address, .size = PLT_BYTES};
	uintptr_t target = 0;

	if (address < slots->low || address >= slots->high - PLT_BYTES)
		return false;
	(void)skip(&code, "\xf3\x0f\x1e\xfa", 4); /* endbr64 */
	(void)skip(&code, "\xf2", 1);             /* bnd */
	return skip(&code, "\xff\x25", 2) && take_target(&code, &target) && is_slot(slots, target);
}

uintptr_t fg_fentry_site(const struct fg_fentry_slots *slots, uintptr_t address, size_t size)
{
	struct code code = {.at = (const uint8_t *)address, .size = size};
	uintptr_t target = 0;

	(void)skip(&code, "\xf3\x0f\x1e\xfa", 4);
	if (skip(&code, "\xff\x15", 2))
		return take_target(&code, &target) && is_slot(slots, target) ? (uintptr_t)code.at
									     : 0;
	return skip(&code, "\xe8", 1) && take_target(&code, &target) && is_plt(slots, target)
		       ? (uintptr_t)code.at
		       : 0;
}
