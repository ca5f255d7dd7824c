// SPDX-License-Identifier: Apache-2.0
/*
 * The tables of frames and of call paths are of the kind that collector/unwind/tables.h describes:
 * levels, and entries that are claimed and then published.
 *
 * Entries are scattered, so a new table has untouched pages for a long time, and an entry there
 * costs two page faults: one for the read that finds it empty, one for the write. Handlers that
 * have finished their work populate a few pages each.
 */
#include "collector/unwind/paths.h"

#include "collector/counting/own_memory.h"
#include "collector/sampler/writer.h"
#include "collector/unwind/modules.h"
#include "collector/unwind/rules.h"

#include <string.h>
#include <sys/mman.h>

enum {
	FRAMES_FIRST = 1 << 11,
	PATHS_FIRST = 1 << 12,
	KERNEL_FIRST = 1 << 8,
	HINTS_MAX = 1 << 20, /* about as many paths as the tables hold */
	PREPARE_STEP = 16 << 10,
	/* maximum number of bytes populated ahead: a large table may stay nearly empty */
	PREPARE_MAX = 1 << 20,
	KEY_DEAD = 1, /* a frame of a module that was unloaded; no code has address 1 */
};

struct fg_table_level fg_frame_levels[2][FG_LEVELS];
_Atomic uint32_t fg_frame_current[2];
static struct fg_keyed_ids paths;
static struct fg_keyed_ids kernel_frames; /* addresses of the kernel */
static _Atomic uint32_t next_frame;
static _Atomic uint32_t next_path;
_Atomic uint64_t *fg_path_hints;
uint32_t fg_path_hint_count;

int fg_paths_init(void)
{
	int status = fg_ids_init(&paths, PATHS_FIRST);

	if (status == 0)
		status = fg_ids_init(&kernel_frames, KERNEL_FIRST);
	for (unsigned exact = 0; exact < 2 && status == 0; exact++)
		status = fg_table_reserve(fg_frame_levels[exact], FRAMES_FIRST,
					  sizeof(struct fg_frame_entry));
	fg_path_hints = fg_own_map(HINTS_MAX * sizeof(*fg_path_hints), MAP_NORESERVE);
	fg_path_hint_count = fg_path_hints ? HINTS_MAX : 0;
	return status;
}

void fg_paths_clear(void)
{
	fg_ids_clear(&paths);
	fg_ids_clear(&kernel_frames);
	if (fg_path_hints)
		(void)madvise(fg_path_hints, HINTS_MAX * sizeof(*fg_path_hints), MADV_DONTNEED);
	fg_table_clear(fg_frame_levels[0], &fg_frame_current[0], sizeof(struct fg_frame_entry));
	fg_table_clear(fg_frame_levels[1], &fg_frame_current[1], sizeof(struct fg_frame_entry));
	atomic_store(&next_frame, 0);
	atomic_store(&next_path, 0);
}

/*
 * Populates the next part of a table, if it is in use: other tables may never be needed. Returns
 * whether anything was populated.
 */
static bool prepare(struct fg_table_level *level, size_t entry_size)
{
	const size_t size = (level->mask + (size_t)1) * entry_size;
	const size_t most = size < PREPARE_MAX ? size : PREPARE_MAX;
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
	(void)prepare(&paths.levels[atomic_load(&paths.current)], sizeof(struct fg_id_entry));
}

/* ---- frames ---- */

static struct fg_frame_entry *frame_probe(const struct fg_table_level *level, uintptr_t pc)
{
	struct fg_frame_entry *entries = level->entries;
	uint32_t at = fg_spread(pc);

	for (unsigned n = 0; n < FG_TABLE_PROBES; n++, at++) {
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

	for (unsigned n = 0; n < FG_TABLE_PROBES; n++, at++) {
		struct fg_frame_entry *entry = &entries[at & level->mask];
		uintptr_t empty = 0;

		if (atomic_compare_exchange_strong(&entry->key, &empty, pc)) {
			(void)atomic_fetch_add_explicit(&level->used, 1, memory_order_relaxed);
			return entry;
		}
	}
	return NULL;
}

uint32_t fg_frame_number(void)
{
	return atomic_fetch_add_explicit(&next_frame, 1, memory_order_relaxed) + 1;
}

static uint32_t write_frame(struct fg_thread *thread, uint32_t module, uint64_t offset, bool exact)
{
	const uint32_t id = fg_frame_number();

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

static struct fg_frame_info frame_unknown(void)
{
	return (struct fg_frame_info){.rule = fg_rule_pack(FG_RULE_UNKNOWN, 0, 0, 0)};
}

static struct fg_frame_info frame_make(struct fg_thread *thread, uintptr_t pc, bool exact,
				       uint32_t module)
{
	const uintptr_t address = exact ? pc : pc - 1;
	struct fg_frame_info info = frame_unknown();

	if (module)
		info.rule = fg_rule_find(&fg_module(module)->tables, address);
	struct fg_trace_header *header = atomic_load(&fg_g.header);

	if (header)
		fg_count(&header->frames_slow, 1);
	struct fg_table_level *level =
		fg_table_to_fill(fg_frame_levels[exact], &fg_frame_current[exact]);

	info.id = level ? write_frame(thread, module, pc - (module ? fg_module(module)->bias : 0),
				      exact)
			: 0;
	struct fg_frame_entry *entry = level && info.id ? frame_claim(level, pc) : NULL;

	if (entry)
		frame_publish(entry, module, info);
	info.is_new = entry != NULL;
	return info;
}

/* Also enters a frame of an older table into the newest table, where lookups begin. */
static void frame_bring(bool exact, uintptr_t pc, uint32_t module, struct fg_frame_info info)
{
	struct fg_table_level *level =
		fg_table_to_fill(fg_frame_levels[exact], &fg_frame_current[exact]);
	struct fg_frame_entry *entry = level ? frame_claim(level, pc) : NULL;

	if (entry)
		frame_publish(entry, module, info);
}

static bool frame_known(uintptr_t pc, bool exact, struct fg_frame_info *info)
{
	const int newest =
		(int)atomic_load_explicit(&fg_frame_current[exact], memory_order_relaxed);

	for (int i = newest; i >= 0; i--) {
		struct fg_frame_entry *entry = frame_probe(&fg_frame_levels[exact][i], pc);

		if (!entry)
			continue;
		uint64_t rule = atomic_load_explicit(&entry->rule, memory_order_acquire);

		if (rule == 0)
			return false;
		*info = (struct fg_frame_info){.rule = rule, .id = entry->id};
		if (fg_module_live(entry->module)) {
			if (i < newest)
				frame_bring(exact, pc, entry->module, *info);
			return true;
		}
		atomic_store_explicit(&entry->key, KEY_DEAD, memory_order_release);
		return false;
	}
	return false;
}

struct fg_frame_info fg_frame_find(struct fg_thread *thread, uintptr_t pc, bool exact)
{
	struct fg_frame_info info;

	if (frame_known(pc, exact, &info))
		return info;
	if (pc <= KEY_DEAD)
		return frame_unknown();
	return frame_make(thread, pc, exact, fg_module_find(thread, exact ? pc : pc - 1));
}

struct fg_frame_info fg_frame_find_past(struct fg_thread *thread, uintptr_t pc, bool exact)
{
	struct fg_frame_info info;

	if (frame_known(pc, exact, &info))
		return info;
	const uint32_t module =
		pc > KEY_DEAD ? fg_module_find_past(thread, exact ? pc : pc - 1) : 0;

	return module ? frame_make(thread, pc, exact, module) : frame_unknown();
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

static uint32_t path_make(struct fg_thread *thread, uint32_t parent, uint32_t frame, uint64_t key)
{
	const uint32_t id = fg_ids_have_room(&paths) ? write_path(thread, parent, frame, 0) : 0;

	if (id)
		fg_ids_add(&paths, key, id);
	return id;
}

static uint32_t path_look_up(struct fg_thread *thread, uint32_t parent, uint32_t frame)
{
	const uint64_t key = (uint64_t)parent << 32 | frame;
	const uint32_t id = fg_ids_find(&paths, key);

	return id ? id : path_make(thread, parent, frame, key);
}

uint32_t fg_frame_of_kernel(struct fg_thread *thread, uint64_t address, bool exact)
{
	const uint64_t key = address << 1 | exact;
	uint32_t id = fg_ids_find(&kernel_frames, key);

	if (id)
		return id;
	const uint32_t module = fg_ids_have_room(&kernel_frames) ? fg_module_of_kernel(thread) : 0;
	struct fg_trace_header *header = atomic_load(&fg_g.header);

	id = module ? write_frame(thread, module, address, exact) : 0;
	if (!id)
		return 0;
	fg_ids_add(&kernel_frames, key, id);
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
