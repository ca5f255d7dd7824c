/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads that are sampled. A slot is taken when a thread begins and given back when it ends;
 * the slot's chunk of the trace and its memory pass to the next thread.
 */
#ifndef FG_COLLECTOR_THREADS_H
#define FG_COLLECTOR_THREADS_H

#include "collector/sampler/state.h"

/* Takes a free slot, with its memory; NULL: none. Uses mmap. */
struct fg_thread *fg_thread_new(void);
void fg_thread_free(struct fg_thread *thread);
/* Begins to sample the calling thread. */
void fg_thread_attach(struct fg_thread *thread, enum fg_thread_kind kind);
/*
 * Stops the thread's clocks and writes its totals. The slot stays taken. `is_last`: no other thread
 * will take a sample.
 */
void fg_thread_detach(struct fg_thread *thread, bool is_last);
/* Stops the thread's clocks, if they run. */
void fg_thread_stop(struct fg_thread *thread);
/* Writes FG_RECORD_THREAD_BEGIN, unless the trace has it already. */
void fg_thread_announce(struct fg_thread *thread);
/*
 * Calls `visit` with the slot and number of every thread but `writer`. Waits for a thread that is
 * using its own tables, but not forever.
 */
void fg_threads_visit_others(struct fg_thread *writer,
			     void (*visit)(struct fg_thread *writer, uint32_t slot,
					   uint32_t thread));
/* Waits until every running handler of another thread has ended, but not forever. */
void fg_threads_wait_for_handlers(const struct fg_thread *thread);
/* Can the kernel show a visitor which threads count? Call before any thread counts. */
bool fg_threads_can_count(void);

/*
 * Locks the calling thread's own tables without an atomic operation, which would take longer than
 * counting a call. The lock keeps out the thread's handlers, as `busy` does. A visitor announces
 * itself, makes all threads pass a fence, and then sees which threads count. False: the thread is
 * already inside the collector, or has a visitor.
 */
static inline bool fg_thread_count_begin(struct fg_thread *thread)
{
	if (fg_thread_is_counting(thread))
		return false;
	atomic_store_explicit(&thread->counting, 1, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	if (FG_LIKELY(!atomic_load_explicit(&thread->busy, memory_order_acquire) &&
		      !atomic_load_explicit(&fg_g.visiting, memory_order_acquire)))
		return true;
	atomic_store_explicit(&thread->counting, 0, memory_order_release);
	return false;
}

static inline void fg_thread_count_end(struct fg_thread *thread)
{
	atomic_store_explicit(&thread->counting, 0, memory_order_release);
}

/* Gets the calling thread's name from the kernel; "" in a sandbox. */
void fg_thread_name_get(char name[FG_NAME_SIZE]);
/*
 * `thread` writes FG_RECORD_THREAD_NAME of `named` if the name has changed. Call under the `busy`
 * of `thread`.
 */
void fg_thread_name_write(struct fg_thread *thread, struct fg_thread *named, const char *name);
/*
 * Call when the program is about to enter a sandbox: from then on the clocks must run without a
 * system call.
 */
void fg_threads_enter_sandbox(void);
/* In a child of fork: forgets the parent's clocks. */
void fg_threads_forget(void);
/* Gets CPU time and context switches of the process, as the kernel counts them. */
void fg_process_used(struct fg_process_use *use);
/* Gets the kernel's totals for the calling thread. */
void fg_thread_times(struct fg_times *times);

#endif
