// SPDX-License-Identifier: Apache-2.0
/*
 * A region is a node of a tree: (parent region, name).  Both tables are lock-free and insert-only.
 * A name or region is written to the trace by the thread that found it first.
 */
#include "collector/sampler/region_table.h"

#include "collector/sampler/writer.h"

#include <string.h>

enum {
	NAMES_MAX = FG_NAMES_MAX / 2, /* fill limit: half of the table */
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

static struct name names[FG_NAMES_MAX]; /* untouched pages cost nothing */
static struct region regions[FG_REGIONS_MAX * 2];
static uint64_t region_keys[FG_REGIONS_MAX + 1];
static _Atomic uint32_t name_count;
static _Atomic uint32_t region_count;

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
	if (fg_alive() && fg_self && fg_thread_enter(fg_self)) {
		write_name(fg_self, id, name->text);
		fg_thread_leave(fg_self);
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

uint32_t fg_region_count(void)
{
	const uint32_t count = atomic_load(&region_count);

	return count < FG_REGIONS_MAX ? count : FG_REGIONS_MAX;
}

uint32_t fg_region_parent(uint32_t region)
{
	return (uint32_t)(region_keys[region] >> 32);
}

uint32_t fg_region_name(uint32_t region)
{
	return (uint32_t)region_keys[region];
}

static void write_region(struct fg_thread *thread, uint32_t id)
{
	fg_record_begin(thread, FG_RECORD_REGION);
	fg_record_number(thread, id);
	fg_record_number(thread, fg_region_parent(id));
	fg_record_number(thread, fg_region_name(id));
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
	if (fg_alive() && fg_self && fg_thread_enter(fg_self)) {
		write_region(fg_self, id);
		fg_thread_leave(fg_self);
	}
	atomic_store_explicit(&region->id, id, memory_order_release);
	return id;
}

uint32_t fg_region_find(uint32_t parent, uint32_t name)
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

void fg_region_table_rewrite(struct fg_thread *thread)
{
	for (uint32_t i = 0; i < FG_ARRAY_SIZE(names) && atomic_load(&name_count); i++)
		if (atomic_load_explicit(&names[i].state, memory_order_acquire) == 2)
			write_name(thread, i + 1, names[i].text);
	for (uint32_t id = 1; id <= fg_region_count(); id++)
		if (region_keys[id])
			write_region(thread, id);
}
