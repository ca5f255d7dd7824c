// SPDX-License-Identifier: Apache-2.0
#include "collector/unwind/modules.h"

#include "collector/counting/own_memory.h"
#include "collector/process/real.h"
#include "collector/python/python.h"
#include "collector/sampler/collector_env.h"
#include "collector/sampler/writer.h"

#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Reserved address space: pages are allocated as modules appear. */
static const size_t table_size = sizeof(struct fg_module) * (FG_TRACE_MODULES_MAX + 1);

/* The result of _dl_find_object(), which headers before glibc 2.35 lack. */
struct loaded {
	unsigned long long flags;
	void *start;
	void *end;
	struct link_map *map;
	void *more[12];
};

/*
 * _dl_find_object(). NULL if this libc lacks it or it is not wanted: then the table of modules is
 * the index. The table begins with the objects loaded at start; a handler that misses an object
 * (add_loaded_modules()) or a scan adds later objects.
 */
static int (*find_loaded)(void *pc, struct loaded *found);
static const struct r_debug *debug; /* the loader's list of objects */
/* The last object of the loader's list that is in the index. */
static struct link_map *_Atomic last;
static _Atomic uint32_t scans; /* number of scans so far */

int fg_modules_init(void)
{
	void *find = fg_real(FG_REAL__dl_find_object);
	FG_REAL(_r_debug);

	if (fg_real_exists(FG_REAL__dl_find_object) && !fg_g.options.own_index)
		memcpy(&find_loaded, &find, sizeof(find_loaded));
	if (fg_real_exists(FG_REAL__r_debug))
		debug = real__r_debug;
	else if (fg_real_exists(FG_REAL__dl_debug_addr))
		debug = *(const struct r_debug *const *)fg_real(FG_REAL__dl_debug_addr);
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

/* ---- the object's headers ---- */

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
 * Finds the mapped segment whose part of the file contains `size` bytes at this address; false:
 * none.
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

static void add_code(struct fg_module *module, uintptr_t start, uintptr_t end)
{
	if (!module->code_end || start < module->code_start)
		module->code_start = start;
	if (end > module->code_end)
		module->code_end = end;
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
			if (header->p_flags & PF_X)
				add_code(module, at, at + header->p_memsz);
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

/* Returns the newest module that contains the address; 0: none. */
static uint32_t known_around(uintptr_t pc)
{
	for (uint32_t id = atomic_load(&fg_g.module_count); id > 0; id--) {
		const struct fg_module *module = fg_module(id);
		const uintptr_t start = atomic_load_explicit(&module->start, memory_order_acquire);

		if (start && pc - start < module->end - start &&
		    atomic_load_explicit(&module->live, memory_order_acquire))
			return id;
	}
	return 0;
}

static bool same_place(const struct fg_module *a, const struct fg_module *b)
{
	return a->path_hash == b->path_hash && a->bias == b->bias && a->end == b->end;
}

static bool same_file(const struct fg_module *a, const struct fg_module *b)
{
	return a->build_id_size > 0 && a->build_id_size == b->build_id_size &&
	       memcmp(a->build_id, b->build_id, a->build_id_size) == 0 && same_place(a, b);
}

static uint32_t revive(struct fg_thread *thread, const struct fg_module *found)
{
	const uintptr_t start = atomic_load_explicit(&found->start, memory_order_relaxed);

	for (uint32_t id = atomic_load(&fg_g.module_count); id > 0 && start; id--) {
		struct fg_module *module = fg_module(id);

		/*
		 * Another thread may be filling the entry in: its `start` is 0 until that is done.
		 */
		if (atomic_load_explicit(&module->start, memory_order_acquire) == start &&
		    !atomic_load(&module->live) && same_file(module, found)) {
			/* another thread may also be storing this path */
			module->path = found->path;
			atomic_store(&module->seen, atomic_load(&scans));
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
			fg_count_loss(FG_LOSS_MODULES_FULL, 1);
			return 0;
		}
	} while (!atomic_compare_exchange_weak(&fg_g.module_count, &count, count + 1));
	id = count + 1;
	struct fg_module *module = fg_module(id);
	uintptr_t start = atomic_load_explicit(&found->start, memory_order_relaxed);

	module->end = found->end;
	module->bias = found->bias;
	module->code_start = found->code_start;
	module->code_end = found->code_end;
	module->tables = found->tables;
	module->flags = found->flags;
	module->path_hash = found->path_hash;
	memcpy(module->build_id, found->build_id, sizeof(module->build_id));
	module->build_id_size = found->build_id_size;
	module->path = found->path;
	atomic_store(&module->seen, atomic_load(&scans));
	atomic_store_explicit(&module->live, 1, memory_order_relaxed);
	atomic_store_explicit(&module->start, start, memory_order_release);
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
	} else if (!path || !*path || path == (const char *)getauxval(AT_EXECFN)) {
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
	size_t count; /* number of headers; 0: unknown */
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
 * Finds the program headers. An object may have gaps between its segments, for example a program
 * whose code is aligned to huge pages. The loader then knows each segment as a mapping, and only
 * the first begins with the headers.
 */
static struct headers find_headers(const struct loaded *object)
{
	const uintptr_t bias = object->map->l_addr;
	struct headers found = headers_at(object->start);
	struct loaded first;

	if (found.count)
		return found;
	if (!object->map->l_name[0])
		return (struct headers){(const ElfW(Phdr) *)getauxval(AT_PHDR),
					getauxval(AT_PHNUM)};
	if (bias && find_loaded((void *)bias, &first) == 0 && first.map == object->map)
		return headers_at((const void *)bias);
	return found;
}

/* Names the module, adds it, and checks whether it is a Python interpreter. 0: no room. */
static uint32_t add_named(struct fg_thread *thread, struct fg_module *found, const char *name,
			  const void *dynamic)
{
	name_module(found, name);
	const uint32_t id = add(thread, found);

	if (id && !(found->flags & (FG_MODULE_VDSO | FG_MODULE_COLLECTOR)))
		fg_python_check_module(thread, id, found->bias, dynamic);
	return id;
}

static uint32_t add_loaded(struct fg_thread *thread, const struct loaded *object)
{
	const struct headers headers = find_headers(object);
	struct fg_module found = {0};

	found.bias = object->map->l_addr;
	read_headers(&found, headers.items, headers.count);
	atomic_store_explicit(&found.start, (uintptr_t)object->start, memory_order_relaxed);
	found.end = (uintptr_t)object->end;
	return add_named(thread, &found, object->map->l_name, object->map->l_ld);
}

static bool is_mapped(uintptr_t low, uintptr_t high)
{
	const uintptr_t begin = fg_page_down(low);

	/* With these flags, msync() writes nothing, and fails unless the whole range is mapped. */
	return syscall(SYS_msync, begin, fg_page_up(high) - begin, MS_ASYNC) == 0;
}

static bool has_tables(uint32_t id)
{
	const struct fg_tables *tables = &fg_module(id)->tables;

	return !tables->hdr || is_mapped((uintptr_t)tables->low, (uintptr_t)tables->high);
}

/* ---- our own index, in a handler ---- */

/*
 * Steps to the next object of the loader's list, and adds the object if it is unknown; false: the
 * list ends here, or cannot be read. The loader appends objects to its list under a lock that a
 * handler cannot take. It frees entries in dlclose(), which our dlclose() wraps, and when dlopen()
 * fails: an entry is used only if it points back to its predecessor.
 */
static bool add_next_module(struct fg_thread *thread, struct link_map **at)
{
	struct link_map *next = fg_is_readable((uintptr_t) & (*at)->l_next) ? (*at)->l_next : NULL;
	struct fg_module found = {0};

	if (!next || !fg_is_readable((uintptr_t)next) ||
	    !fg_is_readable((uintptr_t)&next->l_prev) || next->l_prev != *at)
		return false;
	*at = next;
	found.bias = next->l_addr;
	if (!found.bias || !fg_is_readable(found.bias))
		return true; /* a scan will find the module */
	const struct headers headers = headers_at((const void *)found.bias);

	read_headers(&found, headers.items, headers.count);
	const uintptr_t start = atomic_load_explicit(&found.start, memory_order_relaxed);

	if (start && !known_at(start))
		(void)add_named(thread, &found, next->l_name, next->l_ld);
	return true;
}

/* Adds the objects that the loader has appended to its list since the last call. */
static void add_loaded_modules(struct fg_thread *thread)
{
	struct link_map *at = atomic_load_explicit(&last, memory_order_acquire);
	bool met = false;

	if (!at || !debug || fg_g.sandboxed || atomic_load(&fg_g.unloading) ||
	    *(const volatile int *)&debug->r_state != RT_CONSISTENT)
		return;
	while (add_next_module(thread, &at))
		met = true;
	if (met)
		atomic_store_explicit(&last, at, memory_order_release);
}

/*
 * Finds a module in our own index. libc unloads some objects (converters of iconv()) without a
 * dlclose() that we see, so the tables of a module that may be unloaded are checked before use.
 */
static uint32_t find_own(struct fg_thread *thread, uintptr_t pc)
{
	uint32_t id = known_around(pc);

	if (!id) {
		add_loaded_modules(thread);
		id = known_around(pc); /* another thread may have added it */
	}
	if (id && !atomic_load(&fg_module(id)->stays) && !fg_g.sandboxed && !has_tables(id))
		return 0;
	return id;
}

/* ---- lookups ---- */

static uint32_t find(struct fg_thread *thread, uintptr_t pc, bool may_be_gone)
{
	struct loaded object;

	if (pc < FG_TRACE_ALIGN)
		return 0;
	if (!find_loaded)
		return find_own(thread, pc);
	if (find_loaded((void *)pc, &object) != 0)
		return 0;
	const uint32_t id = known_at((uintptr_t)object.start);

	if (id)
		return !may_be_gone || has_tables(id) ? id : 0;
	if (may_be_gone && !is_mapped((uintptr_t)object.start, (uintptr_t)object.end))
		return 0;
	return add_loaded(thread, &object);
}

const struct fg_module *fg_module_around(uintptr_t address)
{
	const uint32_t id = known_around(address);

	return id ? fg_module(id) : NULL;
}

uint32_t fg_module_find(struct fg_thread *thread, uintptr_t pc)
{
	return find(thread, pc, false);
}

uint32_t fg_module_find_past(struct fg_thread *thread, uintptr_t pc)
{
	return find(thread, pc, true);
}

/* ---- in normal context ---- */

struct scan {
	struct fg_thread *thread;
	uint32_t number;
};

static void end_module(struct fg_thread *thread, uint32_t id)
{
	atomic_store(&fg_g.any_gone, true);
	atomic_store_explicit(&fg_module(id)->live, 0, memory_order_release);
	write_change(thread, FG_RECORD_MODULE_GONE, id);
	(void)atomic_fetch_add(&fg_g.epoch, 1);
}

/*
 * Returns the module that begins where this object does; 0: none. If a different module is known
 * there, it was unloaded unnoticed, and this object was loaded in its place.
 */
static uint32_t known_as(struct fg_thread *thread, struct fg_module *found, const char *name)
{
	const uint32_t id = known_at(atomic_load_explicit(&found->start, memory_order_relaxed));

	if (!id)
		return 0;
	name_module(found, name);
	if (same_place(fg_module(id), found))
		return id;
	end_module(thread, id);
	return 0;
}

static bool is_known(struct fg_thread *thread, const struct loaded *object)
{
	struct fg_module found = {.bias = object->map->l_addr, .end = (uintptr_t)object->end};

	atomic_store_explicit(&found.start, (uintptr_t)object->start, memory_order_relaxed);
	return known_as(thread, &found, object->map->l_name) != 0;
}

static void scan_loaded(struct fg_thread *thread, const struct dl_phdr_info *info)
{
	struct loaded object;

	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type != PT_LOAD || info->dlpi_phdr[i].p_memsz == 0)
			continue;
		if (find_loaded((void *)at, &object) == 0 && !is_known(thread, &object))
			(void)add_loaded(thread, &object);
		break;
	}
}

/*
 * Adds an object to our own index. Two concurrent scans, which musl allows, may add an object
 * twice: the next fg_modules_check() drops one of the two entries.
 */
static void scan_own(struct scan *scan, const struct dl_phdr_info *info)
{
	struct fg_module found = {.bias = info->dlpi_addr};
	const void *dynamic = NULL;

	if (!scan->number) {
		scan->number = atomic_fetch_add(&scans, 1) + 1;
		struct link_map *end = debug ? debug->r_map : NULL;

		while (end && end->l_next)
			end = end->l_next;
		atomic_store_explicit(&last, end, memory_order_release);
	}
	read_headers(&found, info->dlpi_phdr, info->dlpi_phnum);
	for (size_t i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dynamic = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	uint32_t id = known_as(scan->thread, &found, info->dlpi_name);

	if (!id)
		id = add_named(scan->thread, &found, info->dlpi_name, dynamic);
	if (!id)
		return;
	uint32_t seen = atomic_load(&fg_module(id)->seen);

	while (seen < scan->number &&
	       !atomic_compare_exchange_weak(&fg_module(id)->seen, &seen, scan->number))
		;
	if (scan->number == 1)
		atomic_store(&fg_module(id)->stays, true);
}

static int scan_one(struct dl_phdr_info *info, size_t size, void *data)
{
	struct scan *scan = data;

	(void)size;
	if (find_loaded)
		scan_loaded(scan->thread, info);
	else
		scan_own(scan, info);
	return 0;
}

static uint32_t scan_all(struct fg_thread *thread)
{
	struct scan scan = {.thread = thread};

	(void)dl_iterate_phdr(scan_one, &scan);
	return scan.number;
}

void fg_modules_scan(struct fg_thread *thread)
{
	(void)scan_all(thread);
}

static bool is_gone(const struct fg_module *module, uint32_t scan)
{
	const uintptr_t start = atomic_load_explicit(&module->start, memory_order_acquire);
	struct loaded object;

	if (!atomic_load(&module->live) || (module->flags & FG_MODULE_KERNEL))
		return false;
	if (!find_loaded)
		return atomic_load(&module->seen) < scan;
	return find_loaded((void *)start, &object) != 0 || (uintptr_t)object.start != start;
}

void fg_modules_check(struct fg_thread *thread)
{
	const uint32_t count = atomic_load(&fg_g.module_count);
	const uint32_t scan = find_loaded ? 0 : scan_all(thread);

	for (uint32_t id = 1; id <= count; id++)
		if (is_gone(fg_module(id), scan))
			end_module(thread, id);
}

void fg_modules_rewrite(struct fg_thread *thread)
{
	const uint32_t count = atomic_load(&fg_g.module_count);

	for (uint32_t id = 1; id <= count; id++)
		if (fg_module_live(id))
			write_module(thread, id);
}
