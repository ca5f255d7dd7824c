// SPDX-License-Identifier: Apache-2.0
/*
 * A region is a node of a tree: (parent region, name).  Beginning one is a look-up in a small
 * lock-free table and a push onto the thread's stack; nothing is written.  The trace hears of the
 * current region when a sample is taken in it, and of the totals when the thread ends.
 *
 * Handlers read `region` and nothing else here, so plain order of stores is enough; what is written
 * to the trace in normal context is written under `busy`.
 */
#include "collector/regions.h"

#include "collector/handler.h"
#include "collector/process.h"
#include "collector/threads.h"
#include "collector/writer.h"
#include "include/fastgate/region.h"

#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum {
	NAMES_MAX = FG_NAMES_MAX / 2, /* of a table twice as large */
	NAME_SIZE = 256,
};

struct name {
	_Atomic uint32_t state; /* 0 free, 1 being written, 2 ready */
	uint32_t hash;
	char text[NAME_SIZE];
};

struct region {
	_Atomic uint64_t key; /* parent << 32 | name */
	_Atomic uint32_t id;
	uint32_t unused;
};

static struct name names[FG_NAMES_MAX]; /* untouched pages of these cost nothing */
static struct region regions[FG_REGIONS_MAX * 2];
static uint64_t region_keys[FG_REGIONS_MAX + 1];
static _Atomic uint32_t name_count;
static _Atomic uint32_t region_count;

static bool enter(struct fg_thread *thread)
{
	uint8_t nobody = 0;

	return fg_alive() && thread && atomic_compare_exchange_strong(&thread->busy, &nobody, 1);
}

static void leave(struct fg_thread *thread)
{
	atomic_store(&thread->busy, 0);
}

/* ---- names ---- */

static void write_name(struct fg_thread *thread, uint32_t id, const char *text)
{
	fg_record_begin(thread, FG_RECORD_NAME);
	fg_record_number(thread, id);
	fg_record_text(thread, text, strlen(text));
	(void)fg_record_write(thread);
}

static uint32_t hash_text(const char *text)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; text[i] && i < NAME_SIZE - 1; i++)
		hash = (hash ^ (uint8_t)text[i]) * 16777619u;
	return hash;
}

static uint32_t name_new(struct name *name, const char *text, uint32_t hash, uint32_t id)
{
	name->hash = hash;
	strncpy(name->text, text, NAME_SIZE - 1);
	atomic_store_explicit(&name->state, 2, memory_order_release);
	(void)atomic_fetch_add(&name_count, 1);
	if (enter(fg_self)) {
		write_name(fg_self, id, name->text);
		leave(fg_self);
	}
	return id;
}

uint32_t fg_name_find(const char *text)
{
	const uint32_t mask = FG_ARRAY_SIZE(names) - 1;
	const uint32_t hash = hash_text(text);

	for (uint32_t n = 0, at = hash; n <= mask; n++, at++) {
		struct name *name = &names[at & mask];
		uint32_t state = atomic_load_explicit(&name->state, memory_order_acquire);

		if (state == 0) {
			if (atomic_load(&name_count) >= NAMES_MAX)
				return 0;
			if (atomic_compare_exchange_strong(&name->state, &state, 1))
				return name_new(name, text, hash, (at & mask) + 1);
		}
		if (state == 2 && name->hash == hash &&
		    strncmp(name->text, text, NAME_SIZE - 1) == 0)
			return (at & mask) + 1;
	}
	return 0;
}

/* ---- regions ---- */

static void write_region(struct fg_thread *thread, uint32_t id)
{
	fg_record_begin(thread, FG_RECORD_REGION);
	fg_record_number(thread, id);
	fg_record_number(thread, region_keys[id] >> 32);
	fg_record_number(thread, region_keys[id] & UINT32_MAX);
	(void)fg_record_write(thread);
}

static uint32_t region_new(struct region *region, uint64_t key)
{
	uint32_t id = atomic_fetch_add(&region_count, 1) + 1;

	if (id > FG_REGIONS_MAX) {
		(void)atomic_fetch_sub(&region_count, 1);
		return 0;
	}
	region_keys[id] = key;
	if (enter(fg_self)) {
		write_region(fg_self, id);
		leave(fg_self);
	}
	atomic_store_explicit(&region->id, id, memory_order_release);
	return id;
}

static uint32_t region_find(uint32_t parent, uint32_t name)
{
	const uint32_t mask = FG_ARRAY_SIZE(regions) - 1;
	const uint64_t key = (uint64_t)parent << 32 | name;
	uint32_t at = (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 40);

	for (uint32_t n = 0; n <= mask; n++, at++) {
		struct region *region = &regions[at & mask];
		uint64_t seen = atomic_load_explicit(&region->key, memory_order_acquire);

		if (seen == key)
			return atomic_load_explicit(&region->id, memory_order_acquire);
		if (seen == 0 && atomic_load(&region_count) < FG_REGIONS_MAX &&
		    atomic_compare_exchange_strong(&region->key, &seen, key))
			return region_new(region, key);
	}
	return 0;
}

void fg_mark_region_begin(uint32_t name)
{
	struct fg_thread *thread = fg_self;

	if (!fg_alive() || !thread)
		return;
	const uint32_t depth = thread->region_depth++;

	if (depth >= FG_REGION_DEPTH_MAX)
		return;
	uint32_t id = name ? region_find(thread->region, name) : 0;

	thread->region_stack[depth] = thread->region;
	thread->region_begin[depth] = fg_clock_ns(CLOCK_MONOTONIC);
	if (id)
		thread->region = id;
}

void fg_mark_region_end(void)
{
	struct fg_thread *thread = fg_self;

	if (!fg_alive() || !thread || thread->region_depth == 0)
		return;
	const uint32_t depth = --thread->region_depth;

	if (depth >= FG_REGION_DEPTH_MAX)
		return;
	if (thread->region != thread->region_stack[depth]) {
		struct fg_region_times *times = &thread->stack->times[thread->region];

		times->entered++;
		times->ns += fg_clock_ns(CLOCK_MONOTONIC) - thread->region_begin[depth];
	}
	thread->region = thread->region_stack[depth];
}

void fg_region_end_name(uint32_t name)
{
	const struct fg_thread *thread = fg_self;
	uint32_t region = thread ? thread->region : 0;
	uint32_t levels = 1;

	/* Not begun here: nothing to end. */
	for (; region && (region_keys[region] & UINT32_MAX) != name; levels++)
		region = (uint32_t)(region_keys[region] >> 32);
	while (region && levels--)
		fg_mark_region_end();
}

/* ---- units ---- */

static void write_unit(struct fg_thread *thread, enum fg_trace_record kind)
{
	if (!enter(thread))
		return;
	if (fg_ensure_file(thread)) {
		fg_thread_announce(thread);
		fg_record_begin(thread, kind);
		fg_record_number(thread, thread->id);
		fg_record_number(thread, thread->unit_name);
		fg_record_number(thread, thread->unit_number);
		fg_record_number(thread, fg_clock_ns(CLOCK_MONOTONIC));
		(void)fg_record_write(thread);
	}
	leave(thread);
}

void fg_mark_unit_begin(uint32_t name, uint64_t number)
{
	struct fg_thread *thread = fg_self;
	const struct fg_options *options = &fg_g.options;

	if (!fg_alive() || !thread || !name)
		return;
	if (thread->unit_name)
		fg_mark_unit_end();
	if (options->has_units && number >= options->unit_first && number <= options->unit_last)
		fg_sampling_set(true);
	thread->unit_name = name;
	thread->unit_number = number;
	write_unit(thread, FG_RECORD_UNIT_BEGIN);
}

void fg_mark_unit_end(void)
{
	struct fg_thread *thread = fg_self;
	const struct fg_options *options = &fg_g.options;

	if (!fg_alive() || !thread || !thread->unit_name)
		return;
	write_unit(thread, FG_RECORD_UNIT_END);
	thread->unit_name = 0;
	if (options->has_units && thread->unit_number >= options->unit_last)
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

/* ---- files and threads ---- */

void fg_regions_rewrite(struct fg_thread *thread)
{
	for (uint32_t i = 0; i < FG_ARRAY_SIZE(names) && atomic_load(&name_count); i++)
		if (atomic_load_explicit(&names[i].state, memory_order_acquire) == 2)
			write_name(thread, i + 1, names[i].text);
	for (uint32_t id = 1; id <= atomic_load(&region_count) && id <= FG_REGIONS_MAX; id++)
		if (region_keys[id])
			write_region(thread, id);
}

void fg_regions_inherit(struct fg_thread *thread, const struct fg_thread *parent)
{
	const uint32_t depth = parent->region_depth;

	thread->region = parent->region;
	thread->region_depth = depth;
	memcpy(thread->region_stack, parent->region_stack, sizeof(thread->region_stack));
	for (uint32_t i = 0; i < depth && i < FG_REGION_DEPTH_MAX; i++)
		thread->region_begin[i] = thread->begin_ns;
	memset(thread->stack->times, 0, sizeof(thread->stack->times));
}

void fg_regions_finish(struct fg_thread *thread)
{
	struct fg_region_times *times = thread->stack->times;

	if (!thread->written)
		return;
	if (thread->unit_name) {
		atomic_store(&thread->busy, 0);
		write_unit(thread, FG_RECORD_UNIT_END);
		atomic_store(&thread->busy, 1);
		thread->unit_name = 0;
	}
	while (thread->region_depth)
		fg_mark_region_end();
	for (uint32_t id = 1; id <= atomic_load(&region_count) && id <= FG_REGIONS_MAX; id++) {
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

/* ---- what a program finds by dlsym() ---- */

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
};
