// SPDX-License-Identifier: Apache-2.0
/*
 * Both tables are open-addressed. They grow by opening another one, four times as large, beside the
 * full ones: nothing ever moves, so no lock is needed, and a small program touches little memory.
 * Look-ups go from the newest to the oldest.
 *
 * An entry is claimed by exchanging its key from 0 and published by the last store to it. A thread
 * that meets a claimed but unpublished entry does not wait: it computes the answer itself and
 * defines it again under another id.
 *
 * Entries are scattered, so a new table has untouched pages for a long time, and an entry there
 * costs two page faults: one for the read that finds it empty, one for the write. Handlers that
 * have finished their work populate a few pages each.
 */
#include "collector/paths.h"

#include "collector/modules.h"
#include "collector/own_memory.h"
#include "collector/rules.h"
#include "collector/writer.h"

#include <string.h>
#include <sys/mman.h>

enum {
	FRAMES_FIRST = 1 << 11,
	PATHS_FIRST = 1 << 12,
	KERNEL_FIRST = 1 << 8,
	GROWTH_SHIFT = 2,
	PROBES_MAX = 64,
	HINTS_MAX = 1 << 20, /* about as many paths as the tables hold */
	PREPARE_STEP = 16 << 10,
	PREPARE_MOST = 1 << 20, /* of a table: larger ones may stay nearly empty */
	KEY_DEAD = 1,           /* of a module that was unloaded; no code lies at address 1 */
};

struct path_entry {
	_Atomic uint64_t key; /* parent << 32 | frame; of the kernel: address << 1 | exact */
	_Atomic uint32_t id;
	uint32_t unused;
};

struct fg_table_level fg_frame_levels[2][FG_LEVELS];
_Atomic uint32_t fg_frame_current[2];
static struct fg_table_level path_levels[FG_LEVELS];
static _Atomic uint32_t path_current;
static struct fg_table_level kernel_levels[FG_LEVELS]; /* frames whose address is not ours */
static _Atomic uint32_t kernel_current;
static _Atomic uint32_t next_frame;
static _Atomic uint32_t next_path;
_Atomic uint64_t *fg_path_hints;
uint32_t fg_path_hint_count;

static void *reserve_zeros(size_t size)
{
	return fg_own_map(size, MAP_NORESERVE);
}

static int reserve(struct fg_table_level *levels, uint32_t first, size_t entry_size)
{
	size_t count = first;

	for (unsigned i = 0; i < FG_LEVELS; i++, count <<= GROWTH_SHIFT) {
		void *at = reserve_zeros(count * entry_size);

		if (!at)
			return i > 0 ? 0 : -ENOMEM;
		levels[i].entries = at;
		levels[i].mask = (uint32_t)count - 1;
	}
	return 0;
}

int fg_paths_init(void)
{
	int status = reserve(path_levels, PATHS_FIRST, sizeof(struct path_entry));

	if (status == 0)
		status = reserve(kernel_levels, KERNEL_FIRST, sizeof(struct path_entry));
	for (unsigned exact = 0; exact < 2 && status == 0; exact++)
		status = reserve(fg_frame_levels[exact], FRAMES_FIRST,
				 sizeof(struct fg_frame_entry));
	fg_path_hints = reserve_zeros(HINTS_MAX * sizeof(*fg_path_hints));
	fg_path_hint_count = fg_path_hints ? HINTS_MAX : 0;
	return status;
}

static void clear(struct fg_table_level *levels, _Atomic uint32_t *current, size_t entry_size)
{
	for (uint32_t i = 0; i <= atomic_load(current); i++) {
		if (atomic_load(&levels[i].used) || atomic_load(&levels[i].present))
			(void)madvise(levels[i].entries, (levels[i].mask + (size_t)1) * entry_size,
				      MADV_DONTNEED);
		atomic_store(&levels[i].used, 0);
		atomic_store(&levels[i].present, 0);
	}
	atomic_store(current, 0);
}

void fg_paths_clear(void)
{
	clear(path_levels, &path_current, sizeof(struct path_entry));
	clear(kernel_levels, &kernel_current, sizeof(struct path_entry));
	if (fg_path_hints)
		(void)madvise(fg_path_hints, HINTS_MAX * sizeof(*fg_path_hints), MADV_DONTNEED);
	clear(fg_frame_levels[0], &fg_frame_current[0], sizeof(struct fg_frame_entry));
	clear(fg_frame_levels[1], &fg_frame_current[1], sizeof(struct fg_frame_entry));
	atomic_store(&next_frame, 0);
	atomic_store(&next_path, 0);
}

/* Returns whether anything was populated. A table that is not in use yet may never be. */
static bool prepare(struct fg_table_level *level, size_t entry_size)
{
	const size_t size = (level->mask + (size_t)1) * entry_size;
	const size_t most = size < PREPARE_MOST ? size : PREPARE_MOST;
	uint32_t from = atomic_load_explicit(&level->present, memory_order_relaxed);

	if (FG_LIKELY(from >= most) ||
	    atomic_load_explicit(&level->used, memory_order_relaxed) == 0 ||
	    !atomic_compare_exchange_strong(&level->present, &from, from + PREPARE_STEP))
		return false;
	(void)madvise((char *)level->entries + from, PREPARE_STEP, MADV_POPULATE_WRITE);
	return true;
}

void fg_paths_prepare(void)
{
	if (fg_g.sandboxed)
		return;
	for (unsigned exact = 0; exact < 2; exact++)
		if (prepare(&fg_frame_levels[exact][atomic_load(&fg_frame_current[exact])],
			    sizeof(struct fg_frame_entry)))
			return;
	(void)prepare(&path_levels[atomic_load(&path_current)], sizeof(struct path_entry));
}

/* Is there room for one more on the newest level? Opens the next level if not. */
static struct fg_table_level *level_to_fill(struct fg_table_level *levels,
					    _Atomic uint32_t *current)
{
	for (;;) {
		uint32_t i = atomic_load_explicit(current, memory_order_relaxed);
		struct fg_table_level *level = &levels[i];

		if (atomic_load_explicit(&level->used, memory_order_relaxed) <= level->mask / 4 * 3)
			return level;
		if (i + 1 >= FG_LEVELS || !levels[i + 1].entries)
			return NULL;
		(void)atomic_compare_exchange_strong(current, &i, i + 1);
	}
}

/* ---- frames ---- */

static struct fg_frame_entry *frame_probe(const struct fg_table_level *level, uintptr_t pc)
{
	struct fg_frame_entry *entries = level->entries;
	uint32_t at = fg_spread(pc);

	for (unsigned n = 0; n < PROBES_MAX; n++, at++) {
		struct fg_frame_entry *entry = &entries[at & level->mask];
		uintptr_t key = atomic_load_explicit(&entry->key, memory_order_acquire);

		if (key == pc)
			return entry;
		if (key == 0)
			return NULL;
	}
	return NULL;
}

static struct fg_frame_entry *frame_claim(struct fg_table_level *level, uintptr_t pc)
{
	struct fg_frame_entry *entries = level->entries;
	uint32_t at = fg_spread(pc);

	for (unsigned n = 0; n < PROBES_MAX; n++, at++) {
		struct fg_frame_entry *entry = &entries[at & level->mask];
		uintptr_t empty = 0;

		if (atomic_compare_exchange_strong(&entry->key, &empty, pc)) {
			(void)atomic_fetch_add_explicit(&level->used, 1, memory_order_relaxed);
			return entry;
		}
	}
	return NULL;
}

static uint32_t write_frame(struct fg_thread *thread, uint32_t module, uint64_t offset, bool exact)
{
	uint32_t id = atomic_fetch_add_explicit(&next_frame, 1, memory_order_relaxed) + 1;

	fg_record_begin(thread, FG_RECORD_FRAME);
	fg_record_number(thread, id);
	fg_record_number(thread, module);
	fg_record_number(thread, offset);
	fg_record_number(thread, exact ? FG_FRAME_EXACT : 0);
	return fg_record_write(thread) ? id : 0;
}

static void frame_publish(struct fg_frame_entry *entry, uint32_t module, struct fg_frame_info info)
{
	entry->module = module;
	entry->id = info.id;
	atomic_store_explicit(&entry->rule, info.rule, memory_order_release);
}

static struct fg_frame_info frame_make(struct fg_thread *thread, uintptr_t pc, bool exact)
{
	const uintptr_t address = exact ? pc : pc - 1;
	const uint32_t module = fg_module_find(thread, address);
	struct fg_frame_info info = {.rule = fg_rule_pack(FG_RULE_UNKNOWN, 0, 0, 0)};

	if (module)
		info.rule = fg_rule_find(&fg_module(module)->tables, address);
	struct fg_trace_header *header = atomic_load(&fg_g.header);

	if (header)
		fg_count(&header->frames_slow, 1);
	struct fg_table_level *level =
		level_to_fill(fg_frame_levels[exact], &fg_frame_current[exact]);

	info.id = level ? write_frame(thread, module, pc - (module ? fg_module(module)->bias : 0),
				      exact)
			: 0;
	struct fg_frame_entry *entry = level && info.id ? frame_claim(level, pc) : NULL;

	if (entry)
		frame_publish(entry, module, info);
	info.is_new = entry != NULL;
	return info;
}

/* A frame of an older table is also entered into the newest, where the first look finds it. */
static void frame_bring(bool exact, uintptr_t pc, uint32_t module, struct fg_frame_info info)
{
	struct fg_table_level *level =
		level_to_fill(fg_frame_levels[exact], &fg_frame_current[exact]);
	struct fg_frame_entry *entry = level ? frame_claim(level, pc) : NULL;

	if (entry)
		frame_publish(entry, module, info);
}

struct fg_frame_info fg_frame_find(struct fg_thread *thread, uintptr_t pc, bool exact)
{
	const int newest =
		(int)atomic_load_explicit(&fg_frame_current[exact], memory_order_relaxed);

	for (int i = newest; i >= 0; i--) {
		struct fg_frame_entry *entry = frame_probe(&fg_frame_levels[exact][i], pc);

		if (!entry)
			continue;
		uint64_t rule = atomic_load_explicit(&entry->rule, memory_order_acquire);

		if (rule == 0)
			break;
		const struct fg_frame_info info = {.rule = rule, .id = entry->id};

		if (fg_module_live(entry->module)) {
			if (i < newest)
				frame_bring(exact, pc, entry->module, info);
			return info;
		}
		atomic_store_explicit(&entry->key, KEY_DEAD, memory_order_release);
		break;
	}
	if (pc <= KEY_DEAD)
		return (struct fg_frame_info){.rule = fg_rule_pack(FG_RULE_UNKNOWN, 0, 0, 0)};
	return frame_make(thread, pc, exact);
}

/* ---- paths ---- */

static uint32_t write_path(struct fg_thread *thread, uint32_t parent, uint32_t frame,
			   uint64_t removed)
{
	uint32_t id = atomic_fetch_add_explicit(&next_path, 1, memory_order_relaxed) + 1;

	fg_record_begin(thread, FG_RECORD_NODE);
	fg_record_number(thread, id);
	fg_record_number(thread, parent);
	fg_record_number(thread, frame);
	if (removed)
		fg_record_number(thread, removed);
	return fg_record_write(thread) ? id : 0;
}

/* The key's entry on this level, or the empty place for it; NULL if neither is near. */
static struct path_entry *path_probe(const struct fg_table_level *level, uint64_t key, bool *found)
{
	struct path_entry *entries = level->entries;
	uint32_t at = fg_spread(key);

	*found = false;
	for (unsigned n = 0; n < PROBES_MAX; n++, at++) {
		struct path_entry *entry = &entries[at & level->mask];
		uint64_t seen = atomic_load_explicit(&entry->key, memory_order_acquire);

		if (seen == key || seen == 0) {
			*found = seen == key;
			return entry;
		}
	}
	return NULL;
}

/* What is new under this key, beside another thread that may have found the same at once. */
static void entry_publish(struct fg_table_level *level, uint64_t key, uint32_t id)
{
	bool found = false;
	struct path_entry *entry = path_probe(level, key, &found);
	uint64_t empty = 0;

	if (entry && !found && atomic_compare_exchange_strong(&entry->key, &empty, key)) {
		(void)atomic_fetch_add_explicit(&level->used, 1, memory_order_relaxed);
		atomic_store_explicit(&entry->id, id, memory_order_release);
	}
}

/* 0: not known, or not published yet. */
static uint32_t entry_find(const struct fg_table_level *levels, const _Atomic uint32_t *current,
			   uint64_t key)
{
	for (int i = (int)atomic_load_explicit(current, memory_order_relaxed); i >= 0; i--) {
		bool found;
		struct path_entry *entry = path_probe(&levels[i], key, &found);

		if (found)
			return atomic_load_explicit(&entry->id, memory_order_acquire);
	}
	return 0;
}

static uint32_t path_look_up(struct fg_thread *thread, uint32_t parent, uint32_t frame)
{
	const uint64_t key = (uint64_t)parent << 32 | frame;
	uint32_t id = entry_find(path_levels, &path_current, key);

	if (id)
		return id;
	struct fg_table_level *level = level_to_fill(path_levels, &path_current);

	id = level ? write_path(thread, parent, frame, 0) : 0;
	if (id)
		entry_publish(level, key, id);
	return id;
}

uint32_t fg_frame_of_kernel(struct fg_thread *thread, uint64_t address, bool exact)
{
	const uint64_t key = address << 1 | exact;
	uint32_t id = entry_find(kernel_levels, &kernel_current, key);

	if (id)
		return id;
	struct fg_table_level *level = level_to_fill(kernel_levels, &kernel_current);
	const uint32_t module = level ? fg_module_of_kernel(thread) : 0;
	struct fg_trace_header *header = atomic_load(&fg_g.header);

	id = module ? write_frame(thread, module, address, exact) : 0;
	if (!id)
		return 0;
	entry_publish(level, key, id);
	if (header)
		(void)__atomic_fetch_add(&header->kernel_frames, 1, __ATOMIC_RELAXED);
	return id;
}

uint32_t fg_path_find(struct fg_thread *thread, uint32_t parent, uint32_t frame)
{
	const uint32_t id = frame ? path_look_up(thread, parent, frame) : 0;

	if (id && parent < fg_path_hint_count)
		atomic_store_explicit(&fg_path_hints[parent], (uint64_t)frame << 32 | id,
				      memory_order_release);
	return id;
}

uint32_t fg_path_cut(struct fg_thread *thread, uint32_t parent, uint64_t removed)
{
	return write_path(thread, parent, 0, removed);
}
