// SPDX-License-Identifier: Apache-2.0
/*
 * Which addresses are those of functions that are wanted, in objects that were compiled with
 * -finstrument-functions: their symbol tables say it.  The table is filled while objects cannot
 * come and go, and read by all threads at any time: an entry is published by its address, and only
 * its function changes from then on.
 */
#include "collector/call_symbols.h"

#include "collector/calls.h"
#include "collector/paths.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	ENTRIES = 1 << 15,
	GONE = FG_CALLED_MAX, /* no function has this index */
};

struct symbol {
	_Atomic uintptr_t address; /* 0: free */
	_Atomic uint32_t function; /* index in fg_called, or GONE */
	_Atomic uint32_t size;     /* bytes */
};

static struct symbol *_Atomic symbols;
static uint32_t used;

/* The entry of the address, or the free one where it would be. */
static struct symbol *place_of(struct symbol *all, uintptr_t address)
{
	uint32_t at = fg_spread(address) % ENTRIES;

	for (;; at = (at + 1) % ENTRIES) {
		const uintptr_t key = atomic_load_explicit(&all[at].address, memory_order_acquire);

		if (key == address || key == 0)
			return &all[at];
	}
}

bool fg_call_symbol_find(uintptr_t address, struct fg_call_symbol *found)
{
	struct symbol *all = atomic_load_explicit(&symbols, memory_order_acquire);
	struct symbol *symbol = all ? place_of(all, address) : NULL;

	if (!symbol || !atomic_load_explicit(&symbol->address, memory_order_relaxed))
		return false;
	found->function = atomic_load_explicit(&symbol->function, memory_order_relaxed);
	found->size = atomic_load_explicit(&symbol->size, memory_order_relaxed);
	return found->function != GONE;
}

static void add(uintptr_t address, uint32_t function, uint32_t size)
{
	struct symbol *all = atomic_load(&symbols);
	struct symbol *symbol = NULL;

	if (!all) {
		void *memory = mmap(NULL, ENTRIES * sizeof(struct symbol), PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (memory == MAP_FAILED)
			return;
		all = memory;
		atomic_store(&symbols, all);
	}
	symbol = place_of(all, address);
	if (!atomic_load(&symbol->address)) {
		if (used == ENTRIES / 4 * 3)
			return;
		used++;
	}
	atomic_store(&symbol->function, function);
	atomic_store(&symbol->size, size);
	atomic_store_explicit(&symbol->address, address, memory_order_release);
}

void fg_call_symbols_sweep(bool (*is_loaded)(uintptr_t address))
{
	struct symbol *all = atomic_load(&symbols);

	for (uint32_t i = 0; all && i < ENTRIES; i++) {
		const uintptr_t address = atomic_load(&all[i].address);

		if (address && !is_loaded(address))
			atomic_store(&all[i].function, GONE);
	}
}

/* ---- files ---- */

struct file {
	uint8_t *bytes;
	size_t size;
};

static bool map_file(const char *path, struct file *file)
{
	const int fd = (int)syscall(SYS_openat, AT_FDCWD, *path ? path : "/proc/self/exe",
				    O_RDONLY | O_CLOEXEC);
	const off_t size = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
	void *memory = MAP_FAILED;

	if (size > (off_t)sizeof(ElfW(Ehdr)))
		memory = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (fd >= 0)
		(void)syscall(SYS_close, fd);
	if (memory == MAP_FAILED)
		return false;
	*file = (struct file){.bytes = memory, .size = (size_t)size};
	return true;
}

/* `count` things of this size that lie in the file from there; NULL: they do not. */
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

static void read_symbol(const ElfW(Sym) * symbol, const struct names *names,
			const struct fg_call_object *object)
{
	const char *name = names->bytes + symbol->st_name;
	char readable[FG_CALL_NAME_MAX];
	uint32_t function = 0;

	if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF ||
	    symbol->st_name >= names->size ||
	    strnlen(name, names->size - symbol->st_name) == names->size - symbol->st_name ||
	    !fg_call_is_wanted(name, readable))
		return;
	if (object->add(readable, object->path, &function))
		add(object->bias + symbol->st_value, function, (uint32_t)symbol->st_size);
}

static bool read_table(const struct file *file, const ElfW(Shdr) * sections, size_t section_count,
		       uint32_t kind, const struct fg_call_object *object)
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
			read_symbol(&table[n], &names, object);
		return table && names.bytes;
	}
	return false;
}

bool fg_call_symbols_read(const struct fg_call_object *object)
{
	struct file file;
	const ElfW(Ehdr) *header = NULL;
	const ElfW(Shdr) *sections = NULL;
	bool is_complete = false;

	if (!map_file(object->path, &file))
		return false;
	header = (const void *)file.bytes;
	if (memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
	    header->e_shentsize == sizeof(ElfW(Shdr)))
		sections = part(&file, header->e_shoff, header->e_shnum, sizeof(*sections));
	if (sections) {
		is_complete = read_table(&file, sections, header->e_shnum, SHT_SYMTAB, object);
		if (!is_complete)
			(void)read_table(&file, sections, header->e_shnum, SHT_DYNSYM, object);
	}
	(void)munmap(file.bytes, file.size);
	return is_complete;
}
