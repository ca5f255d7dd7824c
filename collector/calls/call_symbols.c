// SPDX-License-Identifier: Apache-2.0
/*
 * The table is filled while objects cannot be loaded or unloaded, and read by all threads at any
 * time: an entry is published by its address, which never changes from then on.
 */
#include "collector/calls/call_symbols.h"

#include "collector/calls/calls.h"
#include "collector/calls/entry_plan.h"
#include "collector/unwind/paths.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	ENTRIES = 1 << 16,
	GONE = FG_CALLED_MAX, /* no function has this index */
};

struct fg_call_symbol_entry *_Atomic fg_call_symbols;
static uint32_t used;

/* Returns the entry of the address, or the free entry where it belongs. */
static struct fg_call_symbol_entry *place_of(struct fg_call_symbol_entry *all, uintptr_t address)
{
	uint32_t at = fg_spread(address) % ENTRIES;

	for (;; at = (at + 1) % ENTRIES) {
		const uintptr_t key =
			atomic_load_explicit(&all[at].target.address, memory_order_acquire);

		if (key == address || key == 0)
			return &all[at];
	}
}

uint32_t fg_call_symbol_place(uintptr_t address)
{
	struct fg_call_symbol_entry *all =
		atomic_load_explicit(&fg_call_symbols, memory_order_acquire);
	struct fg_call_symbol_entry *symbol = all ? place_of(all, address) : NULL;

	if (!symbol || !atomic_load_explicit(&symbol->target.address, memory_order_relaxed) ||
	    atomic_load_explicit(&symbol->target.function, memory_order_relaxed) == GONE)
		return 0;
	return (uint32_t)(symbol - all) + 1;
}

bool fg_call_symbol_find(uintptr_t address, struct fg_call_symbol *found)
{
	const uint32_t place = fg_call_symbol_place(address);
	const struct fg_call_symbol_entry *symbol = NULL;

	if (!place)
		return false;
	symbol = &atomic_load_explicit(&fg_call_symbols, memory_order_acquire)[place - 1];
	*found = (struct fg_call_symbol){
		.function = atomic_load_explicit(&symbol->target.function, memory_order_relaxed),
		.size = atomic_load_explicit(&symbol->size, memory_order_relaxed),
		.way = (uint8_t)atomic_load_explicit(&symbol->way, memory_order_relaxed),
		.is_counted_only =
			atomic_load_explicit(&symbol->target.is_counted_only, memory_order_relaxed),
	};
	return true;
}

uint32_t fg_call_symbol_add(uintptr_t address, const struct fg_call_symbol *added)
{
	struct fg_call_symbol_entry *all = atomic_load(&fg_call_symbols);
	struct fg_call_symbol_entry *symbol = NULL;

	if (!all) {
		void *memory = mmap(NULL, ENTRIES * sizeof(*all), PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (memory == MAP_FAILED)
			return 0;
		all = memory;
		atomic_store(&fg_call_symbols, all);
	}
	symbol = place_of(all, address);
	if (!atomic_load(&symbol->target.address)) {
		if (used == ENTRIES / 4 * 3)
			return 0;
		used++;
	}
	atomic_store(&symbol->target.function, added->function);
	atomic_store(&symbol->size, added->size);
	atomic_store(&symbol->way, added->way);
	atomic_store(&symbol->target.is_counted_only, added->is_counted_only);
	atomic_store_explicit(&symbol->target.address, address, memory_order_release);
	return (uint32_t)(symbol - all) + 1;
}

void fg_call_symbols_sweep(bool (*is_loaded)(uintptr_t address))
{
	struct fg_call_symbol_entry *all = atomic_load(&fg_call_symbols);

	for (uint32_t i = 0; all && i < ENTRIES; i++) {
		const uintptr_t address = atomic_load(&all[i].target.address);

		if (address && !is_loaded(address))
			atomic_store(&all[i].target.function, GONE);
	}
}

/* ---- files ---- */

void *fg_call_file_map(const char *path, size_t *size)
{
	const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	const off_t end = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
	void *memory = MAP_FAILED;

	*size = end > 0 ? (size_t)end : 0;
	if (*size)
		memory = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (fd >= 0)
		(void)syscall(SYS_close, fd);
	return memory == MAP_FAILED ? NULL : memory;
}

struct file {
	uint8_t *bytes;
	size_t size;
};

/* Returns `count` items of this size at `offset` in the file; NULL: beyond its end. */
static const void *part(const struct file *file, uint64_t offset, uint64_t count, size_t size)
{
	if (offset > file->size || count > (file->size - offset) / size)
		return NULL;
	return file->bytes + offset;
}

struct names {
	const char *bytes;
	size_t size;
};

struct visiting {
	void *context;
	void (*visit)(void *context, const struct fg_call_defined *symbol);
};

static void visit_symbol(const ElfW(Sym) * symbol, const struct names *names,
			 const struct visiting *to)
{
	const char *name = names->bytes + symbol->st_name;
	const unsigned type = ELF64_ST_TYPE(symbol->st_info);
	char base[FG_CALL_NAME_MAX];
	bool is_clone = false;
	bool is_part = false;
	size_t size = 0;

	if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol->st_shndx == SHN_UNDEF ||
	    symbol->st_name >= names->size ||
	    strnlen(name, names->size - symbol->st_name) == names->size - symbol->st_name)
		return;
	size = fg_plan_plain_size(name, &is_clone, &is_part);
	if (is_part || size >= sizeof(base))
		return;
	memcpy(base, name, size);
	base[size] = '\0';
	to->visit(to->context, &(struct fg_call_defined){
				       .base = base,
				       .address = symbol->st_value,
				       .size = (uint32_t)symbol->st_size,
				       .is_clone = is_clone,
				       .is_resolver = type == STT_GNU_IFUNC,
			       });
}

static bool visit_table(const struct file *file, const ElfW(Shdr) * sections, size_t section_count,
			uint32_t kind, const struct visiting *to)
{
	for (size_t i = 0; i < section_count; i++) {
		const ElfW(Shdr) *section = &sections[i];
		const size_t count = section->sh_size / sizeof(ElfW(Sym));
		const ElfW(Shdr) *texts = NULL;
		const ElfW(Sym) *table = NULL;
		struct names names = {NULL, 0};

		if (section->sh_type != kind || section->sh_link >= section_count)
			continue;
		texts = &sections[section->sh_link];
		table = part(file, section->sh_offset, count, sizeof(*table));
		names.bytes = part(file, texts->sh_offset, texts->sh_size, 1);
		names.size = texts->sh_size;
		for (size_t n = 0; table && names.bytes && n < count; n++)
			visit_symbol(&table[n], &names, to);
		return table && names.bytes;
	}
	return false;
}

bool fg_call_symbols_each(const char *path, void *context,
			  void (*visit)(void *context, const struct fg_call_defined *symbol))
{
	const struct visiting to = {.context = context, .visit = visit};
	struct file file;
	const ElfW(Ehdr) *header = NULL;
	const ElfW(Shdr) *sections = NULL;
	bool is_complete = false;

	file.bytes = fg_call_file_map(*path ? path : "/proc/self/exe", &file.size);
	if (!file.bytes)
		return false;
	header = (const void *)file.bytes;
	if (file.size > sizeof(*header) && memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
	    header->e_shentsize == sizeof(ElfW(Shdr)))
		sections = part(&file, header->e_shoff, header->e_shnum, sizeof(*sections));
	if (sections) {
		is_complete = visit_table(&file, sections, header->e_shnum, SHT_SYMTAB, &to);
		if (!is_complete)
			(void)visit_table(&file, sections, header->e_shnum, SHT_DYNSYM, &to);
	}
	(void)munmap(file.bytes, file.size);
	return is_complete;
}
