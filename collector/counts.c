// SPDX-License-Identifier: Apache-2.0
#include "collector/counts.h"

#include "collector/count_hooks.h"
#include "collector/live.h"
#include "collector/paths.h"
#include "collector/writer.h"

#include <string.h>
#include <sys/mman.h>

enum {
	TABLE_FIRST = 256,     /* entries */
	FLUSH_AFTER = 1 << 18, /* events: a process that is killed loses no more of a thread */
	FOREIGN_TRIES = 1 << 16,
};

/* The trace's names of enum fg_counted; model/measure.c describes them. */
static const char *const names[FG_COUNT_KINDS] = {
	[FG_COUNT_ALLOCATIONS] = "heap.allocations",
	[FG_COUNT_BYTES] = "heap.bytes",
	[FG_COUNT_LARGEST] = "heap.largest",
	[FG_COUNT_ROUNDING] = "heap.rounding",
	[FG_COUNT_FREES] = "heap.frees",
};

struct entry {
	uint32_t path; /* 0: free, as path 0 has a place of its own */
	uint32_t region;
	uint32_t own; /* the probe's */
	struct fg_counts counts;
};

struct table {
	struct entry *entries;
	uint32_t mask;
	uint32_t used;
	uint32_t events; /* since the last flush */
	struct entry pathless;
};

/* By slot, beside fg_g.threads. */
static struct table tables[FG_THREADS_MAX];
static _Atomic uint64_t unplaced[FG_COUNT_KINDS];
const char *fg_counts_note;

static void join(struct fg_counts *counts, const struct fg_counts *seen)
{
	for (unsigned i = 0; i < FG_COUNT_KINDS; i++) {
		if (i != FG_COUNT_LARGEST)
			counts->values[i] += seen->values[i];
		else if (counts->values[i] < seen->values[i])
			counts->values[i] = seen->values[i];
	}
}

static struct entry *place_of(const struct table *table, uint32_t path, uint32_t region)
{
	uint32_t at = fg_spread((uint64_t)region << 32 | path) & table->mask;

	while (table->entries[at].path &&
	       (table->entries[at].path != path || table->entries[at].region != region))
		at = (at + 1) & table->mask;
	return &table->entries[at];
}

/* False: there is no more memory, and the table is as it was. */
static bool grow(struct table *table)
{
	const uint32_t capacity = table->entries ? 2 * (table->mask + 1) : TABLE_FIRST;
	struct table larger = *table;
	void *memory = mmap(NULL, capacity * sizeof(struct entry), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return false;
	larger.entries = memory;
	larger.mask = capacity - 1;
	for (uint32_t i = 0; table->entries && i <= table->mask; i++) {
		const struct entry *entry = &table->entries[i];

		if (entry->path)
			*place_of(&larger, entry->path, entry->region) = *entry;
	}
	if (table->entries)
		(void)munmap(table->entries, (table->mask + 1) * sizeof(struct entry));
	*table = larger;
	return true;
}

static struct entry *entry_of(struct table *table, uint32_t path, uint32_t region)
{
	if (!path || ((!table->entries || table->used > table->mask / 4 * 3) && !grow(table) &&
		      (!table->entries || table->used == table->mask)))
		return &table->pathless;
	struct entry *entry = place_of(table, path, region);

	table->used += !entry->path;
	entry->path = path;
	entry->region = region;
	return entry;
}

/* ---- into the trace ---- */

struct owner {
	uint32_t thread;
	uint32_t region;
	uint32_t path;
};

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
		fg_record_number(writer, i + 1);
		fg_record_number(writer, counts->values[i]);
	}
	if (fg_record_write(writer))
		*counts = none;
	else
		fg_lose(FG_LOSS_NO_ROOM, 1);
}

static void flush(struct fg_thread *writer, uint32_t slot, uint32_t thread)
{
	struct table *table = &tables[slot];

	const struct owner pathless = {.thread = thread};

	for (uint32_t i = 0; table->entries && i <= table->mask; i++) {
		struct entry *entry = &table->entries[i];
		const struct owner owner = {thread, entry->region, entry->path};

		if (entry->path)
			write_counts(writer, &owner, &entry->counts);
	}
	write_counts(writer, &pathless, &table->pathless.counts);
	table->events = 0;
}

static void flush_unplaced(struct fg_thread *writer)
{
	const struct owner nobody = {0};
	struct fg_counts counts;

	for (unsigned i = 0; i < FG_COUNT_KINDS; i++)
		counts.values[i] = atomic_exchange(&unplaced[i], 0);
	write_counts(writer, &nobody, &counts);
}

/* Another thread may be at its table: waited for, but not for ever. */
static void flush_others(struct fg_thread *writer)
{
	for (uint32_t i = 0; i < atomic_load(&fg_g.thread_high); i++) {
		struct fg_thread *other = atomic_load(&fg_g.threads[i]);
		bool entered = false;

		if (!other || other == writer || !atomic_load(&other->taken))
			continue;
		for (unsigned tries = 0; tries < FOREIGN_TRIES && !entered; tries++)
			entered = fg_thread_enter(other);
		flush(writer, i, other->id);
		if (entered)
			fg_thread_leave(other);
	}
}

static void on_introduce(struct fg_thread *thread)
{
	for (unsigned i = 0; i < FG_COUNT_KINDS; i++) {
		fg_record_begin(thread, FG_RECORD_MEASURE);
		fg_record_number(thread, i + 1);
		fg_record_text(thread, names[i], strlen(names[i]));
		(void)fg_record_write(thread);
	}
	fg_live_introduce(thread);
	if (fg_counts_note)
		(void)fg_note(thread, fg_counts_note);
}

static void on_thread_end(struct fg_thread *thread, bool is_last)
{
	flush(thread, thread->index, thread->id);
	if (!is_last)
		return;
	flush_others(thread);
	flush_unplaced(thread);
	fg_live_write(thread);
}

/* The numbers of call paths begin anew. */
static void on_fork(void)
{
	for (uint32_t i = 0; i < FG_THREADS_MAX; i++) {
		struct table *table = &tables[i];

		if (table->entries)
			memset(table->entries, 0, (table->mask + 1) * sizeof(struct entry));
		table->used = 0;
		table->events = 0;
		table->pathless = (struct entry){0};
	}
	for (unsigned i = 0; i < FG_COUNT_KINDS; i++)
		atomic_store(&unplaced[i], 0);
	fg_live_forget();
}

const struct fg_count_hooks fg_counts_hooks = {
	.introduce = on_introduce,
	.thread_end = on_thread_end,
	.forked = on_fork,
};

uint32_t *fg_counts_add(struct fg_thread *thread, uint32_t path, const struct fg_counts *seen)
{
	struct table *table = &tables[thread->index];
	struct entry *entry = entry_of(table, path, thread->regions.current);

	join(&entry->counts, seen);
	if (++table->events >= FLUSH_AFTER)
		flush(thread, thread->index, thread->id);
	return &entry->own;
}

void fg_counts_add_unplaced(const struct fg_counts *seen)
{
	for (unsigned i = 0; i < FG_COUNT_KINDS; i++) {
		if (i == FG_COUNT_LARGEST)
			continue; /* it would need more than an addition */
		(void)atomic_fetch_add_explicit(&unplaced[i], seen->values[i],
						memory_order_relaxed);
	}
}
