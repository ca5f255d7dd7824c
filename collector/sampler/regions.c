// SPDX-License-Identifier: Apache-2.0
/*
 * A region is a node of a tree: (parent region, name). Beginning a known region is a lookup in a
 * small lock-free table and a push onto the thread's stack; nothing is written. The trace gets the
 * current region when a sample is taken in it, a span when a region of FG_SPAN_MIN_NS or longer
 * ends, and the totals when the thread ends.
 *
 * Handlers read only the current region and its recent changes, so ordinary stores in program order
 * are enough; normal context writes to the trace under `busy`.
 */
#include "collector/sampler/regions.h"

#include "collector/counting/count_hooks.h"
#include "collector/process/threads.h"
#include "collector/sampler/introduce.h"
#include "collector/sampler/kernel.h"
#include "collector/sampler/region_table.h"
#include "collector/sampler/sampling.h"
#include "collector/sampler/writer.h"
#include "include/fastgate/region.h"

#include <string.h>

/*
 * Returns the current time; 0 while sampling is off, when entries and times are not recorded
 * either.
 */
static uint64_t recorded_from(void)
{
	const uint64_t now_ns = fg_clock_ns(CLOCK_MONOTONIC);

	return fg_sampling_on(now_ns) ? now_ns : 0;
}

/* Changes the region. Keeps the change if samples of an earlier time may need it (fg_region_at). */
static void go_to(struct fg_thread *thread, uint32_t region, uint64_t now_ns)
{
	struct fg_thread_regions *regions = &thread->regions;

	if (fg_kernel_is_clock(thread) && now_ns) {
		regions->step[regions->steps % FG_REGION_STEPS] =
			(struct fg_region_step){now_ns, regions->current};
		atomic_signal_fence(memory_order_seq_cst);
		regions->steps++;
	}
	regions->current = region;
}

uint32_t fg_region_at(const struct fg_thread *thread, uint64_t time_ns)
{
	const struct fg_thread_regions *regions = &thread->regions;
	uint32_t region = regions->current;

	for (uint32_t n = 1; n <= FG_REGION_STEPS && n <= regions->steps; n++) {
		const struct fg_region_step *step =
			&regions->step[(regions->steps - n) % FG_REGION_STEPS];

		if (step->time_ns <= time_ns)
			break;
		region = step->before;
	}
	return region;
}

void fg_mark_region_begin(uint32_t name)
{
	struct fg_thread *thread = fg_self;

	if (!fg_alive() || !thread)
		return;
	const uint32_t depth = thread->regions.depth++;

	if (depth >= FG_REGION_DEPTH_MAX)
		return;
	uint32_t id = name ? fg_region_find(thread->regions.current, name) : 0;

	thread->regions.outer[depth] = thread->regions.current;
	thread->regions.begin_ns[depth] = recorded_from();
	if (id)
		go_to(thread, id, thread->regions.begin_ns[depth]);
}

static void write_event(struct fg_thread *thread, enum fg_trace_record kind,
			const uint64_t numbers[3])
{
	if (!fg_thread_enter(thread))
		return;
	if (fg_ensure_file(thread)) {
		fg_thread_announce(thread);
		fg_record_begin(thread, kind);
		fg_record_number(thread, thread->id);
		for (int i = 0; i < 3; i++)
			fg_record_number(thread, numbers[i]);
		(void)fg_record_write(thread);
	}
	fg_thread_leave(thread);
}

void fg_mark_region_end(void)
{
	struct fg_thread *thread = fg_self;

	if (!fg_alive() || !thread || thread->regions.depth == 0)
		return;
	const uint32_t depth = --thread->regions.depth;
	uint64_t now_ns = 0;

	if (depth >= FG_REGION_DEPTH_MAX)
		return;
	if (thread->regions.current != thread->regions.outer[depth] &&
	    thread->regions.begin_ns[depth]) {
		const uint64_t begin_ns = thread->regions.begin_ns[depth];
		struct fg_region_times *times = &thread->stack->times[thread->regions.current];

		now_ns = fg_clock_ns(CLOCK_MONOTONIC);
		times->entered++;
		times->ns += now_ns - begin_ns;
		if (now_ns - begin_ns >= FG_SPAN_MIN_NS)
			write_event(thread, FG_RECORD_REGION_SPAN,
				    (uint64_t[]){thread->regions.current, begin_ns, now_ns});
	}
	go_to(thread, thread->regions.outer[depth], now_ns);
}

void fg_region_end_name(uint32_t name)
{
	const struct fg_thread *thread = fg_self;
	uint32_t region = thread ? thread->regions.current : 0;
	uint32_t levels = 1;

	/* If no open region of this thread has the name, nothing ends. */
	for (; region && fg_region_name(region) != name; levels++)
		region = fg_region_parent(region);
	while (region && levels--)
		fg_mark_region_end();
}

/* ---- units ---- */

static void write_unit(struct fg_thread *thread, enum fg_trace_record kind)
{
	const struct fg_thread_regions *r = &thread->regions;

	write_event(thread, kind,
		    (uint64_t[]){r->unit_name, r->unit_number, fg_clock_ns(CLOCK_MONOTONIC)});
}

void fg_mark_unit_begin(uint32_t name, uint64_t number)
{
	struct fg_thread *thread = fg_self;
	const struct fg_options *options = &fg_g.options;

	if (!fg_alive() || !thread || !name)
		return;
	if (thread->regions.unit_name)
		fg_mark_unit_end();
	if (options->has_units && number >= options->unit_first && number <= options->unit_last)
		fg_sampling_set(true);
	thread->regions.unit_name = name;
	thread->regions.unit_number = number;
	thread->regions.unit_written = recorded_from() != 0;
	if (thread->regions.unit_written)
		write_unit(thread, FG_RECORD_UNIT_BEGIN);
}

void fg_mark_unit_end(void)
{
	struct fg_thread *thread = fg_self;
	const struct fg_options *options = &fg_g.options;

	if (!fg_alive() || !thread || !thread->regions.unit_name)
		return;
	if (thread->regions.unit_written)
		write_unit(thread, FG_RECORD_UNIT_END);
	thread->regions.unit_name = 0;
	if (options->has_units && thread->regions.unit_number >= options->unit_last)
		fg_sampling_set(false);
}

void fg_mark_pause(void)
{
	fg_sampling_set(false);
}

void fg_mark_resume(void)
{
	fg_sampling_set(true);
}

static void mark_dump(void)
{
	if (fg_alive() && fg_count_hooks && fg_count_hooks->dump)
		fg_count_hooks->dump();
}

/* ---- files and threads ---- */

void fg_regions_inherit(struct fg_thread *thread, const struct fg_thread *parent)
{
	const uint32_t depth = parent->regions.depth;

	thread->regions.current = parent->regions.current;
	thread->regions.depth = depth;
	memcpy(thread->regions.outer, parent->regions.outer, sizeof(thread->regions.outer));
	for (uint32_t i = 0; i < depth && i < FG_REGION_DEPTH_MAX; i++)
		thread->regions.begin_ns[i] = thread->begin_ns;
	memset(thread->stack->times, 0, sizeof(thread->stack->times));
}

void fg_regions_finish(struct fg_thread *thread)
{
	struct fg_region_times *times = thread->stack->times;

	if (!thread->written)
		return;
	if (thread->regions.unit_name || thread->regions.depth) {
		fg_thread_leave(thread);
		if (thread->regions.unit_name && thread->regions.unit_written)
			write_unit(thread, FG_RECORD_UNIT_END);
		thread->regions.unit_name = 0;
		while (thread->regions.depth)
			fg_mark_region_end();
		atomic_store(&thread->busy, 1);
	}
	for (uint32_t id = 1; id <= fg_region_count(); id++) {
		if (!times[id].entered)
			continue;
		fg_record_begin(thread, FG_RECORD_REGION_TIMES);
		fg_record_number(thread, thread->id);
		fg_record_number(thread, id);
		fg_record_number(thread, times[id].entered);
		fg_record_number(thread, times[id].ns);
		(void)fg_record_write(thread);
		times[id] = (struct fg_region_times){0, 0};
	}
}

/* ---- functions that a program finds by dlsym() ---- */

FG_EXPORT const struct fg_region_api fastgate_region_api_1 = {
	.version = FG_REGION_API_VERSION,
	.size = sizeof(struct fg_region_api),
	.name = fg_name_find,
	.region_begin = fg_mark_region_begin,
	.region_end = fg_mark_region_end,
	.unit_begin = fg_mark_unit_begin,
	.unit_end = fg_mark_unit_end,
	.pause = fg_mark_pause,
	.resume = fg_mark_resume,
	.dump = mark_dump,
};
