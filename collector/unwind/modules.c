// SPDX-License-Identifier: Apache-2.0
#include "collector/unwind/modules.h"

#include "collector/counting/own_memory.h"
#include "collector/python/python.h"
#include "collector/sampler/collector_env.h"
#include "collector/sampler/writer.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Reserved, not used: pages come when modules do. */
static const size_t table_size = sizeof(struct fg_module) * (FG_TRACE_MODULES_MAX + 1);

int fg_modules_init(void)
{
	fg_g.modules = fg_own_map(table_size, MAP_NORESERVE);
	return fg_g.modules ? 0 : -ENOMEM;
}

struct fg_module *fg_module(uint32_t id)
{
	return &fg_g.modules[id];
}

static uint32_t hash_text(const char *text)
{
	uint32_t hash = 2166136261u;

	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * 16777619u;
	return hash;
}

/* ---- what the object says of itself ---- */

static void take_build_id(struct fg_module *module, const uint8_t *notes, size_t size)
{
	while (size >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)(const void *)notes;
		size_t name_size = (note->n_namesz + 3u) & ~(size_t)3u;
		size_t text_size = (note->n_descsz + 3u) & ~(size_t)3u;
		size_t whole = sizeof(*note) + name_size + text_size;

		if (whole > size)
			return;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
		    memcmp(notes + sizeof(*note), "GNU", 4) == 0 &&
		    note->n_descsz <= sizeof(module->build_id)) {
			memcpy(module->build_id, notes + sizeof(*note) + name_size, note->n_descsz);
			module->build_id_size = (uint8_t)note->n_descsz;
			return;
		}
		notes += whole;
		size -= whole;
	}
}

/*
 * The part of the file's mapped segments that `size` bytes at this address lie in; false: they lie
 * in none.
 */
static bool find_segment(const struct fg_module *module, const ElfW(Phdr) * headers, size_t count,
			 uintptr_t at, size_t size, struct fg_tables *found)
{
	for (size_t i = 0; i < count; i++) {
		const uintptr_t start = module->bias + headers[i].p_vaddr;

		if (headers[i].p_type != PT_LOAD || !(headers[i].p_flags & PF_R) || at < start ||
		    at - start > headers[i].p_filesz || headers[i].p_filesz - (at - start) < size)
			continue;
		found->low = (const uint8_t *)start;
		found->high = (const uint8_t *)start + headers[i].p_filesz;
		return true;
	}
	return false;
}

static void read_headers(struct fg_module *module, const ElfW(Phdr) * headers, size_t count)
{
	struct fg_tables segment;
	uintptr_t low = UINTPTR_MAX;
	uintptr_t high = 0;

	for (size_t i = 0; i < count; i++) {
		const ElfW(Phdr) *header = &headers[i];
		uintptr_t at = module->bias + header->p_vaddr;

		if (header->p_type == PT_LOAD) {
			low = at < low ? at : low;
			high = at + header->p_memsz > high ? at + header->p_memsz : high;
		} else if (header->p_type == PT_GNU_EH_FRAME) {
			if (find_segment(module, headers, count, at, header->p_filesz,
					 &module->tables))
				module->tables.hdr = (const uint8_t *)at;
		} else if (header->p_type == PT_NOTE && module->build_id_size == 0 &&
			   find_segment(module, headers, count, at, header->p_memsz, &segment)) {
			take_build_id(module, (const uint8_t *)at, header->p_memsz);
		}
	}
	if (high) {
		const uintptr_t page = FG_TRACE_ALIGN - 1;

		atomic_store_explicit(&module->start, low & ~page, memory_order_relaxed);
		module->end = (high + page) & ~page;
	}
}

/* ---- the table ---- */

static void write_module(struct fg_thread *thread, uint32_t id)
{
	const struct fg_module *module = fg_module(id);

	fg_record_begin(thread, FG_RECORD_MODULE);
	fg_record_number(thread, id);
	fg_record_number(thread, fg_clock_ns(CLOCK_MONOTONIC));
	fg_record_number(thread, atomic_load_explicit(&module->start, memory_order_relaxed));
	fg_record_number(thread, module->end);
	fg_record_number(thread, module->bias);
	fg_record_number(thread, module->flags);
	fg_record_text(thread, module->build_id, module->build_id_size);
	fg_record_path(thread, module->path);
	(void)fg_record_write(thread);
}

static void write_change(struct fg_thread *thread, enum fg_trace_record kind, uint32_t id)
{
	fg_record_begin(thread, kind);
	fg_record_number(thread, id);
	fg_record_number(thread, fg_clock_ns(CLOCK_MONOTONIC));
	(void)fg_record_write(thread);
}

static uint32_t known_at(uintptr_t start)
{
	for (uint32_t id = atomic_load(&fg_g.module_count); id > 0; id--) {
		const struct fg_module *module = fg_module(id);

		if (atomic_load_explicit(&module->start, memory_order_acquire) == start &&
		    atomic_load_explicit(&module->live, memory_order_acquire))
			return id;
	}
	return 0;
}

static bool same_file(const struct fg_module *a, const struct fg_module *b)
{
	return a->build_id_size > 0 && a->build_id_size == b->build_id_size &&
	       memcmp(a->build_id, b->build_id, a->build_id_size) == 0 &&
	       a->path_hash == b->path_hash && a->bias == b->bias && a->end == b->end;
}

static uint32_t revive(struct fg_thread *thread, const struct fg_module *found)
{
	for (uint32_t id = atomic_load(&fg_g.module_count); id > 0; id--) {
		struct fg_module *module = fg_module(id);

		if (!atomic_load(&module->live) && same_file(module, found)) {
			module->path = found->path;
			atomic_store_explicit(&module->live, 1, memory_order_release);
			write_change(thread, FG_RECORD_MODULE_BACK, id);
			return id;
		}
	}
	return 0;
}

static uint32_t add(struct fg_thread *thread, const struct fg_module *found)
{
	uint32_t id = revive(thread, found);

	if (id)
		return id;
	uint32_t count = atomic_load(&fg_g.module_count);

	do {
		if (count >= FG_TRACE_MODULES_MAX) {
			fg_lose(FG_LOSS_MODULES_FULL, 1);
			return 0;
		}
	} while (!atomic_compare_exchange_weak(&fg_g.module_count, &count, count + 1));
	id = count + 1;
	struct fg_module *module = fg_module(id);
	uintptr_t start = atomic_load_explicit(&found->start, memory_order_relaxed);

	module->end = found->end;
	module->bias = found->bias;
	module->tables = found->tables;
	module->flags = found->flags;
	module->path_hash = found->path_hash;
	memcpy(module->build_id, found->build_id, sizeof(module->build_id));
	module->build_id_size = found->build_id_size;
	module->path = found->path;
	atomic_store_explicit(&module->start, start, memory_order_release);
	atomic_store_explicit(&module->live, 1, memory_order_release);
	write_module(thread, id);
	return id;
}

uint32_t fg_module_of_kernel(struct fg_thread *thread)
{
	static _Atomic uint32_t known;
	struct fg_module found = {.flags = FG_MODULE_KERNEL, .path = "[kernel]"};
	uint32_t id = atomic_load_explicit(&known, memory_order_acquire);

	if (id)
		return id;
	found.path_hash = hash_text(found.path);
	id = add(thread, &found);
	atomic_store_explicit(&known, id, memory_order_release);
	return id;
}

static void name_module(struct fg_module *module, const char *path)
{
	static const char program[] = "/proc/self/exe";

	if (module->bias == getauxval(AT_SYSINFO_EHDR) && module->bias) {
		module->flags = FG_MODULE_VDSO;
		module->path = "[vdso]";
	} else if (!path || !*path) {
		module->flags = FG_MODULE_MAIN;
		module->path = fg_g.program[0] ? fg_g.program : program;
	} else {
		module->path = path;
		if (strstr(path, FG_COLLECTOR_NAME))
			module->flags = FG_MODULE_COLLECTOR;
	}
	module->path_hash = hash_text(module->path);
}

struct headers {
	const ElfW(Phdr) * items;
	size_t count; /* 0: they are not known */
};

static struct headers headers_at(const void *start)
{
	const ElfW(Ehdr) *elf = start;

	if (memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 || elf->e_phentsize != sizeof(ElfW(Phdr)))
		return (struct headers){0};
	return (struct headers){
		(const ElfW(Phdr) *)(const void *)((const uint8_t *)elf + elf->e_phoff),
		elf->e_phnum};
}

/*
 * An object may have gaps between its segments: a program whose code is aligned to huge pages.  The
 * loader knows each segment of it as a mapping, of which only the first begins with the headers.
 */
static struct headers find_headers(const struct dl_find_object *object)
{
	const uintptr_t bias = object->dlfo_link_map->l_addr;
	struct headers found = headers_at(object->dlfo_map_start);
	struct dl_find_object first;

	if (found.count)
		return found;
	if (!object->dlfo_link_map->l_name[0])
		return (struct headers){(const ElfW(Phdr) *)getauxval(AT_PHDR),
					getauxval(AT_PHNUM)};
	if (bias && _dl_find_object((void *)bias, &first) == 0 &&
	    first.dlfo_link_map == object->dlfo_link_map)
		return headers_at((const void *)bias);
	return found;
}

static uint32_t add_mapped(struct fg_thread *thread, const struct dl_find_object *object)
{
	const struct headers headers = find_headers(object);
	struct fg_module found = {0};

	found.bias = object->dlfo_link_map->l_addr;
	read_headers(&found, headers.items, headers.count);
	atomic_store_explicit(&found.start, (uintptr_t)object->dlfo_map_start,
			      memory_order_relaxed);
	found.end = (uintptr_t)object->dlfo_map_end;
	name_module(&found, object->dlfo_link_map->l_name);
	const uint32_t id = add(thread, &found);

	if (id && !(found.flags & (FG_MODULE_VDSO | FG_MODULE_COLLECTOR)))
		fg_python_meet(thread, id, found.bias, object->dlfo_link_map->l_ld);
	return id;
}

uint32_t fg_module_find(struct fg_thread *thread, uintptr_t pc)
{
	struct dl_find_object object;

	if (pc < FG_TRACE_ALIGN || _dl_find_object((void *)pc, &object) != 0)
		return 0;
	uint32_t id = known_at((uintptr_t)object.dlfo_map_start);

	return id ? id : add_mapped(thread, &object);
}

static bool is_mapped(uintptr_t low, uintptr_t high)
{
	const uintptr_t page = FG_TRACE_ALIGN - 1;

	/* It starts no writing and says whether all of this is there. */
	return syscall(SYS_msync, low & ~page, ((high + page) & ~page) - (low & ~page), MS_ASYNC) ==
	       0;
}

uint32_t fg_module_find_past(struct fg_thread *thread, uintptr_t pc)
{
	struct dl_find_object object;

	if (pc < FG_TRACE_ALIGN || _dl_find_object((void *)pc, &object) != 0)
		return 0;
	const uint32_t id = known_at((uintptr_t)object.dlfo_map_start);

	if (!id)
		return is_mapped((uintptr_t)object.dlfo_map_start, (uintptr_t)object.dlfo_map_end)
			       ? add_mapped(thread, &object)
			       : 0;
	const struct fg_tables *tables = &fg_module(id)->tables;

	return !tables->hdr || is_mapped((uintptr_t)tables->low, (uintptr_t)tables->high) ? id : 0;
}

/* ---- in normal context ---- */

struct scan {
	struct fg_thread *thread;
};

static int scan_one(struct dl_phdr_info *info, size_t size, void *data)
{
	struct scan *scan = data;
	struct dl_find_object object;

	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type != PT_LOAD || info->dlpi_phdr[i].p_memsz == 0)
			continue;
		if (_dl_find_object((void *)at, &object) == 0 &&
		    !known_at((uintptr_t)object.dlfo_map_start))
			(void)add_mapped(scan->thread, &object);
		break;
	}
	return 0;
}

void fg_modules_scan(struct fg_thread *thread)
{
	struct scan scan = {thread};

	(void)dl_iterate_phdr(scan_one, &scan);
}

void fg_modules_check(struct fg_thread *thread)
{
	const uint32_t count = atomic_load(&fg_g.module_count);
	bool gone = false;

	for (uint32_t id = 1; id <= count; id++) {
		struct fg_module *module = fg_module(id);
		struct dl_find_object object;
		uintptr_t start = atomic_load_explicit(&module->start, memory_order_acquire);

		if (!atomic_load(&module->live) || (module->flags & FG_MODULE_KERNEL) ||
		    (_dl_find_object((void *)start, &object) == 0 &&
		     (uintptr_t)object.dlfo_map_start == start))
			continue;
		atomic_store(&fg_g.any_gone, true);
		atomic_store_explicit(&module->live, 0, memory_order_release);
		gone = true;
		write_change(thread, FG_RECORD_MODULE_GONE, id);
	}
	if (gone)
		(void)atomic_fetch_add(&fg_g.epoch, 1);
}

void fg_modules_rewrite(struct fg_thread *thread)
{
	const uint32_t count = atomic_load(&fg_g.module_count);

	for (uint32_t id = 1; id <= count; id++)
		if (fg_module_live(id))
			write_module(thread, id);
}
