/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the functions of the kernel in which a thread spends its system time.
 *
 * If the kernel may be sampled, a thread that uses system time gets a second perf event. The event
 * covers only the kernel and raises no signal, so no call is cut short: it writes into a ring of
 * memory where the thread was in the kernel, and where the program had entered it. Unless
 * fg_kernel_is_clock(), it changes neither the clocks nor the weights of samples. A sample that
 * finds the thread in the kernel looks up in the ring what the kernel did at this place.
 *
 * The event lives as long as the ring is mapped and has no descriptor. A child of fork() has
 * neither the event nor the ring.
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
 * Opens the event, if wanted and permitted; closes it if the thread leaves its CPU so often that
 * the event costs too much. Call from the thread itself.
 */
void fg_kernel_watch(struct fg_thread *thread);
/* Call when the thread uses no more system time, or ends. */
void fg_kernel_unwatch(struct fg_thread *thread);
/* Updates the header's count of the event's interrupts. Call from the thread itself. */
void fg_kernel_count_interrupts(struct fg_thread *thread);
/* Discards the records in the ring, which were written while sampling was off. */
void fg_kernel_skip(struct fg_thread *thread);
/*
 * Splits `weight_ns` of a thread that was found in the kernel below `path` among the kernel's call
 * paths. The weights of the pieces add up to `weight_ns`. 0 pieces: unknown. Call only while the
 * event is open, under the thread's `busy`.
 */
unsigned fg_kernel_pieces(struct fg_thread *thread, const ucontext_t *context, uint32_t path,
			  uint64_t weight_ns, struct fg_kernel_piece pieces[FG_KERNEL_PIECES_MAX]);

/*
 * Does the event weigh its own records? If they have stacks, each record is a sample that stands
 * for one period of the event. Call from the thread itself.
 */
static inline bool fg_kernel_is_clock(const struct fg_thread *thread)
{
	return thread->clocks.kernel_ring && thread->clocks.kernel_stacks;
}

bool fg_kernel_has_new_hits(const struct fg_thread *thread);
/*
 * Adds the new records whose call path is known, as far as room and FG_COPY_NEW_FRAMES_MAX allow;
 * further records are left for the next call. The time of records without a known path is added to
 * the thread's `kernel_unknown_ns`. Call under the thread's `busy`.
 */
void fg_kernel_collect_hits(struct fg_thread *thread, struct fg_kernel_hits *hits);

#endif
