// SPDX-License-Identifier: Apache-2.0
/*
 * A walk goes from the leaf outwards.  Each frame's rule (collector/rules.h) says where its caller's registers are; so the
 * whole way is a function of the rules and of a few words of the stack: return addresses and saved frame pointers.
 *
 * That is what makes the stack before worth keeping.  Between two samples most of a deep stack has not moved.  When the walk
 * meets a frame with the pc, sp and bp of a kept one, and all words that the kept walk read from there on (its
 * "checks") still hold what they held, then the rest of the walk would repeat itself word for word and need not be done:
 * comparing a word costs a third of a nanosecond, walking a frame five to ten.  Where the first word differs, the walk
 * goes on from the frame it belongs to.  Nothing is assumed and nothing in the program is changed, unlike with
 * trampolines planted into return addresses.
 *
 *	kept, outermost first:  _start  main  loop  fit   step          leaf
 *	new walk:                              fit' <- solve <- add      leaf first: add, solve, then fit is met:
 *	                                                                 check fit, loop, main, and stop.
 *
 * Memory is read only where it is known to be there: between the stack pointer and the top of the thread's stack, and else
 * page by page after asking the kernel.
 */
#include "collector/walk.h"

#include "collector/modules.h"
#include "collector/paths.h"
#include "collector/rules.h"
#include "collector/writer.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	WALK_LIMIT = 1 << 17, /* frames; what is deeper is given up */
	GATHER_LIMIT = 64,    /* frames to look through for a register */
	KERNEL_SIGSET = 8,
};

struct walk {
	struct fg_thread *thread;
	struct fg_stack *stack;
	uintptr_t safe_low; /* readable from here to there */
	uintptr_t safe_high;
	bool inside;  /* that is on the thread's own stack, up to its end */
	bool outside; /* the step read elsewhere than there */
	struct fg_regs regs;
	const ucontext_t *leaf;  /* all registers, while the frame is one that was interrupted */
	const ucontext_t *start; /* of the first frame */
	bool exact;
	bool complete;
	uint32_t fresh; /* frames walked anew and kept in stack->fresh */
	uint32_t fresh_checks;
	uint64_t total; /* frames walked anew, also those beyond FG_TRACE_FRAMES_MAX */
	uint32_t kept;  /* candidates for a meeting: kept frames below this index */
};

bool fg__readable(uintptr_t address)
{
	/* The kernel reads the set before it looks at `how`: EFAULT if it cannot, EINVAL if it can. */
	return syscall(SYS_rt_sigprocmask, -1, (void *)(address & ~(uintptr_t)(KERNEL_SIGSET - 1)),
		       NULL, KERNEL_SIGSET) == -1 &&
	       errno == EINVAL;
}

static inline bool on_stack(const struct walk *walk, uintptr_t address)
{
	return address >= walk->thread->stack_low && address < walk->thread->stack_high;
}

/* What may be read without asking, now that the stack pointer is known. */
static void enter_stack(struct walk *walk)
{
	walk->inside = on_stack(walk, walk->regs.sp);
	walk->safe_low = walk->regs.sp;
	walk->safe_high = walk->inside ? walk->thread->stack_high : walk->regs.sp;
}

static bool can_read_slowly(struct walk *walk, uintptr_t address)
{
	const uintptr_t page = address & ~(uintptr_t)(FG_TRACE_ALIGN - 1);

	if (address < FG_TRACE_ALIGN || address % FG_WORD != 0 || fg_g.sealed ||
	    !fg__readable(address))
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

static inline bool can_read(struct walk *walk, uintptr_t address)
{
	if (FG_LIKELY(address >= walk->safe_low && address + FG_WORD <= walk->safe_high))
		return true;
	return can_read_slowly(walk, address);
}

/* Read a word on which the way to the caller depends, and remember that it did. */
static bool depend(struct walk *walk, uintptr_t address, uintptr_t *value)
{
	if (!can_read(walk, address))
		return false;
	*value = *(const uintptr_t *)address;
	if (!on_stack(walk, address))
		walk->outside = true;
	if (walk->fresh_checks < FG_CHECKS_MAX)
		walk->stack->fresh_checks[walk->fresh_checks++] =
			(struct fg_check){address, *value};
	return true;
}

/*
 * A register that the walk does not carry, in the middle of a stack: the dynamic loader's trampoline for lazy binding finds its
 * frame by one.  Functions keep such registers for their callers, so its value is gathered once more from the leaf: where
 * each frame on the way has put it, or left it alone.
 */
static uintptr_t gather_register(struct walk *walk, unsigned number, bool *known)
{
	uintptr_t value = fg_arch_register(walk->start, number);

	*known = walk->total == walk->fresh && walk->fresh <= GATHER_LIMIT;
	for (uint32_t i = 0; i < walk->fresh && *known; i++) {
		const struct fg_frame *frame = &walk->stack->fresh[i];
		const uintptr_t cfa =
			i + 1 < walk->fresh ? walk->stack->fresh[i + 1].regs.sp : walk->regs.sp;
		const uintptr_t address = frame->regs.pc - !frame->exact;
		const uint32_t module = fg__module_find(walk->thread, address);
		int64_t offset = 0;

		if (!module) {
			*known = false;
			break;
		}
		switch (fg__rule_saved(&fg__module(module)->tables, address, number, &offset)) {
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

static uintptr_t register_of(struct walk *walk, unsigned number, bool *known)
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

static enum step step_to_cfa(struct walk *walk, uintptr_t cfa, bool saved_bp, uintptr_t bp_at)
{
	struct fg_regs caller = {0, cfa, walk->regs.bp};

	if (cfa <= walk->regs.sp) /* a frame lies above the one it called */
		return STEP_LOST;
	if (!depend(walk, cfa - FG_WORD, &caller.pc))
		return STEP_LOST;
	if (saved_bp && !depend(walk, bp_at, &caller.bp))
		return STEP_LOST;
	walk->regs = caller;
	walk->leaf = NULL;
	walk->exact = false;
	return STEP_ON;
}

/* Through the frame of a signal handler: everything is in the context that the kernel saved. */
static enum step step_signal(struct walk *walk)
{
	if (!can_read(walk, walk->regs.sp) || !can_read(walk, walk->regs.sp + 2 * FG_WORD))
		return STEP_LOST;
	const ucontext_t *context = fg_arch_signal_context(&walk->regs);

	if (!can_read(walk, (uintptr_t)&context->uc_mcontext.gregs[0]) ||
	    !can_read(walk, (uintptr_t)&context->uc_mcontext.gregs[NGREG - 1]))
		return STEP_LOST;
	walk->regs.pc = fg_arch_register(context, FG_DWARF_RA);
	walk->regs.sp = fg_arch_register(context, FG_DWARF_SP);
	walk->regs.bp = fg_arch_register(context, FG_DWARF_BP);
	walk->leaf = context;
	walk->exact = true;
	enter_stack(walk);
	return STEP_ON;
}

/* No table for this code (generated at run time, or assembly): try what compilers of old did. */
static enum step step_guess(struct walk *walk)
{
	const uintptr_t bp = walk->regs.bp;
	uintptr_t pc;

	if (bp >= walk->regs.sp && bp % FG_WORD == 0 && can_read(walk, bp) &&
	    can_read(walk, bp + FG_WORD)) {
		pc = *(const uintptr_t *)(bp + FG_WORD);
		if (fg__module_find(walk->thread, pc - 1))
			return step_to_cfa(walk, bp + 2 * FG_WORD, true, bp);
	}
	if (walk->leaf && can_read(walk, walk->regs.sp)) {
		pc = *(const uintptr_t *)walk->regs.sp;
		if (fg__module_find(walk->thread, pc - 1))
			return step_to_cfa(walk, walk->regs.sp + FG_WORD, false, 0);
	}
	return STEP_LOST;
}

static enum step step_by(struct walk *walk, uint64_t rule, uint8_t *checked)
{
	const enum fg_rule_kind kind = fg_rule_kind(rule);
	const unsigned reg = kind < FG_RULE_SIGNAL ? fg_rule_register(rule) : FG_DWARF_SP;
	bool known = true;
	uintptr_t base = register_of(walk, reg, &known);
	uintptr_t cfa = base + (uintptr_t)(intptr_t)fg_rule_offset(rule);
	const uintptr_t bp_offset = (uintptr_t)(intptr_t)fg_rule_bp_offset(rule);

	/* Of another register's way here nothing is remembered. */
	*checked = reg == FG_DWARF_SP || reg == FG_DWARF_BP;
	switch (kind) {
	case FG_RULE_CFA:
	case FG_RULE_CFA_BP:
		if (!known)
			return STEP_LOST;
		return step_to_cfa(walk, cfa, kind == FG_RULE_CFA_BP, cfa + bp_offset);
	case FG_RULE_DEREF:
	case FG_RULE_DEREF_BP:
	case FG_RULE_DEREF_CFA_BP:
		if (!known || !depend(walk, base + (uintptr_t)fg_rule_deref_offset(rule), &cfa))
			return STEP_LOST;
		cfa += (uintptr_t)fg_rule_addend(rule);
		return step_to_cfa(walk, cfa, kind != FG_RULE_DEREF,
				   (kind == FG_RULE_DEREF_BP ? walk->regs.bp : cfa) + bp_offset);
	case FG_RULE_PLT:
		if ((walk->regs.pc & 15u) >= 11)
			cfa += FG_WORD;
		return step_to_cfa(walk, cfa, false, 0);
	case FG_RULE_SIGNAL:
		*checked = 0;
		return step_signal(walk);
	case FG_RULE_END:
		return STEP_END;
	default:
		*checked = 0;
		return step_guess(walk);
	}
}

/* ---- the stack before ---- */

static bool still_holds(const struct fg_check *checks, uint32_t from, uint32_t to)
{
	uintptr_t differs = 0;

	for (uint32_t i = from; i < to; i++)
		differs |= *(const uintptr_t *)checks[i].address ^ checks[i].value;
	return differs == 0;
}

static uint32_t checks_end(const struct fg_thread *thread, uint32_t index)
{
	return index + 1 < thread->kept_count ? thread->stack->kept[index + 1].first_check
					      : thread->kept_checks;
}

/*
 * The kept frame that the walk stands on, if there is one: index + 1, else 0.  Stack pointers grow outwards, so
 * what lies below the walk's is behind it for good.
 */
static uint32_t meet(struct walk *walk)
{
	const struct fg_frame *kept = walk->stack->kept;

	while (walk->kept > 0 && kept[walk->kept - 1].regs.sp < walk->regs.sp)
		walk->kept--;
	if (walk->kept == 0)
		return 0;
	const struct fg_frame *frame = &kept[walk->kept - 1];

	if (frame->regs.sp != walk->regs.sp || frame->regs.pc != walk->regs.pc ||
	    frame->regs.bp != walk->regs.bp || frame->exact != walk->exact || !frame->checked)
		return 0;
	return walk->kept;
}

/*
 * From the kept frame `met - 1` outwards: how many of the kept frames still stand, counted from the outside?  `met` if the way
 * holds to the end.  Otherwise the walk is put onto the outermost frame that is certain, frames between are taken over as
 * fresh ones, and 0 is returned.
 */
static uint32_t verify(struct walk *walk, uint32_t met)
{
	struct fg_thread *thread = walk->thread;
	struct fg_stack *stack = walk->stack;
	const uint32_t end = checks_end(thread, met - 1);

	if (thread->kept_complete && stack->kept[met - 1].unchecked == 0 &&
	    still_holds(stack->checks, 0, end))
		return met;
	for (uint32_t i = met; i-- > 0;) {
		const struct fg_frame *frame = &stack->kept[i];

		if (i == 0 || !frame->checked || walk->fresh >= FG_TRACE_FRAMES_MAX ||
		    !still_holds(stack->checks, frame->first_check, checks_end(thread, i))) {
			walk->regs = frame->regs;
			walk->exact = frame->exact;
			walk->leaf = i + 1 == met ? walk->leaf : NULL;
			walk->kept = i;
			return 0;
		}
		struct fg_frame *fresh = &stack->fresh[walk->fresh++];

		*fresh = *frame;
		fresh->first_check = walk->fresh_checks;
		for (uint32_t c = frame->first_check; c < checks_end(thread, i); c++)
			if (walk->fresh_checks < FG_CHECKS_MAX)
				stack->fresh_checks[walk->fresh_checks++] = stack->checks[c];
		stack->edge[walk->total % FG_TRACE_FRAMES_EDGE] = frame->id;
		walk->total++;
	}
	return 0;
}

/* ---- the walk ---- */

static void keep_fresh(struct walk *walk, uint32_t frame_id, const struct fg_regs *regs, bool exact,
		       uint32_t first_check)
{
	struct fg_stack *stack = walk->stack;

	if (walk->fresh < FG_TRACE_FRAMES_MAX)
		stack->fresh[walk->fresh++] = (struct fg_frame){
			.regs = *regs, .id = frame_id, .first_check = first_check, .exact = exact};
	stack->edge[walk->total % FG_TRACE_FRAMES_EDGE] = frame_id;
	walk->total++;
}

/*
 * Nearly all frames: the rule is known and plain, and all that it asks for lies on the thread's own stack.  The same as the long way
 * below, with everything at hand.  Stops where a kept frame may be met, and at what is not plain.
 */
static void walk_plainly(struct walk *walk)
{
	struct fg_stack *const stack = walk->stack;
	struct fg_regs regs = walk->regs;
	uint32_t fresh = walk->fresh;
	uint32_t checks = walk->fresh_checks;
	uint32_t kept = walk->kept;
	const bool any_gone = atomic_load_explicit(&fg_g.any_gone, memory_order_acquire);

	while (fresh < FG_TRACE_FRAMES_MAX && checks + 2 <= FG_CHECKS_MAX && regs.pc) {
		while (kept > 0 && stack->kept[kept - 1].regs.sp < regs.sp)
			kept--;
		if (kept > 0 && stack->kept[kept - 1].regs.sp == regs.sp)
			break;
		const struct fg_frame_info info = fg__frame_glance(regs.pc, any_gone);
		const enum fg_rule_kind kind = fg_rule_kind(info.rule);
		const unsigned reg = fg_rule_register(info.rule);

		if ((kind != FG_RULE_CFA && kind != FG_RULE_CFA_BP) ||
		    (reg != FG_DWARF_SP && reg != FG_DWARF_BP))
			break;
		uintptr_t cfa = (uintptr_t)(intptr_t)fg_rule_offset(info.rule);

		if (FG_LIKELY(reg ==
			      FG_DWARF_SP)) /* guessed: the next frame need not wait for it */
			cfa += regs.sp;
		else
			cfa += regs.bp;
		const uintptr_t bp_at = cfa + (uintptr_t)(intptr_t)fg_rule_bp_offset(info.rule);

		if (cfa <= regs.sp || cfa - FG_WORD < walk->safe_low || cfa > walk->safe_high ||
		    (kind == FG_RULE_CFA_BP &&
		     (bp_at < walk->safe_low || bp_at > walk->safe_high - FG_WORD)))
			break;
		stack->fresh[fresh++] = (struct fg_frame){
			.regs = regs, .id = info.id, .first_check = checks, .checked = 1};
		regs.pc = *(const uintptr_t *)(cfa - FG_WORD);
		stack->fresh_checks[checks++] = (struct fg_check){cfa - FG_WORD, regs.pc};
		if (kind == FG_RULE_CFA_BP) {
			regs.bp = *(const uintptr_t *)bp_at;
			stack->fresh_checks[checks++] = (struct fg_check){bp_at, regs.bp};
		}
		regs.sp = cfa;
	}
	if (fresh > walk->fresh)
		walk->leaf = NULL;
	for (; walk->fresh < fresh; walk->total++)
		stack->edge[walk->total % FG_TRACE_FRAMES_EDGE] = stack->fresh[walk->fresh++].id;
	walk->regs = regs;
	walk->fresh_checks = checks;
	walk->kept = kept;
}

/* Walk until a kept frame that still stands is met (returned: its index + 1), or to the end (0). */
static uint32_t walk_out(struct walk *walk)
{
	while (walk->total < WALK_LIMIT) {
		if (walk->inside && !walk->exact)
			walk_plainly(walk);
		/* A thread's first function returns to 0; so do coroutines. */
		if (walk->total > 0 && walk->regs.pc == 0) {
			walk->complete = true;
			return 0;
		}
		uint32_t met = meet(walk);

		if (met) {
			uint32_t standing = verify(walk, met);

			if (standing)
				return standing;
		}
		struct fg_frame_info info =
			fg__frame_find(walk->thread, walk->regs.pc, walk->exact);
		const struct fg_regs before = walk->regs;
		const bool exact = walk->exact;
		const uint32_t first_check = walk->fresh_checks;
		uint8_t checked = 0;

		walk->outside = !on_stack(walk, walk->regs.sp);
		enum step step = step_by(walk, info.rule, &checked);

		keep_fresh(walk, info.id, &before, exact, first_check);
		if (walk->total == walk->fresh)
			walk->stack->fresh[walk->fresh - 1].checked = checked && !walk->outside;
		if (step == STEP_END) {
			walk->complete = true;
			return 0;
		}
		if (step == STEP_LOST)
			return 0;
	}
	return 0;
}

/* Put the fresh frames, outermost first, on top of the kept ones that still stand. */
static uint32_t merge(struct walk *walk, uint32_t standing)
{
	struct fg_thread *thread = walk->thread;
	struct fg_stack *stack = walk->stack;
	uint32_t count = standing;
	uint32_t checks = standing ? checks_end(thread, standing - 1) : 0;
	uint32_t path = standing ? stack->kept[standing - 1].node : 0;
	uint32_t unchecked = standing ? stack->kept[standing - 1].unchecked : 0;
	const uint32_t named = thread->kept_named;
	bool same = true; /* path as before, down to here */
	bool fits = true;

	thread->kept_count = 0;
	thread->kept_named = 0;
	for (uint32_t i = walk->fresh; i-- > 0;) {
		struct fg_frame *frame = &stack->fresh[i];
		uint32_t end =
			i + 1 < walk->fresh ? stack->fresh[i + 1].first_check : walk->fresh_checks;

		same = same && count < named && stack->kept[count].id == frame->id;
		path = same ? stack->kept[count].node : fg__path_extend(thread, path, frame->id);
		if (!path)
			return 0;
		fits = fits && count < FG_TRACE_FRAMES_MAX &&
		       checks + (end - frame->first_check) <= FG_CHECKS_MAX;
		if (!fits)
			continue;
		unchecked += !frame->checked;
		stack->kept[count] = *frame;
		stack->kept[count].node = path;
		stack->kept[count].first_check = checks;
		stack->kept[count].unchecked = unchecked;
		for (uint32_t c = frame->first_check; c < end; c++)
			stack->checks[checks++] = stack->fresh_checks[c];
		count++;
	}
	thread->kept_count = fits ? count : 0;
	thread->kept_named = count;
	thread->kept_checks = checks;
	thread->kept_complete = walk->complete;
	return path;
}

/* Both ends of a stack that is too deep, and a cut between them. */
static uint32_t merge_deep(struct walk *walk, uint32_t standing)
{
	struct fg_stack *stack = walk->stack;
	const uint32_t edge = FG_TRACE_FRAMES_EDGE;
	uint32_t path = standing ? stack->kept[standing - 1].node : 0;

	walk->thread->kept_count = 0;
	walk->thread->kept_named = 0;
	fg__lose(FG_LOSS_DEEP, 1);
	for (uint32_t i = 0; i < edge; i++) {
		uint32_t id = stack->edge[(walk->total - 1 - i) % edge];

		path = id ? fg__path_extend(walk->thread, path, id) : 0;
		if (!path)
			return 0;
	}
	path = fg__path_cut(walk->thread, path, walk->total - 2 * (uint64_t)edge);
	for (uint32_t i = edge; i-- > 0 && path;)
		path = fg__path_extend(walk->thread, path, stack->fresh[i].id);
	return path;
}

static void count_frames(const struct walk *walk, uint32_t standing)
{
	struct fg_trace_header *header = atomic_load_explicit(&fg_g.header, memory_order_relaxed);

	if (header) {
		fg__count(&header->frames, walk->total + standing);
		fg__count(&header->frames_reused, standing);
	}
}

struct fg_walk_result fg__walk(struct fg_thread *thread, const ucontext_t *context)
{
	struct walk walk = {.thread = thread,
			    .stack = thread->stack,
			    .leaf = context,
			    .start = context,
			    .exact = true};
	const uint32_t epoch = atomic_load(&fg_g.epoch);
	uint32_t standing;

	walk.regs.pc = fg_arch_register(context, FG_DWARF_RA);
	walk.regs.sp = fg_arch_register(context, FG_DWARF_SP);
	walk.regs.bp = fg_arch_register(context, FG_DWARF_BP);
	enter_stack(&walk);
	if (epoch != thread->kept_epoch)
		thread->kept_count = 0;
	thread->kept_epoch = epoch;
	walk.kept = thread->kept_count;
	standing = walk_out(&walk);
	if (standing)
		walk.complete = true;
	count_frames(&walk, standing);

	struct fg_walk_result result = {0, !walk.complete};

	if (walk.total > FG_TRACE_FRAMES_MAX)
		result.path = merge_deep(&walk, standing);
	else
		result.path = merge(&walk, standing);
	return result;
}
