// SPDX-License-Identifier: Apache-2.0
/* Walks from calls; most calls come from the same place as the previous call. */
#include "collector/unwind/modules.h"
#include "collector/unwind/paths.h"
#include "collector/unwind/walk_state.h"

#include <string.h>

/*
 * Returns the table's entry for the pc of this call, if its rule leads to the same caller as the
 * rule of the kept frame, by the same words of the stack. NULL: no such entry.
 */
static const struct fg_frame_entry *same_path_entry(const struct fg_trail *kept,
						    const struct fg_walk_frame *frame,
						    const struct fg_regs *regs)
{
	const struct fg_frame_look look = fg_frame_look();
	const struct fg_frame_entry *entry = fg_frame_glance(&look, regs->pc);
	const struct fg_walk_frame *caller = frame + 1;
	const struct fg_check *check = &kept->checks[frame->first_check];
	const uint64_t rule = entry ? atomic_load_explicit(&entry->rule, memory_order_acquire) : 0;
	const enum fg_rule_kind kind = fg_rule_kind(rule);
	uintptr_t cfa = (uintptr_t)(intptr_t)fg_rule_offset(rule);

	if (!entry || (kind != FG_RULE_CFA && kind != FG_RULE_CFA_BP) ||
	    (look.any_gone && !fg_module_live(entry->module)))
		return NULL;
	if (fg_rule_register(rule) == FG_DWARF_SP)
		cfa += regs->sp;
	else if (fg_rule_register(rule) == FG_DWARF_BP)
		cfa += regs->bp;
	else
		return NULL;
	if (cfa != caller->regs.sp || caller->first_check != frame->first_check +
								     (kind == FG_RULE_CFA_BP) +
								     FG_ARCH_LINK_REGISTER)
		return NULL;
	if (FG_ARCH_LINK_REGISTER &&
	    check[kind == FG_RULE_CFA_BP].address != fg_rule_return_at(rule, cfa))
		return NULL;
	if (kind == FG_RULE_CFA)
		return caller->regs.bp == regs->bp ? entry : NULL;
	return check->address == cfa + (uintptr_t)(intptr_t)fg_rule_bp_offset(rule) ? entry : NULL;
}

/*
 * Returns the path of a call made by the innermost function of the kept stack, from the same place
 * or another place, as fg_walk_from() would find it. 0: a walk is needed.
 */
static uint32_t path_of_next_call(struct fg_thread *thread, const struct fg_regs *caller)
{
	struct fg_trail *kept = &thread->stack->trails[thread->kept.trail];
	const uint32_t first = thread->kept.end - thread->kept.count;
	struct fg_walk_frame *frame = &kept->frames[first];
	const struct fg_frame_entry *entry = NULL;
	bool is_same = false;

	if (thread->kept.mixed || thread->kept.count < 2 || !thread->kept.complete ||
	    first < thread->kept.checked_from || thread->kept.epoch != atomic_load(&fg_g.epoch) ||
	    frame->regs.sp != caller->sp || frame->exact)
		return 0;
	is_same = fg_same_regs(&frame->regs, caller);
	if (!is_same)
		entry = same_path_entry(kept, frame, caller);
	if ((!is_same && !entry) || !fg_rest_holds(thread, kept, first))
		return 0;
	if (is_same)
		return frame->node;
	frame->regs = *caller;
	frame->id = entry->id;
	fg_note_bp(frame, atomic_load_explicit(&entry->rule, memory_order_acquire));
	frame->node = fg_path_extend(thread, frame[1].node, entry->id);
	if (!frame->node)
		thread->kept.count = 0;
	return frame->node;
}

struct fg_walk_result fg_stack_walk_caller(struct fg_thread *thread, const struct fg_regs *caller)
{
	const uint32_t path = path_of_next_call(thread, caller);

	if (FG_LIKELY(path != 0))
		return (struct fg_walk_result){.path = path,
					       .frames = thread->kept.count,
					       .frames_reused = thread->kept.count};
	return fg_walk_from(thread, caller, NULL);
}

/* A list of words that is filled from its end, so that the innermost word comes first. */
struct word_list {
	struct fg_check *words;
	uint32_t at;
};

static bool put(struct word_list *list, uintptr_t address, uintptr_t value)
{
	if (list->at == 0)
		return false;
	list->words[--list->at] = (struct fg_check){address, value};
	return true;
}

/* Adds the words on which the step from this frame to its caller depended; false: no room. */
static bool put_frame(struct word_list *list, const struct fg_thread *thread, uint32_t index,
		      bool is_bp_needed)
{
	const struct fg_trail *kept = &thread->stack->trails[thread->kept.trail];
	const struct fg_walk_frame *frame = &kept->frames[index];
	const bool is_last = index + 1 == thread->kept.end;
	const uint32_t from = frame->first_check + (frame->restores_bp && !is_bp_needed);
	const uint32_t to = is_last ? thread->kept.checks_end : frame[1].first_check;

	for (uint32_t i = to; i-- > from;)
		if (!put(list, kept->checks[i].address, kept->checks[i].value))
			return false;
#if FG_ARCH_LINK_REGISTER
	return true;
#else
	return is_last || put(list, fg_return_address_at(frame[1].regs.sp), frame[1].regs.pc);
#endif
}

uint32_t fg_stack_words(const struct fg_thread *thread, const struct fg_regs *caller,
			struct fg_check *words, uint32_t room, bool *needs_bp)
{
	const struct fg_thread_kept *is = &thread->kept;
	const struct fg_walk_frame *frames = thread->stack->trails[is->trail].frames;
	const uint32_t first = is->end - is->count;
	struct word_list list = {words, room};
	bool is_bp_needed = false;

	if (is->count == 0 || is->mixed || !is->complete || first < is->checked_from ||
	    is->epoch != atomic_load(&fg_g.epoch) || frames[first].exact ||
	    !fg_same_regs(&frames[first].regs, caller))
		return 0;
	for (uint32_t i = is->end; i-- > first;) {
		if (!put_frame(&list, thread, i, is_bp_needed))
			return 0;
		is_bp_needed = frames[i].uses_bp || (is_bp_needed && !frames[i].restores_bp);
	}
	memmove(words, words + list.at, (room - list.at) * sizeof(*words));
	*needs_bp = is_bp_needed;
	return room - list.at;
}
