// SPDX-License-Identifier: Apache-2.0
#include "collector/process/symbols.h"

#include "collector/process/exports.h"

#include <stddef.h>

/* The names, and the progress of the lookup. */
struct search {
	/* address in the object to search, or to search after; NULL: all objects are searched */
	const void *holder;
	bool same_object; /* search only that object */
	bool is_past;
	unsigned count;
	const char *const *names;
	void **found;
	const char *path; /* path of the object that contains `holder` */
	uint32_t hashes[FG_SYMBOLS_MAX];
};

static bool holds(const struct dl_phdr_info *info, const void *address)
{
	const uintptr_t at = (uintptr_t)address - info->dlpi_addr;

	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];

		if (header->p_type == PT_LOAD && at >= header->p_vaddr &&
		    at - header->p_vaddr < header->p_memsz)
			return true;
	}
	return false;
}

static void read_exports(struct fg_exports *exports, const struct dl_phdr_info *info)
{
	const ElfW(Dyn) *dynamic = NULL;

	for (size_t i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dynamic = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	fg_exports_read(exports, info->dlpi_addr, dynamic);
}

static bool is_wanted(const struct fg_exports *exports, uint32_t index)
{
	const ElfW(Sym) *symbol = &exports->symbols[index];

	return symbol->st_value && ELF32_ST_TYPE(symbol->st_info) != STT_TLS &&
	       !(exports->versions && exports->versions[index] & FG_VERSION_HIDDEN);
}

static void *look_in(const struct fg_exports *exports, const char *name, uint32_t hash)
{
	uint32_t index = fg_exports_next(exports, name, hash, 0);

	while (index && !is_wanted(exports, index))
		index = fg_exports_next(exports, name, hash, index);
	return index ? (void *)fg_export_address(exports, index) : NULL;
}

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *search = data;
	struct fg_exports exports;
	const bool is_holder = search->holder && !search->is_past && holds(info, search->holder);

	(void)size;
	if (is_holder) {
		search->is_past = true;
		search->path = info->dlpi_name;
	}
	if (search->holder && (search->same_object ? !is_holder : !search->is_past || is_holder))
		return 0;
	read_exports(&exports, info);
	for (unsigned i = 0; i < search->count; i++)
		if (!search->found[i])
			search->found[i] = look_in(&exports, search->names[i], search->hashes[i]);
	return is_holder;
}

static void look(struct search *search)
{
	for (unsigned i = 0; i < search->count; i++)
		search->hashes[i] = fg_name_hash(search->names[i]);
	(void)dl_iterate_phdr(visit, search);
}

/* Its address identifies this library. */
static const char own;

void *fg_symbol_find(enum fg_symbol_scope scope, const void *address, const char *name)
{
	void *found = NULL;
	struct search search = {.names = &name, .found = &found, .count = 1};

	search.same_object = scope == FG_SYMBOL_SAME_OBJECT;
	if (scope != FG_SYMBOL_ANY)
		search.holder = search.same_object ? address : &own;
	look(&search);
	return found;
}

void fg_symbols_next(const char *const *names, void **found, unsigned count)
{
	struct search search = {.names = names, .found = found, .holder = &own};

	search.count = count < FG_SYMBOLS_MAX ? count : FG_SYMBOLS_MAX;
	look(&search);
}

const char *fg_symbol_object(const void *address)
{
	struct search search = {.holder = address, .same_object = true};

	look(&search);
	return search.path;
}

bool fg_symbol_is_own(const void *address)
{
	const char *object = fg_symbol_object(address);

	return object && object == fg_symbol_object(&own);
}
