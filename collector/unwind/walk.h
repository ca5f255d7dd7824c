/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks from an interrupted thread to the number of its call path. Signal-safe; one walk per thread
 * at a time.
 */
#ifndef FG_COLLECTOR_WALK_H
#define FG_COLLECTOR_WALK_H

#include "collector/sampler/state.h"

/* Is the calling thread on a stack that is not its own, which may be too small for a walk? */
static inline bool fg_is_on_small_stack(const struct fg_thread *thread)
{
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	return here < thread->stack_low || here >= thread->stack_high;
}

struct fg_walk_result {
	uint32_t path; /* 0: no stack */
	bool truncated;
	bool needs_registers; /* the walk ended early because it lacked registers */
	uint32_t frames;
	uint32_t frames_reused; /* frames taken from the kept stack */
};

/*
 * Steps from a frame to its caller and sets `regs` to the caller's. Returns false if no rule
 * applies to these registers alone.
 */
bool fg_stack_step(struct fg_thread *thread, struct fg_regs *regs);
struct fg_walk_result fg_stack_walk(struct fg_thread *thread, const ucontext_t *context);
/*
 * Like fg_stack_walk(), from a call: `caller` has the registers that a walk carries, as they are
 * after the return. If the result has needs_registers, walk from a context instead.
 */
struct fg_walk_result fg_stack_walk_caller(struct fg_thread *thread, const struct fg_regs *caller);
/*
 * Call after fg_stack_walk_caller(). Lists the words of the thread's own stack, innermost first,
 * that alone decided the path from `caller`. While they are unchanged, a call with this pc and sp,
 * and this bp if *needs_bp is set, has the same path. A frame pointer that no frame's rule uses
 * decides nothing, although frames save it. Returns 0 if there are more words than `room`, or the
 * path depended on anything else.
 */
uint32_t fg_stack_words(const struct fg_thread *thread, const struct fg_regs *caller,
			struct fg_check *words, uint32_t room, bool *needs_bp);

#endif
