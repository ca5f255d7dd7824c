// SPDX-License-Identifier: Apache-2.0
#include "collector/unwind/walk_copy.h"

#include "collector/python/python.h"
#include "collector/unwind/paths.h"

#include <string.h>

struct copy_walk {
	struct fg_thread *thread;
	const struct fg_stack_copy *copy;
	struct fg_regs regs;
	uint32_t count; /* number of frames so far */
	uint32_t base;  /* path below the frames; 0: the frames are the whole stack */
	bool exact;
};

enum copy_step {
	COPY_STEP_ON,
	COPY_STEP_END,
	COPY_STEP_LOST,
};

static bool read_word(const struct copy_walk *walk, uintptr_t address, uintptr_t *value)
{
	const uintptr_t offset = address - walk->copy->regs.sp;

	if (address % FG_WORD != 0 || walk->copy->regs.sp % FG_WORD != 0 ||
	    offset >= walk->copy->bytes || walk->copy->bytes - offset < FG_WORD)
		return false;
	memcpy(value,
	       walk->copy->ring + ((walk->copy->begin + offset) & (walk->copy->ring_bytes - 1)),
	       FG_WORD);
	return true;
}

/* bp_at 0: the frame pointer is unchanged. */
static bool step_to(struct copy_walk *walk, uintptr_t cfa, uintptr_t return_at, uintptr_t bp_at)
{
	struct fg_regs caller = {0, cfa, walk->regs.bp};

	if (cfa <= walk->regs.sp || !read_word(walk, return_at, &caller.pc) ||
	    (bp_at && !read_word(walk, bp_at, &caller.bp)))
		return false;
	caller.pc = fg_arch_strip(caller.pc);
	walk->regs = caller;
	walk->exact = false;
	return true;
}

static bool step_to_link(struct copy_walk *walk, uintptr_t cfa)
{
	if (!FG_ARCH_LINK_REGISTER || !walk->exact || cfa < walk->regs.sp)
		return false;
	walk->regs.pc = fg_arch_strip(walk->copy->link);
	walk->regs.sp = cfa;
	walk->exact = false;
	return true;
}

static bool step_by(struct copy_walk *walk, uint64_t rule)
{
	const enum fg_rule_kind kind = fg_rule_kind(rule);
	const unsigned reg = fg_rule_register(rule);
	const uintptr_t bp_offset = (uintptr_t)(intptr_t)fg_rule_bp_offset(rule);
	uintptr_t base = reg == FG_DWARF_BP ? walk->regs.bp : walk->regs.sp;
	uintptr_t cfa = base + (uintptr_t)(intptr_t)fg_rule_offset(rule);

	if (kind >= FG_RULE_SIGNAL || (reg != FG_DWARF_SP && reg != FG_DWARF_BP))
		return false;
	switch (kind) {
	case FG_RULE_CFA:
		return step_to(walk, cfa, fg_rule_return_at(rule, cfa), 0);
	case FG_RULE_CFA_BP:
		return step_to(walk, cfa, fg_rule_return_at(rule, cfa), cfa + bp_offset);
	case FG_RULE_LEAF:
		return step_to_link(walk, cfa);
	case FG_RULE_DEREF:
	case FG_RULE_DEREF_BP:
	case FG_RULE_DEREF_CFA_BP:
		base += (uintptr_t)fg_rule_deref_offset(rule);
		if (!read_word(walk, base, &cfa))
			return false;
		cfa += (uintptr_t)fg_rule_addend(rule);
		if (kind == FG_RULE_DEREF)
			return step_to(walk, cfa, fg_rule_return_at(rule, cfa), 0);
		return step_to(walk, cfa, fg_rule_return_at(rule, cfa),
			       (kind == FG_RULE_DEREF_BP ? walk->regs.bp : cfa) + bp_offset);
	case FG_RULE_PLT:
		if (fg_arch_plt_has_pushed(walk->regs.pc))
			cfa += FG_WORD;
		return step_to(walk, cfa, fg_rule_return_at(rule, cfa), 0);
	default:
		return false;
	}
}

/* Returns the path of this frame in the last stack; 0 if the frame is not in that stack. */
static uint32_t path_in_kept(const struct copy_walk *walk)
{
	const struct fg_thread_kept *kept = &walk->thread->kept;
	const struct fg_walk_frame *frames = walk->thread->stack->trails[kept->trail].frames;
	uint32_t low = kept->end - kept->count;
	uint32_t high = kept->end;

	if (kept->count == 0 || kept->mixed || !kept->complete ||
	    kept->epoch != atomic_load(&fg_g.epoch))
		return 0;
	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (frames[middle].regs.sp < walk->regs.sp)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == kept->end || frames[low].regs.sp != walk->regs.sp ||
	    frames[low].regs.pc != walk->regs.pc || frames[low].regs.bp != walk->regs.bp ||
	    frames[low].exact != walk->exact)
		return 0;
	return frames[low].node;
}

static enum copy_step step(struct copy_walk *walk, uint32_t *new_frames)
{
	const struct fg_frame_info info =
		fg_frame_find_past(walk->thread, walk->regs.pc, walk->exact);

	*new_frames += info.is_new;
	if (!info.id || *new_frames > FG_COPY_NEW_FRAMES_MAX)
		return COPY_STEP_LOST;
	walk->thread->stack->copy_ids[walk->count++] = info.id;
	if (fg_rule_kind(info.rule) == FG_RULE_END)
		return COPY_STEP_END;
	if (step_by(walk, info.rule))
		/* The first function of a thread or coroutine returns to 0. */
		return walk->regs.pc ? COPY_STEP_ON : COPY_STEP_END;
	walk->base = path_in_kept(walk);
	walk->count--; /* the frame is part of that path */
	return walk->base ? COPY_STEP_END : COPY_STEP_LOST;
}

uint32_t fg_stack_walk_copy(struct fg_thread *thread, const struct fg_stack_copy *copy,
			    uint32_t *new_frames)
{
	struct copy_walk walk = {.thread = thread, .copy = copy, .regs = copy->regs, .exact = true};
	enum copy_step how = COPY_STEP_ON;
	uint32_t path = 0;

	if (fg_python_is_on())
		return 0;
	while (how == COPY_STEP_ON && walk.count < FG_COPY_FRAMES)
		how = step(&walk, new_frames);
	if (how != COPY_STEP_END)
		return 0;
	path = walk.base;
	for (uint32_t i = walk.count; i-- > 0;) {
		path = fg_path_extend(thread, path, thread->stack->copy_ids[i]);
		if (!path)
			return 0;
	}
	return path;
}
