/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which functions of the kernel a thread's system time was spent in.
 *
 * Where the kernel may be sampled, a thread that uses system time gets a second perf event.  It
 * sees the kernel alone and raises no signal, so no call is cut short: it writes into a ring of
 * memory where the thread was in the kernel, and where the program had entered it.  The clocks and
 * what a sample weighs are what they would be without it.  A sample that meets the thread in the
 * kernel finds in the ring what the kernel did at this place.
 *
 * The event lives as long as the ring is mapped and has no descriptor.  A child of fork() has
 * neither.
 */
#ifndef FG_COLLECTOR_KERNEL_H
#define FG_COLLECTOR_KERNEL_H

#include "collector/sampler/state.h"

enum {
	FG_KERNEL_PIECES_MAX = 32,
};

/* A part of a sample's weight and the call path that it belongs to. */
struct fg_kernel_piece {
	uint32_t path;
	uint64_t weight_ns;
};

/*
 * Starts looking, if wanted and permitted; stops if the thread leaves its CPU so often that it
 * costs too much. Call from the thread itself.
 */
void fg_kernel_watch(struct fg_thread *thread);
/* The thread uses no more system time, or ends. */
void fg_kernel_unwatch(struct fg_thread *thread);
/* Updates the header's count of its interrupts. Call from the thread itself. */
void fg_kernel_count_interrupts(struct fg_thread *thread);
/* Discards the ring: sampling was off. */
void fg_kernel_skip(struct fg_thread *thread);
/*
 * The thread was found in the kernel below `path` and is given `weight_ns`: what did it do there?
 * The weights of the pieces add up to that.  0 pieces: not known.  Only while it looks, under the
 * thread's `busy`.
 */
unsigned fg_kernel_pieces(struct fg_thread *thread, const ucontext_t *context, uint32_t path,
			  uint64_t weight_ns, struct fg_kernel_piece pieces[FG_KERNEL_PIECES_MAX]);

/*
 * Where system time is sampled at ticks, the event is a clock of its own: each record stands for a
 * period of it, wherever the ticks are.  From the thread itself.
 */
static inline bool fg_kernel_is_clock(const struct fg_thread *thread)
{
	return thread->clocks.kernel_ring && thread->clocks.kernel_stacks;
}

bool fg_kernel_has_new_hits(const struct fg_thread *thread);
/*
 * Adds the records since the last look whose call path is known, as far as there is room; the rest
 * is left for the next look.  Time of the others is added to the thread's `kernel_unknown_ns`.
 * Under the thread's `busy`.
 */
void fg_kernel_collect_hits(struct fg_thread *thread, struct fg_kernel_hits *hits);

#endif
