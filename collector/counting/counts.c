// SPDX-License-Identifier: Apache-2.0
#include "collector/counting/counts.h"

#include "base/attrs.h"
#include "collector/arch/arch.h"
#include "collector/counting/count_hooks.h"
#include "collector/counting/dumps.h"
#include "collector/counting/live.h"
#include "collector/counting/path_table.h"
#include "collector/process/threads.h"
#include "collector/sampler/introduce.h"
#include "collector/sampler/writer.h"
#include "collector/unwind/paths.h"
#include "collector/unwind/walk.h"

#include <string.h>

enum {
	CACHE_LINE = 64,
};

struct fg_counted *fg_counted[FG_COUNT_TABLES];

/* Begins like struct fg_trace_counts_row. */
struct entry {
	struct fg_path_key key;
	uint32_t unused;
	struct fg_counted_path is;
};
_Static_assert(sizeof(struct entry) == sizeof(struct fg_trace_counts_row),
	       "struct entry must have the size of the reader's row");

struct table {
	_Alignas(CACHE_LINE) struct fg_path_table entries;
	struct entry lost; /* counts of paths for which there was no memory */
};

/* Indexed by slot, parallel to fg_g.threads. */
static struct table tables[FG_COUNT_TABLES][FG_THREADS_MAX];
static _Atomic uint64_t unplaced[FG_COUNT_TABLES][FG_COUNT_KINDS];

static struct entry *entry_of(struct table *table, uint32_t path, uint32_t region)
{
	const struct fg_path_key key = {.path = path, .region = path ? region : 0, .number = 1};
	struct entry *entry = fg_path_table_get(&table->entries, &key);

	return entry ? entry : &table->lost;
}

/* ---- writing the trace ---- */

struct owner {
	enum fg_counter counter;
	uint32_t thread;
	uint32_t region;
	uint32_t path;
};

/* Returns the measure's number in the trace; 0 is reserved. */
static uint32_t measure_of(enum fg_counter counter, unsigned kind)
{
	return (uint32_t)counter * FG_COUNT_KINDS + kind + 1;
}

static void write_counts(struct fg_thread *writer, const struct owner *owner,
			 struct fg_counts *counts)
{
	const struct fg_counts none = {0};

	if (memcmp(counts, &none, sizeof(none)) == 0)
		return;
	fg_record_begin(writer, FG_RECORD_COUNTS);
	fg_record_number(writer, owner->thread);
	fg_record_number(writer, owner->region);
	fg_record_number(writer, owner->path);
	for (unsigned i = 0; i < FG_COUNT_KINDS; i++) {
		if (!counts->values[i])
			continue;
		fg_record_number(writer, measure_of(owner->counter, i));
		fg_record_number(writer, counts->values[i]);
	}
	if (fg_record_write(writer))
		*counts = none;
	else
		fg_count_loss(FG_LOSS_NO_ROOM, 1);
}

static void flush_table(struct fg_thread *writer, enum fg_counter counter, uint32_t slot,
			uint32_t thread)
{
	struct table *table = &tables[counter][slot];
	const struct owner nobody = {.counter = counter, .thread = thread};

	for (uint32_t i = 0; table->entries.entries && i <= table->entries.mask; i++) {
		struct entry *entry = fg_path_table_at(&table->entries, i);

		if (entry)
			write_counts(writer,
				     &(struct owner){counter, thread, entry->key.region,
						     entry->key.path},
				     &entry->is.counts);
	}
	write_counts(writer, &nobody, &table->lost.is.counts);
}

static void flush(struct fg_thread *writer, uint32_t slot, uint32_t thread)
{
	for (unsigned i = 0; i < FG_COUNT_TABLES; i++)
		flush_table(writer, (enum fg_counter)i, slot, thread);
}

static void flush_unplaced(struct fg_thread *writer)
{
	for (unsigned counter = 0; counter < FG_COUNT_TABLES; counter++) {
		const struct owner nobody = {.counter = (enum fg_counter)counter};
		struct fg_counts counts;

		for (unsigned i = 0; i < FG_COUNT_KINDS; i++)
			counts.values[i] = atomic_exchange(&unplaced[counter][i], 0);
		write_counts(writer, &nobody, &counts);
	}
}

void fg_counts_introduce(struct fg_thread *writer, enum fg_counter counter, unsigned kind)
{
	const char *name = fg_counted[counter]->names[kind];

	if (!name)
		return;
	fg_record_begin(writer, FG_RECORD_MEASURE);
	fg_record_number(writer, measure_of(counter, kind));
	fg_record_text(writer, name, strlen(name));
	(void)fg_record_write(writer);
}

static void introduce(struct fg_thread *thread, enum fg_counter counter)
{
	const struct fg_counted *what = fg_counted[counter];

	if (what->begin && !fg_g.lazy)
		what->begin();
	for (unsigned i = 0; i < FG_COUNT_KINDS; i++)
		fg_counts_introduce(thread, counter, i);
	if (what->introduce)
		what->introduce(thread);
	if (what->note)
		(void)fg_note(thread, what->note);
}

static void on_introduce(struct fg_thread *thread)
{
	for (unsigned i = 0; i < FG_COUNT_TABLES; i++)
		if (fg_is_counted((enum fg_counter)i))
			introduce(thread, (enum fg_counter)i);
	if (!fg_g.lazy)
		fg_dumps_begin();
}

static void on_thread_end(struct fg_thread *thread, bool is_last)
{
	flush(thread, thread->index, thread->id);
	if (!is_last)
		return;
	fg_threads_visit_others(thread, flush);
	flush_unplaced(thread);
	if (fg_dump_is_due())
		fg_dumps_take(thread);
	fg_live_write(thread);
}

/*
 * Clears the counts: a child numbers its call paths from the beginning, and does not map the
 * parent's file.
 */
static void on_fork(void)
{
	const uint32_t slots = atomic_load(&fg_g.thread_high);

	for (unsigned counter = 0; counter < FG_COUNT_TABLES; counter++) {
		for (uint32_t i = 0; fg_is_counted((enum fg_counter)counter) && i < slots; i++)
			tables[counter][i] = (struct table){0};
		for (unsigned i = 0; i < FG_COUNT_KINDS; i++)
			atomic_store(&unplaced[counter][i], 0);
		if (fg_counted[counter]->forget)
			fg_counted[counter]->forget();
	}
	fg_live_forget();
	fg_dumps_forked();
}

static const struct fg_count_hooks hooks = {
	.introduce = on_introduce,
	.thread_end = on_thread_end,
	.forked = on_fork,
	.dump = fg_dump_request,
};

/* Runs before the constructor that starts the collector. */
__attribute__((constructor(101))) static void join_in(void)
{
	fg_count_hooks = &hooks;
}

/* ---- while the program runs ---- */

struct fg_counted_path *fg_counts_at(struct fg_thread *thread, enum fg_counter counter,
				     uint32_t path)
{
	struct table *table = &tables[counter][thread->index];

	if (FG_UNLIKELY(fg_dump_is_due()))
		fg_dumps_take(thread);
	if (FG_UNLIKELY(table->entries.thread != thread->id)) {
		const struct fg_trace_table head = {.kind = FG_TABLE_COUNTS,
						    .stride = sizeof(struct entry),
						    .measure = measure_of(counter, 0)};

		fg_path_table_adopt(&table->entries, &head, thread->id);
	}
	return &entry_of(table, path, thread->regions.current)->is;
}

void fg_counts_add(struct fg_thread *thread, enum fg_counter counter, uint32_t path,
		   const struct fg_counts *seen)
{
	struct fg_counts *counts = &fg_counts_at(thread, counter, path)->counts;

	for (unsigned i = 0; i < FG_COUNT_KINDS; i++)
		counts->values[i] += seen->values[i];
}

void fg_counts_add_unplaced(enum fg_counter counter, const struct fg_counts *seen)
{
	for (unsigned i = 0; i < FG_COUNT_KINDS; i++)
		(void)atomic_fetch_add_explicit(&unplaced[counter][i], seen->values[i],
						memory_order_relaxed);
}

uint32_t fg_counts_path(struct fg_thread *thread, const ucontext_t *context)
{
	fg_thread_announce(thread);
	return fg_is_on_small_stack(thread) ? 0 : fg_stack_walk(thread, context).path;
}

uint32_t fg_counts_caller(struct fg_thread *thread, const struct fg_regs *caller)
{
	struct fg_walk_result where = {0};
	ucontext_t context;

	if (FG_UNLIKELY(!thread->written))
		fg_thread_announce(thread);
	if (fg_is_on_small_stack(thread))
		return 0;
	where = fg_stack_walk_caller(thread, caller);
	if (FG_LIKELY(!where.needs_registers))
		return where.path;
	fg_arch_capture(&context);
	return fg_stack_walk(thread, &context).path;
}

void fg_counts_record(enum fg_counter counter, const ucontext_t *context,
		      const struct fg_counts *seen)
{
	struct fg_thread *thread = fg_self;
	const int saved_errno = errno;

	if (!fg_is_counting(counter))
		return;
	if (!thread || !fg_thread_enter(thread)) {
		fg_counts_add_unplaced(counter, seen);
		return;
	}
	if (fg_ensure_file(thread))
		fg_counts_add(thread, counter, fg_counts_path(thread, context), seen);
	fg_thread_leave(thread);
	errno = saved_errno;
}
