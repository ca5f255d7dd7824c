// SPDX-License-Identifier: Apache-2.0
#include "collector/calls/call_times.h"

#include "collector/calls/calls.h"
#include "collector/counting/own_memory.h"
#include "collector/sampler/writer.h"

#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum {
	OPEN_MAX = 1 << 16, /* maximum depth of nested timed calls */
};

struct open_call {
	struct fg_timed_call call;
	uint64_t start_ns;
	uint64_t ours_ns;  /* the collector's time in this thread before the call */
	uint64_t inner_ns; /* time of nested timed calls that ended */
	bool is_outermost;
};

struct thread_calls {
	uint64_t ours_ns; /* the collector's own time */
	uint32_t count;
	uint32_t open_of[FG_CALLED_MAX];
	struct open_call calls[OPEN_MAX];
};

/* Indexed by slot, parallel to fg_g.threads. */
static struct thread_calls *all[FG_THREADS_MAX];

static uint64_t look_ns; /* shortest time of a clock reading */

void fg_call_clock_begin(void)
{
	enum {
		TRIES = 64
	};
	uint64_t least = UINT64_MAX;

	for (unsigned i = 0; i < TRIES; i++) {
		const uint64_t before = fg_call_clock();
		const uint64_t ns = fg_call_clock() - before;

		least = ns < least ? ns : least;
	}
	look_ns = least;
}

uint64_t fg_call_clock(void)
{
	return fg_clock_ns(CLOCK_MONOTONIC);
}

static struct thread_calls *calls_of(const struct fg_thread *thread)
{
	struct thread_calls **calls = &all[thread->index];

	if (!*calls)
		*calls = fg_own_map(sizeof(**calls), MAP_NORESERVE);
	return *calls;
}

static void drop_last(struct thread_calls *calls)
{
	const struct open_call *last = &calls->calls[--calls->count];

	calls->open_of[last->call.function]--;
}

/* Stacks of signal handlers and coroutines lie elsewhere, so their depth means nothing here. */
static bool are_on_one_stack(const struct fg_thread *thread, uintptr_t a, uintptr_t b)
{
	const bool is_first_ours = a >= thread->stack_low && a <= thread->stack_high;
	const bool is_second_ours = b >= thread->stack_low && b <= thread->stack_high;

	return is_first_ours && is_second_ours;
}

/*
 * A call that begins at or outside an open call's frame shows that the open call was abandoned. Two
 * calls of one frame (a function and a function inlined into it) have the same stack pointer; only
 * their call sites differ.
 */
static bool has_left(const struct fg_thread *thread, const struct fg_timed_call *open,
		     const struct fg_timed_call *fresh)
{
	if (!are_on_one_stack(thread, open->sp, fresh->sp) || open->sp > fresh->sp)
		return false;
	return open->sp < fresh->sp || open->site == fresh->site;
}

static void drop_left(const struct fg_thread *thread, struct thread_calls *calls,
		      const struct fg_timed_call *fresh)
{
	uint32_t from = calls->count;

	for (uint32_t i = calls->count; i > 0; i--) {
		const struct fg_timed_call *open = &calls->calls[i - 1].call;

		if (has_left(thread, open, fresh))
			from = i - 1;
		else if (open->sp != fresh->sp)
			break;
	}
	while (calls->count > from)
		drop_last(calls);
}

bool fg_call_begin(const struct fg_thread *thread, const struct fg_timed_call *call)
{
	struct thread_calls *calls = calls_of(thread);

	if (!calls)
		return false;
	drop_left(thread, calls, call);
	if (calls->count == OPEN_MAX)
		return false;
	calls->calls[calls->count++] =
		(struct open_call){.call = *call, .is_outermost = !calls->open_of[call->function]};
	calls->open_of[call->function]++;
	return true;
}

void fg_call_go(const struct fg_thread *thread, uint64_t entered, bool is_timed)
{
	struct thread_calls *calls = all[thread->index];
	const uint64_t now = fg_call_clock();

	if (!calls)
		return;
	calls->ours_ns += now - entered;
	if (!is_timed)
		return;
	calls->calls[calls->count - 1].ours_ns = calls->ours_ns;
	calls->calls[calls->count - 1].start_ns = now;
}

static void add(struct fg_call_times *times, const struct open_call *open, uint64_t ns)
{
	times->min_ns = times->returned && times->min_ns < ns ? times->min_ns : ns;
	times->max_ns = times->max_ns > ns ? times->max_ns : ns;
	times->returned++;
	times->total_ns += ns;
	times->own_ns += ns > open->inner_ns ? ns - open->inner_ns : 0;
	times->outermost_ns += open->is_outermost ? ns : 0;
	times->bins[fg_call_time_bin(ns)]++;
}

/* Returns the index + 1 of the call that ends; 0: its start was not seen. */
static uint32_t find_end(const struct thread_calls *calls, uint32_t function, uintptr_t sp)
{
	for (uint32_t i = calls->count; i > 0; i--) {
		const struct fg_timed_call *open = &calls->calls[i - 1].call;

		if (open->function == function && open->sp == sp)
			return i;
	}
	return 0;
}

void fg_call_end(const struct fg_thread *thread, uint32_t function, uintptr_t sp, uint64_t now)
{
	struct thread_calls *calls = all[thread->index];
	const uint32_t found = calls ? find_end(calls, function, sp) : 0;
	struct open_call *open = NULL;

	if (!found)
		return;
	while (calls->count > found)
		drop_last(calls);
	open = &calls->calls[found - 1];

	const uint64_t whole = now - open->start_ns;
	const uint64_t ours = calls->ours_ns - open->ours_ns + look_ns;
	const uint64_t ns = whole > ours ? whole - ours : 0;

	add(open->call.times, open, ns);
	if (found > 1)
		calls->calls[found - 2].inner_ns += ns;
	drop_last(calls);
	calls->ours_ns += fg_call_clock() - now;
}

void fg_call_times_forget(uint32_t slot)
{
	struct thread_calls *calls = all[slot];

	if (!calls)
		return;
	calls->count = 0;
	memset(calls->open_of, 0, sizeof(calls->open_of));
}

void fg_call_times_forget_all(void)
{
	for (uint32_t i = 0; i < FG_THREADS_MAX; i++)
		fg_call_times_forget(i);
}

void fg_call_times_take(struct fg_thread *writer, struct fg_call_times *times)
{
	fg_record_number(writer, times->returned);
	fg_record_number(writer, times->total_ns);
	fg_record_number(writer, times->own_ns);
	fg_record_number(writer, times->min_ns);
	fg_record_number(writer, times->max_ns);
	for (unsigned i = 0; i < FG_CALL_TIME_BINS; i++) {
		if (!times->bins[i])
			continue;
		fg_record_number(writer, i);
		fg_record_number(writer, times->bins[i]);
	}
	*times = (struct fg_call_times){0};
}
