// SPDX-License-Identifier: Apache-2.0
/*
 * Each site's share of the peak is found without a pass over the sites. A peak ends when the next
 * event does not raise the total. From then on, each site keeps its value from before its first
 * change (`at_peak`, valid for the current `epoch`); a site that does not change still has the
 * value that it had at the peak. The next peak begins a new epoch.
 *
 * With several threads, simultaneous events may or may not see each other's blocks: the shares of
 * the peak are then off by those blocks.
 */
#include "collector/counting/live.h"

#include "base/attrs.h"
#include "collector/counting/counts.h"
#include "collector/counting/own_memory.h"
#include "collector/sampler/state.h"
#include "collector/sampler/writer.h"

#include <string.h>

enum {
	CHUNK_SITES = 512,
	CHUNKS = (FG_BLOCK_SITES_MAX + 1) / CHUNK_SITES,
	FIRST_MEASURE = 256,            /* number of the first name in the trace */
	FIRST_DUMP = 512,               /* number of the first name for dumps */
	FIRST_SITE = FG_HELD_COUNT + 1, /* sites before this one belong to no thread */
	CACHE_LINE = 64,
	LOOKED_AT = 1 << 16, /* smaller blocks are not checked for untouched pages */
};

/* Names in the trace; model/measure.c describes them. */
static const char *const names[FG_HELD_COUNT][FG_HELD_KINDS] = {
	[FG_HELD_HEAP] =
		{
			[FG_HELD_LIVE] = "heap.live",
			[FG_HELD_LIVE_BLOCKS] = "heap.live_blocks",
			[FG_HELD_PEAK] = "heap.peak",
			[FG_HELD_OWN_PEAK] = "heap.own_peak",
			[FG_HELD_TEMPORARY] = "heap.temporary",
			[FG_HELD_LEAKED] = "heap.leaked",
			[FG_HELD_LEAKED_BLOCKS] = "heap.leaked_blocks",
			[FG_HELD_UNTOUCHED] = "heap.untouched",
		},
	[FG_HELD_FDS] = {[FG_HELD_LIVE] = "fd.live", [FG_HELD_PEAK] = "fd.peak"},
};

/*
 * The thread that owns the site writes it without a lock, under its `busy`. Other threads that free
 * its blocks add to the members `returned_…` atomically.
 */
struct site {
	_Alignas(CACHE_LINE)
		FG_TRACE_SITE_MEMBERS(_Atomic size_t,
				      _Atomic uint32_t) uint32_t slot; /* slot of the thread */
	size_t leaked;                                                 /* counted only at the end */
	size_t leaked_blocks;
};

/* One per slot. */
struct last {
	/* the block that the thread's last event allocated */
	_Alignas(CACHE_LINE) const void *block;
};

static struct site *_Atomic chunks[CHUNKS];
static _Atomic uint32_t site_count = FIRST_SITE;
static uint32_t states; /* number of states written */

static struct whole {
	_Alignas(CACHE_LINE) _Atomic size_t bytes;
	_Atomic size_t most;
	_Atomic uint32_t epoch;
	_Atomic bool at_peak;
} wholes[FG_HELD_COUNT] = {[FG_HELD_HEAP] = {.epoch = 1}, [FG_HELD_FDS] = {.epoch = 1}};

static struct last lasts[FG_THREADS_MAX];

static struct site *site_of(uint32_t number)
{
	struct site *chunk =
		atomic_load_explicit(&chunks[number / CHUNK_SITES], memory_order_acquire);

	return chunk ? &chunk[number % CHUNK_SITES] : NULL;
}

/* Like site_of(), but creates the chunk of the site if needed. */
static struct site *make_site(uint32_t number)
{
	struct site *_Atomic *place = &chunks[number / CHUNK_SITES];
	struct site *chunk = atomic_load(place);
	void *made = NULL;

	if (!chunk) {
		made = fg_own_table(FG_TABLE_SITES, sizeof(struct site), CHUNK_SITES);
		if (!made)
			return NULL;
		fg_table_head(made)->measure = FIRST_MEASURE;
		if (atomic_compare_exchange_strong(place, &chunk, made)) {
			fg_table_head(made)->rows = CHUNK_SITES;
			chunk = made;
		}
	}
	return &chunk[number % CHUNK_SITES];
}

uint32_t fg_live_unplaced(enum fg_held what)
{
	const uint32_t number = (uint32_t)what + 1;
	struct site *site = make_site(number);

	if (!site)
		return 0;
	site->what = what;
	return number;
}

uint32_t fg_live_site(const struct fg_live_owner *owner)
{
	uint32_t number = atomic_load(&site_count);
	struct site *site = NULL;

	do {
		site = number <= FG_BLOCK_SITES_MAX ? make_site(number) : NULL;
		if (!site)
			return fg_live_unplaced(owner->what);
	} while (!atomic_compare_exchange_weak(&site_count, &number, number + 1));
	site->what = owner->what;
	site->slot = owner->slot;
	site->thread = owner->thread;
	site->region = owner->region;
	site->path = owner->path;
	return number;
}

/* ---- events ---- */

static inline size_t get(const _Atomic size_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

static inline void set(_Atomic size_t *counter, size_t to)
{
	atomic_store_explicit(counter, to, memory_order_relaxed);
}

static inline void add(_Atomic size_t *counter, size_t size)
{
	(void)atomic_fetch_add_explicit(counter, size, memory_order_relaxed);
}

static inline size_t held_by(const struct site *site)
{
	return get(&site->bytes) - get(&site->returned_bytes);
}

static inline struct whole *whole_of(const struct site *site)
{
	return &wholes[site->what];
}

/* Call before the site changes: keeps its value at the peak. */
static inline void keep(struct site *site)
{
	const uint32_t epoch = atomic_load_explicit(&whole_of(site)->epoch, memory_order_relaxed);

	if (atomic_load_explicit(&site->epoch, memory_order_relaxed) == epoch)
		return;
	set(&site->at_peak, held_by(site));
	atomic_store_explicit(&site->epoch, epoch, memory_order_relaxed);
}

static inline void leave_peak(struct whole *whole)
{
	if (atomic_load_explicit(&whole->at_peak, memory_order_relaxed))
		atomic_store_explicit(&whole->at_peak, false, memory_order_relaxed);
}

/* Publishes the epoch for the reader of the trace, in case the process is killed. */
static void publish_epoch(const struct whole *whole)
{
	struct site *first = atomic_load_explicit(&chunks[0], memory_order_relaxed);

	if (first)
		fg_table_head(first)->epochs[whole - wholes] = atomic_load(&whole->epoch);
}

static bool reach_peak(struct whole *whole, size_t bytes)
{
	size_t most = get(&whole->most);

	while (most < bytes && !atomic_compare_exchange_weak(&whole->most, &most, bytes))
		continue;
	if (!atomic_load_explicit(&whole->at_peak, memory_order_relaxed)) {
		atomic_store_explicit(&whole->at_peak, true, memory_order_relaxed);
		(void)atomic_fetch_add_explicit(&whole->epoch, 1, memory_order_relaxed);
		publish_epoch(whole);
	}
	return true;
}

/* Adds to the total. Returns whether the total is a new maximum. */
static inline bool grow_whole(struct whole *whole, size_t size)
{
	const size_t bytes =
		atomic_fetch_add_explicit(&whole->bytes, size, memory_order_relaxed) + size;

	if (bytes > get(&whole->most))
		return reach_peak(whole, bytes);
	leave_peak(whole);
	return false;
}

static inline void allocate(struct site *site, size_t size, bool is_own)
{
	size_t held = 0;

	if (!grow_whole(whole_of(site), size))
		keep(site);
	if (is_own) {
		set(&site->bytes, get(&site->bytes) + size);
		set(&site->blocks, get(&site->blocks) + 1);
	} else {
		add(&site->bytes, size);
		add(&site->blocks, 1);
	}
	held = held_by(site);
	if (held > get(&site->most))
		set(&site->most, held);
}

static inline void release(struct site *site, size_t size, bool is_own)
{
	struct whole *whole = whole_of(site);

	leave_peak(whole);
	(void)atomic_fetch_sub_explicit(&whole->bytes, size, memory_order_relaxed);
	keep(site);
	if (is_own) {
		set(&site->bytes, get(&site->bytes) - size);
		set(&site->blocks, get(&site->blocks) - 1);
	} else {
		add(&site->returned_bytes, size);
		add(&site->returned_blocks, 1);
	}
}

static inline bool owns(const struct fg_thread *thread, uint32_t number, const struct site *site)
{
	return thread && number >= FIRST_SITE && site->slot == thread->index;
}

void fg_live_grow(uint32_t number, size_t by)
{
	struct site *site = number ? site_of(number) : NULL;

	if (site)
		allocate(site, by, false);
}

void fg_live_shrink(uint32_t number, size_t by)
{
	struct site *site = number ? site_of(number) : NULL;

	if (site)
		release(site, by, false);
}

static struct fg_held_now held_now(void)
{
	const struct whole *heap = &wholes[FG_HELD_HEAP];

	return (struct fg_held_now){.bytes = get(&heap->bytes), .most = get(&heap->most)};
}

void fg_live_add(const struct fg_thread *thread, uint32_t number, const void *address, size_t size)
{
	struct site *site = number ? site_of(number) : NULL;
	struct fg_memory_block block = {.site = number, .size = size};
	struct fg_memory_block before;

	if (!site)
		return;
	if (thread)
		lasts[thread->index].block = address;
	if (block.size > FG_BLOCK_SIZE_MAX)
		block.size = FG_BLOCK_SIZE_MAX;
	allocate(site, (size_t)block.size, owns(thread, number, site));
	before = fg_block_put(address, block);
	site = before.site ? site_of(before.site) : NULL;
	if (site)
		release(site, (size_t)before.size, owns(thread, before.site, site));
	fg_mappings_look(held_now());
}

static void add_temporary(struct site *site, int by)
{
	(void)atomic_fetch_add_explicit(&site->temporary, (uint32_t)by, memory_order_relaxed);
}

struct fg_memory_block fg_live_remove(const struct fg_thread *thread, const void *address)
{
	struct fg_memory_block block = fg_block_take(address);
	struct site *site = block.site ? site_of(block.site) : NULL;
	bool is_own = false;

	is_own = site && owns(thread, block.site, site);
	if (thread) {
		block.is_temporary = is_own && lasts[thread->index].block == address;
		lasts[thread->index].block = NULL;
	}
	if (!site)
		return block;
	if (block.is_temporary)
		add_temporary(site, 1);
	release(site, (size_t)block.size, is_own);
	return block;
}

void fg_live_restore(const struct fg_thread *thread, const void *address,
		     struct fg_memory_block block)
{
	struct site *site = block.site ? site_of(block.site) : NULL;
	bool is_own = false;

	if (!site)
		return;
	is_own = owns(thread, block.site, site);
	if (block.is_temporary)
		add_temporary(site, -1);
	allocate(site, (size_t)block.size, is_own);
	(void)fg_block_put(address, block);
}

/* ---- pages ---- */

void fg_live_look(struct fg_memory_block block, const void *address)
{
	struct site *site = block.site ? site_of(block.site) : NULL;
	const uintptr_t begin = fg_page_up((uintptr_t)address);
	const uintptr_t end = fg_page_down((uintptr_t)address + (size_t)block.size);

	if (site && block.size >= LOOKED_AT && !fg_g.sandboxed)
		add(&site->untouched, end - begin - fg_resident_bytes(begin, end));
}

/* ---- writing the trace ---- */

/* Returns the number of a measure in the trace. */
static uint32_t measure_of(enum fg_held what, uint32_t kind)
{
	return FIRST_MEASURE + (uint32_t)what * FG_HELD_KINDS + kind;
}

static void name_measure(struct fg_thread *writer, uint32_t measure, const char *name)
{
	fg_record_begin(writer, FG_RECORD_MEASURE);
	fg_record_number(writer, measure);
	fg_record_text(writer, name, strlen(name));
	(void)fg_record_write(writer);
}

static bool introduced[FG_HELD_COUNT];

void fg_live_introduce(struct fg_thread *writer, enum fg_held what)
{
	introduced[what] = true;
	for (uint32_t i = 0; i < FG_HELD_KINDS; i++) {
		if (names[what][i])
			name_measure(writer, measure_of(what, i), names[what][i]);
	}
}

static size_t share_of_peak(const struct site *site)
{
	return atomic_load(&site->epoch) == atomic_load(&whole_of(site)->epoch)
		       ? get(&site->at_peak)
		       : held_by(site);
}

static void begin_held(struct fg_thread *writer, const struct site *site)
{
	fg_record_begin(writer, FG_RECORD_HELD);
	fg_record_number(writer, states);
	fg_record_number(writer, site->thread);
	fg_record_number(writer, site->region);
	fg_record_number(writer, site->path);
}

static void write_site(struct fg_thread *writer, struct site *site)
{
	const uint64_t values[FG_HELD_KINDS] = {
		[FG_HELD_LIVE] = held_by(site),
		[FG_HELD_LIVE_BLOCKS] = get(&site->blocks) - get(&site->returned_blocks),
		[FG_HELD_PEAK] = share_of_peak(site),
		[FG_HELD_OWN_PEAK] = atomic_load(&site->most),
		[FG_HELD_TEMPORARY] = atomic_load(&site->temporary),
		[FG_HELD_LEAKED] = site->leaked,
		[FG_HELD_LEAKED_BLOCKS] = site->leaked_blocks,
		[FG_HELD_UNTOUCHED] = get(&site->untouched),
	};

	begin_held(writer, site);
	for (uint32_t i = 0; i < FG_HELD_KINDS; i++) {
		if (!values[i] || !names[site->what][i])
			continue;
		fg_record_number(writer, measure_of(site->what, i));
		fg_record_number(writer, values[i]);
	}
	if (!fg_record_write(writer))
		fg_count_loss(FG_LOSS_NO_ROOM, 1);
}

/* ---- dumps ---- */

enum {
	DUMPED_KINDS = FG_HELD_LIVE_BLOCKS + 1 /* live bytes and blocks */
};

static uint32_t dumped_measure(uint32_t number, enum fg_held what, uint32_t kind)
{
	return FIRST_DUMP + (number * FG_HELD_COUNT + (uint32_t)what) * DUMPED_KINDS + kind;
}

static void dump_site(struct fg_thread *writer, const struct site *site, uint32_t number)
{
	const uint64_t values[DUMPED_KINDS] = {
		[FG_HELD_LIVE] = held_by(site),
		[FG_HELD_LIVE_BLOCKS] = get(&site->blocks) - get(&site->returned_blocks),
	};

	if (!values[FG_HELD_LIVE] && !values[FG_HELD_LIVE_BLOCKS])
		return;
	fg_record_begin(writer, FG_RECORD_COUNTS);
	fg_record_number(writer, site->thread);
	fg_record_number(writer, site->region);
	fg_record_number(writer, site->path);
	for (uint32_t i = 0; i < DUMPED_KINDS; i++) {
		if (!names[site->what][i])
			continue;
		fg_record_number(writer, dumped_measure(number, site->what, i));
		fg_record_number(writer, values[i]);
	}
	if (!fg_record_write(writer))
		fg_count_loss(FG_LOSS_NO_ROOM, 1);
}

static void name_dump(struct fg_thread *writer, uint32_t measure, const char *name, uint32_t number)
{
	char text[FG_NUMBER_SIZE + 1] = ".";

	text[1 + fg_number_text(number, text + 1)] = '\0';
	fg_record_begin(writer, FG_RECORD_MEASURE);
	fg_record_number(writer, measure);
	fg_record_texts(writer, name, text);
	(void)fg_record_write(writer);
}

/* The names come last: values without a name are not shown, so a dump is complete or absent. */
void fg_live_dump(struct fg_thread *writer, uint32_t number)
{
	const uint32_t end = atomic_load(&site_count);

	for (uint32_t i = 1; i < end; i++) {
		const struct site *site = site_of(i);

		if (site)
			dump_site(writer, site, number);
	}
	for (unsigned what = 0; what < FG_HELD_COUNT; what++) {
		for (uint32_t i = 0; introduced[what] && i < DUMPED_KINDS; i++) {
			if (names[what][i])
				name_dump(writer, dumped_measure(number, (enum fg_held)what, i),
					  names[what][i], number);
		}
	}
}

/* ---- at the end ---- */

/* Clears the leaks: a process whose exec failed continues, and counts its leaks again later. */
static void forget_leaks(void)
{
	const uint32_t end = atomic_load(&site_count);

	for (uint32_t i = 1; i < end; i++) {
		struct site *site = site_of(i);

		if (site)
			site->leaked = site->leaked_blocks = 0;
	}
}

static void add_leak(const struct fg_memory_block *block)
{
	struct site *site = site_of(block->site);

	if (!site)
		return;
	site->leaked += (size_t)block->size;
	site->leaked_blocks++;
}

static void add_untouched(uintptr_t address, struct fg_memory_block block)
{
	fg_live_look(block, (const void *)address);
}

/* Finds leaked blocks and untouched memory among the blocks held at the end. */
static void look_at_rest(struct fg_thread *writer)
{
	forget_leaks();
	fg_blocks_each(add_untouched);
	if (!fg_leaks_find(add_leak)) {
		forget_leaks();
		name_measure(writer, measure_of(FG_HELD_HEAP, FG_HELD_LEAKED), "");
		name_measure(writer, measure_of(FG_HELD_HEAP, FG_HELD_LEAKED_BLOCKS), "");
		(void)fg_note(
			writer,
			"memory could not be searched for pointers: heap.leaked is not known");
	}
}

void fg_live_write(struct fg_thread *writer)
{
	const uint32_t end = atomic_load(&site_count);

	states++;
	if (introduced[FG_HELD_HEAP]) {
		fg_mappings_write(writer, held_now(), states);
		look_at_rest(writer);
	}
	for (uint32_t i = 1; i < end; i++) {
		struct site *site = site_of(i);

		if (site)
			write_site(writer, site);
	}
	fg_record_begin(writer, FG_RECORD_HELD_END);
	fg_record_number(writer, states);
	fg_record_number(writer, fg_clock_ns(CLOCK_MONOTONIC));
	fg_record_number(writer, get(&wholes[FG_HELD_HEAP].bytes));
	fg_record_number(writer, get(&wholes[FG_HELD_HEAP].most));
	(void)fg_record_write(writer);
}

void fg_live_forget(void)
{
	const uint32_t end = atomic_load(&site_count);

	fg_blocks_forget();
	fg_mappings_forget();
	/* In a child, the parent's file is not mapped. */
	for (uint32_t i = 0; i < end; i += CHUNK_SITES)
		atomic_store(&chunks[i / CHUNK_SITES], NULL);
	memset(lasts, 0, atomic_load(&fg_g.thread_high) * sizeof(lasts[0]));
	atomic_store(&site_count, FIRST_SITE);
	for (unsigned i = 0; i < FG_HELD_COUNT; i++) {
		atomic_store(&wholes[i].bytes, 0);
		atomic_store(&wholes[i].most, 0);
		atomic_store(&wholes[i].epoch, 1);
		atomic_store(&wholes[i].at_peak, false);
	}
	states = 0;
}
