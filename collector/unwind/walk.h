/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an interrupted thread to the number of its call path. Signal-safe; one walk per thread at a
 * time.
 */
#ifndef FG_COLLECTOR_WALK_H
#define FG_COLLECTOR_WALK_H

#include "collector/sampler/state.h"

/* The calling thread uses a stack of the program's own, which may be too small for a walk. */
static inline bool fg_is_on_small_stack(const struct fg_thread *thread)
{
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	return here < thread->stack_low || here >= thread->stack_high;
}

struct fg_walk_result {
	uint32_t path; /* 0: no stack */
	bool truncated;
	bool needs_registers; /* it ended early because it lacked registers */
	uint32_t frames;
	uint32_t frames_reused; /* reused ones of these */
};

/*
 * Steps from a frame to its caller and sets `regs` to the caller's; false: no rule that needs only
 * these registers leads there.
 */
bool fg_stack_step(struct fg_thread *thread, struct fg_regs *regs);
struct fg_walk_result fg_stack_walk(struct fg_thread *thread, const ucontext_t *context);
/*
 * The same from a call: `caller` has the registers that a walk carries, as they are after the
 * return.  With needs_registers, walk from a context instead.
 */
struct fg_walk_result fg_stack_walk_caller(struct fg_thread *thread, const struct fg_regs *caller);
/*
 * After that: the words of the thread's own stack that alone decide the way that the walk took from
 * `caller`, the innermost first: as long as they are what they are, a call with this pc, sp and, if
 * *needs_bp says so, bp has the same path.  A frame pointer that no frame's rule uses decides
 * nothing, though frames save it.  0: there are more than `room`, or the way depended on more.
 */
uint32_t fg_stack_words(const struct fg_thread *thread, const struct fg_regs *caller,
			struct fg_check *words, uint32_t room, bool *needs_bp);

#endif
