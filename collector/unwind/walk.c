// SPDX-License-Identifier: Apache-2.0
/*
 * A walk goes from the leaf outwards. Each frame's rule (collector/unwind/rules.h) says where its
 * caller's registers are, so the path is a function of the rules and of a few words of the stack:
 * return addresses and saved frame pointers.
 *
 * That makes the previous stack worth keeping. Between two samples most of a deep stack has not
 * moved. When the walk reaches a frame with the pc, sp and bp of a kept frame, and all words that
 * the kept walk read from there on (the return addresses and the frames' other "checks") are
 * unchanged, the rest of the walk would repeat itself word for word and can be skipped: comparing a
 * word costs a third of a nanosecond, walking a frame costs five. If a word has changed, the walk
 * continues from the frame to which the first such word belongs. Nothing is assumed and nothing in
 * the program is changed, unlike with trampolines planted into return addresses.
 *
 *	kept:                      leaf  step   fit   loop  main  _start
 *	new walk:      add   solve              fit
 *
 * The walk steps through add and solve, reaches fit, checks fit, loop and main, and stops.
 *
 * Two trails of frames take turns: one holds the previous stack, the other takes the new walk. At
 * the end the few new frames are put in front of the kept frames that are still valid. The trails
 * swap roles if no kept frame is valid or the room in front is too small.
 *
 * Memory is read only where it is known to be mapped: between the stack pointer and the top of the
 * thread's stack, and elsewhere page by page, after a system call has checked the page.
 */
#include "collector/unwind/modules.h"
#include "collector/unwind/paths.h"
#include "collector/unwind/readable.h"
#include "collector/unwind/walk_state.h"

enum {
	WALK_LIMIT = 1 << 17, /* frames; the walk of a deeper stack stops here */
	GATHER_LIMIT = 64,    /* frames to search for a register */
	/*
	 * maximum number of new frames in a walk: the rule of each costs 2 to 3 us; the stack is
	 * cut there
	 */
	NEW_FRAMES_MAX = 96,
	NAMELESS_MAX = 256, /* maximum number of consecutive frames of code generated at run time */
};

static inline bool on_stack(const struct fg_walk *walk, uintptr_t address)
{
	return address >= walk->thread->stack_low && address < walk->thread->stack_high;
}

/* Sets the range that may be read without a system call. */
static void enter_stack(struct fg_walk *walk)
{
	walk->inside = on_stack(walk, walk->regs.sp);
	walk->safe_low = walk->regs.sp;
	walk->safe_high = walk->inside ? walk->thread->stack_high : walk->regs.sp;
}

static bool can_read_slowly(struct fg_walk *walk, uintptr_t address)
{
	const uintptr_t page = address & ~(uintptr_t)(FG_TRACE_ALIGN - 1);

	if (address < FG_TRACE_ALIGN || address % FG_WORD != 0 || !fg_is_readable(address))
		return false;
	walk->inside = false;
	if (page == walk->safe_high) {
		walk->safe_high += FG_TRACE_ALIGN;
	} else {
		walk->safe_low = page;
		walk->safe_high = page + FG_TRACE_ALIGN;
	}
	return true;
}

static inline bool can_read(struct fg_walk *walk, uintptr_t address)
{
	if (FG_LIKELY(address >= walk->safe_low && address < walk->safe_high &&
		      walk->safe_high - address >= FG_WORD))
		return true;
	return can_read_slowly(walk, address);
}

/* Reads a word on which the step to the caller depends. */
static bool depend(struct fg_walk *walk, uintptr_t address, uintptr_t *value)
{
	if (!can_read(walk, address))
		return false;
	*value = *(const uintptr_t *)address;
	if (!on_stack(walk, address))
		walk->outside = true;
	return true;
}

static void remember(struct fg_walk *walk, uintptr_t address, uintptr_t value)
{
	if (!walk->beyond)
		walk->trail->checks[walk->checks_end++] = (struct fg_check){address, value};
}

/* Remembers the word that marks the previous frame as the last. */
static void remember_end(struct fg_walk *walk)
{
#if FG_ARCH_LINK_REGISTER
	(void)walk; /* the step from the previous frame has recorded the end word */
#else
	remember(walk, fg_return_address_at(walk->regs.sp), 0);
#endif
}

/*
 * Recovers a register that the walk does not carry, in the middle of a stack: the dynamic loader's
 * trampoline for lazy binding has its frame's address in such a register. Functions save these
 * registers for their callers, so each frame from the leaf on has either stored the value or left
 * it alone.
 */
static uintptr_t gather_register(struct fg_walk *walk, unsigned number, bool *known)
{
	uintptr_t value = 0;

	if (!walk->start) {
		walk->needs_registers = true;
		*known = false;
		return 0;
	}
	value = fg_arch_register(walk->start, number);
	*known = fg_walked(walk) <= GATHER_LIMIT;
	for (uint32_t i = FG_WALK_FIRST; i < walk->end && *known; i++) {
		const struct fg_walk_frame *frame = &walk->trail->frames[i];
		const uintptr_t cfa = i + 1 < walk->end ? frame[1].regs.sp : walk->regs.sp;
		const uintptr_t address = frame->regs.pc - !frame->exact;
		const uint32_t module = fg_module_find(walk->thread, address);
		int64_t offset = 0;

		if (!module) {
			*known = false;
			break;
		}
		switch (fg_rule_saved(&fg_module(module)->tables, address, number, &offset)) {
		case FG_SAVED_NOWHERE:
			break;
		case FG_SAVED_AT_CFA:
			*known = can_read(walk, cfa + (uintptr_t)(intptr_t)offset);
			if (*known)
				value = *(const uintptr_t *)(cfa + (uintptr_t)(intptr_t)offset);
			break;
		case FG_SAVED_UNKNOWN:
			*known = false;
			break;
		}
	}
	return value;
}

static uintptr_t register_of(struct fg_walk *walk, unsigned number, bool *known)
{
	*known = true;
	if (number == FG_DWARF_SP)
		return walk->regs.sp;
	if (number == FG_DWARF_BP)
		return walk->regs.bp;
	if (walk->leaf)
		return fg_arch_register(walk->leaf, number);
	return gather_register(walk, number, known);
}

enum step {
	STEP_ON,
	STEP_END,
	STEP_LOST
};

/* The addresses of a caller's saved registers; bp 0: the frame pointer is unchanged. */
struct saved_at {
	uintptr_t pc;
	uintptr_t bp;
};

static enum step step_to_cfa(struct fg_walk *walk, uintptr_t cfa, struct saved_at at)
{
	struct fg_regs caller = {0, cfa, walk->regs.bp};
	uintptr_t pc;

	if (cfa <= walk->regs.sp) /* a frame lies above the frame that it called */
		return STEP_LOST;
	if (!depend(walk, at.pc, &pc))
		return STEP_LOST;
	if (at.bp) {
		if (!depend(walk, at.bp, &caller.bp))
			return STEP_LOST;
		remember(walk, at.bp, caller.bp);
	}
	/* without a link register the return address is just below the CFA */
	if (FG_ARCH_LINK_REGISTER)
		remember(walk, at.pc, pc);
	caller.pc = fg_arch_strip(pc);
	walk->regs = caller;
	walk->leaf = NULL;
	walk->exact = false;
	return STEP_ON;
}

/* Steps by the link register, which holds a return address only in the interrupted frame. */
static enum step step_to_link(struct fg_walk *walk, uintptr_t cfa)
{
	if (!walk->leaf || cfa < walk->regs.sp)
		return STEP_LOST;
	walk->regs.pc = fg_arch_link(walk->leaf);
	walk->regs.sp = cfa;
	walk->leaf = NULL;
	walk->exact = false;
	return STEP_ON;
}

/* Steps through a signal handler's frame: the kernel saved the whole context. */
static enum step step_signal(struct fg_walk *walk)
{
	if (!can_read(walk, walk->regs.sp) || !can_read(walk, walk->regs.sp + 2 * FG_WORD))
		return STEP_LOST;
	const ucontext_t *context = fg_arch_signal_context(&walk->regs);

	if (!can_read(walk, fg_arch_registers_begin(context)) ||
	    !can_read(walk, fg_arch_registers_end(context) - FG_WORD))
		return STEP_LOST;
	walk->regs.pc = fg_arch_register(context, FG_DWARF_RA);
	walk->regs.sp = fg_arch_register(context, FG_DWARF_SP);
	walk->regs.bp = fg_arch_register(context, FG_DWARF_BP);
	walk->leaf = context;
	walk->exact = true;
	enter_stack(walk);
	return STEP_ON;
}

/*
 * Do frame pointers lead from `bp` to a call from a module? Code generated at run time has no
 * tables and may call more such code, but if it keeps frame pointers, each leads outwards. A word
 * that is not a frame pointer hardly ever leads to a module.
 */
static bool leads_to_module(struct fg_walk *walk, uintptr_t bp)
{
	for (unsigned n = 0; n < NAMELESS_MAX; n++) {
		uintptr_t pc = 0;
		uintptr_t next = 0;

		if (!can_read(walk, bp) || !can_read(walk, bp + FG_WORD))
			return false;
		next = *(const uintptr_t *)bp;
		pc = fg_arch_strip(*(const uintptr_t *)(bp + FG_WORD));
		if (fg_module_find(walk->thread, pc - 1)) {
			walk->certain = bp;
			return true;
		}
		if (next <= bp || next % FG_WORD != 0 || !fg_is_readable(pc - 1))
			return false;
		bp = next;
	}
	return false;
}

static bool has_rule(struct fg_walk *walk, uintptr_t pc)
{
	const uint32_t module = fg_module_find(walk->thread, pc - 1);

	return module &&
	       fg_rule_kind(fg_rule_find(&fg_module(module)->tables, pc - 1)) != FG_RULE_UNKNOWN;
}

/*
 * If calls leave the return address in a register, code without tables that has called nothing
 * still has its return address in that register; after a call, the register points into the code
 * itself.
 */
static bool is_leaf_without_table(struct fg_walk *walk)
{
	return FG_ARCH_LINK_REGISTER && walk->leaf && has_rule(walk, fg_arch_link(walk->leaf));
}

static bool is_at_trampoline(struct fg_walk *walk)
{
	if (!FG_ARCH_LINK_REGISTER)
		return false;
	const uintptr_t pc = walk->regs.pc;

	return pc % 4 == 0 &&
	       (fg_module_find(walk->thread, pc) ||
		(fg_is_readable(pc) && fg_is_readable(pc + 4))) &&
	       fg_arch_is_rt_sigreturn((const uint8_t *)pc);
}

/* Steps through the functions of a libc without tables. */
static enum step step_bare(struct fg_walk *walk, enum fg_bare_step bare, uintptr_t at)
{
	switch (bare) {
	case FG_BARE_CALL:
		return step_to_cfa(walk, at + FG_WORD, (struct saved_at){.pc = at});
	case FG_BARE_SIGNAL:
		return step_signal(walk);
	case FG_BARE_END:
		return STEP_END;
	default:
		return STEP_LOST;
	}
}

/*
 * Steps through code without a table (generated at run time, or assembly): follows the frame
 * pointer.
 */
static enum step step_guess(struct fg_walk *walk)
{
	const uintptr_t bp = walk->regs.bp;
	uintptr_t pc;
	const enum fg_bare_step bare = fg_walk_bare(walk, &pc);

	if (bare != FG_BARE_NOT)
		return step_bare(walk, bare, pc);
	if (is_at_trampoline(walk))
		return step_signal(walk);
	/* a frame record does not contain the stack pointer */
	walk->is_sp_low = FG_ARCH_LINK_REGISTER;
	if (is_leaf_without_table(walk))
		return step_to_link(walk, walk->regs.sp);
	if (bp >= walk->regs.sp && bp % FG_WORD == 0 && can_read(walk, bp) &&
	    can_read(walk, bp + FG_WORD)) {
		pc = fg_arch_strip(*(const uintptr_t *)(bp + FG_WORD));
		if (fg_module_find(walk->thread, pc - 1) || bp <= walk->certain ||
		    leads_to_module(walk, bp))
			return step_to_cfa(walk, bp + 2 * FG_WORD,
					   (struct saved_at){bp + FG_WORD, bp});
	}
	if (!FG_ARCH_LINK_REGISTER && walk->leaf && can_read(walk, walk->regs.sp)) {
		pc = *(const uintptr_t *)walk->regs.sp;
		if (fg_module_find(walk->thread, pc - 1))
			return step_to_cfa(walk, walk->regs.sp + FG_WORD,
					   (struct saved_at){.pc = walk->regs.sp});
	}
	return STEP_LOST;
}

static enum step step_by(struct fg_walk *walk, uint64_t rule, bool *checked)
{
	const enum fg_rule_kind kind = fg_rule_kind(rule);
	const unsigned reg = kind < FG_RULE_SIGNAL ? fg_rule_register(rule) : FG_DWARF_SP;
	bool known = true;
	uintptr_t base = register_of(walk, reg, &known);
	uintptr_t cfa = base + (uintptr_t)(intptr_t)fg_rule_offset(rule);
	const uintptr_t bp_offset = (uintptr_t)(intptr_t)fg_rule_bp_offset(rule);
	const bool is_sp_low = FG_ARCH_LINK_REGISTER && walk->is_sp_low;

	/* Only steps by these two registers depend solely on recorded words. */
	*checked = (reg == FG_DWARF_SP || reg == FG_DWARF_BP) && !is_sp_low;
	walk->is_sp_low = false;
	switch (kind) {
	case FG_RULE_CFA:
		if (!known)
			return STEP_LOST;
		return step_to_cfa(walk, cfa, (struct saved_at){fg_rule_return_at(rule, cfa), 0});
	case FG_RULE_CFA_BP:
		if (!known)
			return STEP_LOST;
		if (is_sp_low && reg == FG_DWARF_SP) /* the frame pointer is at its record */
			cfa = walk->regs.bp - bp_offset;
		return step_to_cfa(
			walk, cfa,
			(struct saved_at){fg_rule_return_at(rule, cfa), cfa + bp_offset});
	case FG_RULE_LEAF:
		*checked = false; /* no word of the stack holds the link register */
		return known ? step_to_link(walk, cfa) : STEP_LOST;
	case FG_RULE_DEREF:
	case FG_RULE_DEREF_BP:
	case FG_RULE_DEREF_CFA_BP:
		base += (uintptr_t)fg_rule_deref_offset(rule);
		if (!known || !depend(walk, base, &cfa))
			return STEP_LOST;
		remember(walk, base, cfa);
		cfa += (uintptr_t)fg_rule_addend(rule);
		if (kind == FG_RULE_DEREF)
			return step_to_cfa(walk, cfa,
					   (struct saved_at){fg_rule_return_at(rule, cfa), 0});
		return step_to_cfa(
			walk, cfa,
			(struct saved_at){fg_rule_return_at(rule, cfa),
					  (kind == FG_RULE_DEREF_BP ? walk->regs.bp : cfa) +
						  bp_offset});
	case FG_RULE_PLT:
		if (fg_arch_plt_has_pushed(walk->regs.pc))
			cfa += FG_WORD;
		return step_to_cfa(walk, cfa, (struct saved_at){fg_rule_return_at(rule, cfa), 0});
	case FG_RULE_SIGNAL:
		*checked = false;
		return step_signal(walk);
	case FG_RULE_END:
		return STEP_END;
	default:
		*checked = false;
		return step_guess(walk);
	}
}

/* ---- the previous stack ---- */

static bool frame_holds(const struct fg_trail *kept, uint32_t index)
{
	const struct fg_walk_frame *frame = &kept->frames[index];
	const struct fg_walk_frame *caller = frame + 1;

	if (!frame->checked || !fg_returns_to(caller))
		return false;
	for (uint32_t i = frame->first_check; i < caller->first_check; i++)
		if (*(const uintptr_t *)kept->checks[i].address != kept->checks[i].value)
			return false;
	return true;
}

/*
 * Skips the kept frames below `sp`: stack pointers grow outwards, so the walk never returns to
 * these frames. A sentinel ends the list.
 */
static inline const struct fg_walk_frame *pass(const struct fg_walk_frame *candidate, uintptr_t sp)
{
	while (candidate->regs.sp < sp)
		candidate++;
	return candidate;
}

/* Has the walk reached a kept frame? That frame becomes the candidate. */
static bool meet(struct fg_walk *walk)
{
	const struct fg_walk_frame *candidate =
		pass(&walk->kept->frames[walk->candidate], walk->regs.sp);

	walk->candidate = (uint32_t)(candidate - walk->kept->frames);
	return fg_same_regs(&candidate->regs, &walk->regs) && candidate->exact == walk->exact &&
	       candidate->checked;
}

/* ---- the walk ---- */

static void keep_frame(struct fg_walk *walk, const struct fg_walk_frame *frame)
{
	if (walk->end < FG_TRAIL_FRAMES) {
		walk->trail->frames[walk->end++] = *frame;
		if (!frame->checked)
			walk->checked_from = walk->end;
	} else {
		walk->thread->stack->edge[walk->beyond++ % FG_TRACE_FRAMES_EDGE] = frame->id;
	}
}

/*
 * Are the kept frames still valid, from the matching one outwards? If not, the walk takes over the
 * frames whose checks hold, and continues at the first frame whose checks fail.
 */
static bool verify(struct fg_walk *walk)
{
	const struct fg_thread *thread = walk->thread;
	const struct fg_trail *kept = walk->kept;
	const uint32_t met = walk->candidate;
	uint32_t at = met;

	if (thread->kept.complete && met >= thread->kept.checked_from &&
	    fg_rest_holds(thread, kept, met))
		return true;
	for (; at + 1 < thread->kept.end && walk->end < FG_TRAIL_FRAMES && frame_holds(kept, at);
	     at++) {
		struct fg_walk_frame frame = kept->frames[at];

		frame.first_check = walk->checks_end;
		for (uint32_t i = kept->frames[at].first_check;
		     i < kept->frames[at + 1].first_check; i++)
			remember(walk, kept->checks[i].address, kept->checks[i].value);
		keep_frame(walk, &frame);
	}
	walk->regs = kept->frames[at].regs;
	walk->exact = kept->frames[at].exact;
	walk->leaf = at == met ? walk->leaf : NULL;
	walk->candidate = at + 1;
	return false;
}

/*
 * Computes the CFA of a rule that uses the stack pointer or the frame pointer; false: another rule.
 */
static inline bool find_cfa(uint64_t rule, const struct fg_regs *regs, uintptr_t *cfa)
{
	const unsigned reg = fg_rule_register(rule);

	*cfa = (uintptr_t)(intptr_t)fg_rule_offset(rule);
	/* The processor predicts this branch, so the next frame need not wait for the rule. */
	if (FG_LIKELY(reg == FG_DWARF_SP))
		*cfa += regs->sp;
	else if (reg == FG_DWARF_BP)
		*cfa += regs->bp;
	else
		return false;
	return true;
}

/*
 * The fast path for nearly all frames: the rule is known and plain, and all that it needs lies on
 * the thread's own stack. The result is the same as on the slow path below. Stops at a kept frame,
 * and at anything that is not plain.
 */
static void walk_plainly(struct fg_walk *walk)
{
	const struct fg_frame_look look = fg_frame_look();
	const struct fg_walk_frame *candidate = &walk->kept->frames[walk->candidate];
	struct fg_walk_frame *frame = &walk->trail->frames[walk->end];
	struct fg_walk_frame *const frames_end = &walk->trail->frames[FG_TRAIL_FRAMES];
	uint32_t checks_end = walk->checks_end;
	struct fg_regs regs = walk->regs;
	const uintptr_t low = walk->safe_low;
	const uintptr_t high = walk->safe_high;
	struct fg_frame_entry *entry = fg_frame_glance(&look, regs.pc);

	for (; frame < frames_end && entry; frame++) {
		if (FG_UNLIKELY(regs.sp >= candidate->regs.sp)) {
			candidate = pass(candidate, regs.sp);
			if (fg_same_regs(&candidate->regs, &regs))
				break;
		}
		const uint64_t rule = atomic_load_explicit(&entry->rule, memory_order_acquire);
		const enum fg_rule_kind kind = fg_rule_kind(rule);
		uintptr_t cfa = 0;

		if (!find_cfa(rule, &regs, &cfa))
			break;
		const uintptr_t return_at = fg_rule_return_at(rule, cfa);

		if (cfa < regs.sp + FG_WORD || cfa > high ||
		    (look.any_gone && !fg_module_live(entry->module)))
			break;
		if (FG_ARCH_LINK_REGISTER && (return_at < low || return_at > high - FG_WORD))
			break;
		*frame = (struct fg_walk_frame){.regs = regs,
						.id = entry->id,
						.node = frame->node,
						.first_check = checks_end,
						.checked = true,
						.uses_bp = fg_rule_register(rule) == FG_DWARF_BP,
						.restores_bp = kind == FG_RULE_CFA_BP};
		if (kind == FG_RULE_CFA_BP) {
			const uintptr_t bp_at = cfa + (uintptr_t)(intptr_t)fg_rule_bp_offset(rule);

			if (bp_at < low || bp_at > high - FG_WORD)
				break;
			regs.bp = *(const uintptr_t *)bp_at;
			walk->trail->checks[checks_end++] = (struct fg_check){bp_at, regs.bp};
		} else if (kind != FG_RULE_CFA) {
			break;
		}
		const uintptr_t return_to = *(const uintptr_t *)return_at;

		if (FG_ARCH_LINK_REGISTER)
			walk->trail->checks[checks_end++] = (struct fg_check){return_at, return_to};
		regs.pc = fg_arch_strip(return_to);
		regs.sp = cfa;
		entry = fg_frame_follow(&look, entry, regs.pc);
	}
	if (frame > &walk->trail->frames[walk->end])
		walk->leaf = NULL;
	walk->end = (uint32_t)(frame - walk->trail->frames);
	walk->checks_end = checks_end;
	walk->candidate = (uint32_t)(candidate - walk->kept->frames);
	walk->regs = regs;
}

/* Steps one frame by the slow path; false: the walk ends here. */
static bool walk_one(struct fg_walk *walk)
{
	const struct fg_frame_info info = fg_frame_find(walk->thread, walk->regs.pc, walk->exact);
	struct fg_walk_frame frame = {.regs = walk->regs,
				      .id = info.id,
				      .first_check = walk->checks_end,
				      .exact = walk->exact};

	walk->outside = !on_stack(walk, walk->regs.sp);
	const enum step step = step_by(walk, info.rule, &frame.checked);

	frame.checked = frame.checked && !walk->outside;
	fg_note_bp(&frame, info.rule);
	keep_frame(walk, &frame);
	walk->complete = step == STEP_END;
	walk->is_cut = step == STEP_ON && info.is_new && walk->start &&
		       ++walk->new_frames >= NEW_FRAMES_MAX;
	return step == STEP_ON && !walk->is_cut;
}

/* Walks to a kept frame whose callers are unchanged (true), or until the walk ends (false). */
static bool walk_out(struct fg_walk *walk)
{
	while (fg_walked(walk) < WALK_LIMIT) {
		if (walk->inside && !walk->exact && !(FG_ARCH_LINK_REGISTER && walk->is_sp_low))
			walk_plainly(walk);
		/* The first function of a thread or coroutine returns to 0. */
		if (fg_walked(walk) > 0 && walk->regs.pc == 0) {
			remember_end(walk);
			walk->complete = true;
			return false;
		}
		if (meet(walk) && verify(walk))
			return true;
		if (!walk_one(walk))
			return false;
	}
	return false;
}

struct fg_walk_result fg_walk_from(struct fg_thread *thread, const struct fg_regs *regs,
				   const ucontext_t *context)
{
	struct fg_walk_memory *const stack = thread->stack;
	struct fg_walk walk = {.thread = thread,
			       .trail = &stack->trails[thread->kept.trail ^ 1u],
			       .kept = &stack->trails[thread->kept.trail],
			       .regs = *regs,
			       .leaf = context,
			       .start = context,
			       .exact = context != NULL,
			       .end = FG_WALK_FIRST,
			       .checks_end = FG_WALK_FIRST_CHECK,
			       .checked_from = FG_WALK_FIRST};
	const uint32_t epoch = atomic_load(&fg_g.epoch);
	uint32_t standing = 0;

	enter_stack(&walk);
	if (epoch != thread->kept.epoch)
		thread->kept.count = 0;
	thread->kept.epoch = epoch;
	walk.candidate = thread->kept.end - thread->kept.count;
	stack->trails[thread->kept.trail].frames[thread->kept.end].regs =
		(struct fg_regs){.sp = UINTPTR_MAX};
	if (walk_out(&walk)) {
		standing = thread->kept.end - walk.candidate;
		walk.complete = true;
	}

	struct fg_walk_result result = {.truncated = !walk.complete,
					.needs_registers = walk.needs_registers,
					.frames = fg_walked(&walk) + standing,
					.frames_reused = standing};

	if (walk.beyond)
		result.path = fg_walk_name_deep(&walk, standing);
	else
		result.path = fg_walk_name(&walk, standing);
	/* The next walk has to go beyond the cut, so it must not reuse these frames. */
	if (walk.is_cut)
		thread->kept.count = 0;
	return result;
}

struct fg_walk_result fg_stack_walk(struct fg_thread *thread, const ucontext_t *context)
{
	const struct fg_regs regs = {.pc = fg_arch_register(context, FG_DWARF_RA),
				     .sp = fg_arch_register(context, FG_DWARF_SP),
				     .bp = fg_arch_register(context, FG_DWARF_BP)};

	return fg_walk_from(thread, &regs, context);
}

bool fg_stack_step(struct fg_thread *thread, struct fg_regs *regs)
{
	/* Beyond the trail: this frame is not kept. */
	struct fg_walk walk = {.thread = thread, .regs = *regs, .beyond = 1};
	bool is_checked = false;

	enter_stack(&walk);
	if (step_by(&walk, fg_frame_find(thread, regs->pc, false).rule, &is_checked) != STEP_ON)
		return false;
	*regs = walk.regs;
	return true;
}
