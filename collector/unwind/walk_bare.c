// SPDX-License-Identifier: Apache-2.0
/*
 * musl is built without unwind tables. One step passes all frames of its functions: the return
 * address of the outermost frame is the first word on the stack that follows a call from another
 * object into musl, either directly or through a function of that object that ends in a jump into
 * musl. The call instruction is decoded and its slot is read, so a data word, or a word left over
 * from an earlier call, is hardly ever taken for the return address.
 */
#include "collector/process/real.h"
#include "collector/unwind/cfi.h"
#include "collector/unwind/modules.h"
#include "collector/unwind/paths.h"
#include "collector/unwind/readable.h"
#include "collector/unwind/walk_state.h"

#include <sys/auxv.h>

#ifdef FG_ARCH_DECODES_CALLS

enum {
	WORDS_MAX = 2048, /* words to search: printf() of a floating-point number needs 1,000 */
	LOOKUPS_MAX = 512,
	SAVED_MAX = 128,  /* words to search for a saved frame pointer */
	START_SIZE = 128, /* bytes of _start and of the code between _start and main() */
	LEVELS_MAX = 8,   /* maximum number of callers that are examined */
	KNOWN_COUNT = 1021,
};

static const struct fg_module *libc_at(struct fg_walk *walk)
{
	const uintptr_t pc = walk->regs.pc - !walk->exact;
	const uint32_t id = fg_is_musl() ? fg_module_find(walk->thread, pc) : 0;
	const uintptr_t base = id ? (uintptr_t)getauxval(AT_BASE) : 0;

	return base && fg_module(id)->bias == base ? fg_module(id) : NULL;
}

static bool is_in(const struct fg_module *module, uintptr_t address)
{
	const uintptr_t start = atomic_load_explicit(&module->start, memory_order_acquire);

	return address - start < module->end - start;
}

/* Returns the module whose code contains this return address. */
static const struct fg_module *code_at(uintptr_t address)
{
	const struct fg_module *module = fg_module_around(address);

	return module && address >= module->code_start + FG_ARCH_CALL_SIZE &&
			       address <= module->code_end
		       ? module
		       : NULL;
}

static bool leads_by_slot(const struct fg_module *libc, uintptr_t slot)
{
	return slot % FG_WORD == 0 && fg_is_readable(slot) && is_in(libc, *(const uintptr_t *)slot);
}

/* Is this a PLT stub for a function of `libc`, or of any object if that is NULL? */
static bool is_stub(const struct fg_module *libc, uintptr_t code)
{
	const struct fg_module *module = code_at(code);
	uintptr_t slot = 0;

	if (module && module->code_end - code >= FG_ARCH_STUB_SIZE)
		slot = fg_arch_stub_slot((const uint8_t *)code);
	return slot && (!libc || leads_by_slot(libc, slot));
}

/* Finds the function at `address` in its module's tables; false: they have none. */
static bool find_function(uintptr_t address, struct fg_cfi_function *function)
{
	const struct fg_module *module = code_at(address);

	return module && fg_cfi_find(&module->tables, address, function) &&
	       function->start + function->size < module->code_end;
}

/* Does the function at `begin` contain a jump into `libc`, or into `into` if that is not NULL? */
static bool ends_in(const struct fg_module *libc, const struct fg_cfi_function *into,
		    uintptr_t begin)
{
	struct fg_cfi_function function;

	if (!find_function(begin, &function) || function.start != begin)
		return false;
	for (uintptr_t at = begin; at - begin + FG_ARCH_JUMP_SIZE <= function.size; at++) {
		const uintptr_t target = fg_arch_jumped((const uint8_t *)at);

		if (target && (into ? target - into->start < into->size : is_stub(libc, target)))
			return true;
	}
	return false;
}

static bool follows_call(const struct fg_module *libc, uintptr_t address)
{
	const uint8_t *const back = (const uint8_t *)address;
	const uintptr_t slot = fg_arch_called_slot(back);
	const uintptr_t target = fg_arch_called(back);

	return (slot && leads_by_slot(libc, slot)) ||
	       (target && (is_stub(libc, target) || ends_in(libc, NULL, target)));
}

/*
 * Like follows_call(), but cached: musl unloads nothing, and a program's instructions do not
 * change.
 */
static bool is_return(const struct fg_module *libc, uintptr_t address)
{
	static _Atomic uintptr_t known[KNOWN_COUNT];
	_Atomic uintptr_t *const entry = &known[address % KNOWN_COUNT];
	const uintptr_t found = atomic_load_explicit(entry, memory_order_relaxed);
	bool follows;

	if (found >> 1 == address)
		return found & 1u;
	follows = code_at(address) && follows_call(libc, address);
	atomic_store_explicit(entry, address << 1 | follows, memory_order_relaxed);
	return follows;
}

/* Does `bp` lead to the frame of a function that keeps a frame pointer? */
static bool is_frame(const struct fg_walk *walk, uintptr_t bp, uintptr_t at)
{
	return bp > at && bp % FG_WORD == 0 && bp < walk->safe_high &&
	       walk->safe_high - bp >= 2 * FG_WORD && code_at(((const uintptr_t *)bp)[1]);
}

/* Finds the caller's frame pointer: unchanged, or saved below the return address at `at`. */
static uintptr_t find_bp(const struct fg_walk *walk, uintptr_t at)
{
	uintptr_t saved = at - FG_WORD;

	if (is_frame(walk, walk->regs.bp, at))
		return walk->regs.bp;
	for (unsigned i = 0; i < SAVED_MAX && saved >= walk->regs.sp; i++, saved -= FG_WORD)
		if (is_frame(walk, *(const uintptr_t *)saved, at))
			return *(const uintptr_t *)saved;
	return walk->regs.bp;
}

/* Can a call that returns to `back` have entered this function? */
static bool can_have_called(const struct fg_cfi_function *function, uintptr_t back)
{
	const uintptr_t target = fg_arch_called((const uint8_t *)back);

	if (!target)
		return fg_arch_called_somewhere((const uint8_t *)back);
	return target == function->start || is_stub(NULL, target) ||
	       ends_in(NULL, function, target);
}

/*
 * Is this a return address that an earlier call left behind? Sooner or later the frames of its
 * callers overlap with the frames of the current calls: then the word that should be a function's
 * return address does not follow a call of that function.
 */
static bool is_left_behind(const struct fg_walk *walk, const struct fg_module *libc, uintptr_t at,
			   uintptr_t bp)
{
	struct fg_cfi_function function;

	for (unsigned level = 0; level < LEVELS_MAX; level++) {
		const uintptr_t pc = *(const uintptr_t *)at;
		const uint64_t rule = fg_frame_find(walk->thread, pc, false).rule;
		const unsigned reg = fg_rule_register(rule);
		uintptr_t cfa = reg == FG_DWARF_SP ? at + FG_WORD : bp;

		if (fg_rule_kind(rule) > FG_RULE_CFA_BP ||
		    (reg != FG_DWARF_SP && reg != FG_DWARF_BP) || !find_function(pc - 1, &function))
			return false;
		cfa += (uintptr_t)(intptr_t)fg_rule_offset(rule);
		if (cfa <= at + FG_WORD || cfa > walk->safe_high)
			return true;
		if (fg_rule_kind(rule) == FG_RULE_CFA_BP)
			bp = *(const uintptr_t *)(cfa +
						  (uintptr_t)(intptr_t)fg_rule_bp_offset(rule));
		at = fg_return_address_at(cfa);
		const uintptr_t back = *(const uintptr_t *)at;

		if (!code_at(back) || !can_have_called(&function, back))
			return true;
		if (is_in(libc, back))
			return false;
	}
	return false;
}

static bool is_trampoline(const struct fg_walk *walk)
{
	const struct fg_module *module = walk->exact ? NULL : code_at(walk->regs.pc);

	return module && module->code_end - walk->regs.pc >= FG_ARCH_TRAMPOLINE_SIZE &&
	       fg_arch_is_trampoline((const uint8_t *)walk->regs.pc);
}

/*
 * Finds the first word of the stack that is a return address outside libc, or shows that the thread
 * began.
 */
static enum fg_bare_step look(struct fg_walk *walk, const struct fg_module *libc, uintptr_t *at)
{
	const uintptr_t entry = (uintptr_t)getauxval(AT_ENTRY);
	const uintptr_t sp = walk->regs.sp;
	const uintptr_t high = walk->safe_high;
	unsigned lookups = 0;

	for (*at = sp; *at < high && *at - sp < WORDS_MAX * FG_WORD; *at += FG_WORD) {
		const uintptr_t word = *(const uintptr_t *)*at;

		if (word - entry < START_SIZE && fg_arch_called((const uint8_t *)word))
			return FG_BARE_END;
		if (word < FG_TRACE_ALIGN || (word >= sp && word < high) || is_in(libc, word))
			continue;
		if (is_return(libc, word)) {
			const uintptr_t bp = find_bp(walk, *at);

			if (!is_left_behind(walk, libc, *at, bp)) {
				walk->regs.bp = bp;
				return FG_BARE_CALL;
			}
		}
		if (++lookups == LOOKUPS_MAX)
			return FG_BARE_LOST;
	}
	return *at >= high && walk->thread->kind == FG_THREAD_PTHREAD ? FG_BARE_END : FG_BARE_LOST;
}

enum fg_bare_step fg_walk_bare(struct fg_walk *walk, uintptr_t *at)
{
	const struct fg_module *libc = libc_at(walk);

	if (!libc)
		return FG_BARE_NOT;
	if (!walk->inside || fg_g.sandboxed)
		return FG_BARE_LOST;
	return is_trampoline(walk) ? FG_BARE_SIGNAL : look(walk, libc, at);
}

#else

enum fg_bare_step fg_walk_bare(struct fg_walk *walk, uintptr_t *at)
{
	(void)walk;
	*at = 0;
	return FG_BARE_NOT;
}

#endif
