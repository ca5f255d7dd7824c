// SPDX-License-Identifier: Apache-2.0
#include "collector/process/symbols.h"

#include "base/attrs.h"

#include <link.h>
#include <stdint.h>
#include <string.h>

enum {
	VERSION_HIDDEN = 0x8000,
	BITS = sizeof(ElfW(Addr)) * 8,
};

/* The names, and the progress of the look-up. */
struct search {
	const void *holder; /* address in the object to start with, or after; NULL: start at once */
	bool is_beside;     /* search only that object */
	bool is_past;
	unsigned count;
	const char *const *names;
	void **found;
	const char *path; /* path of the object that contains `holder` */
	uint32_t hashes[FG_SYMBOLS_MAX];
};

struct object {
	uintptr_t bias;
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint16_t *versions;
	const uint32_t *gnu_hash;
	const uint32_t *hash;
};

static uint32_t hash_name(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (uint8_t)*name;
	return hash;
}

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

/* With most objects the loader has added the bias to these. */
static const void *place(const struct object *object, uintptr_t value)
{
	return (const void *)(value >= object->bias ? value : object->bias + value);
}

static void read_dynamic(struct object *object, const struct dl_phdr_info *info)
{
	const ElfW(Dyn) *entry = NULL;

	for (size_t i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			entry = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	for (; entry && entry->d_tag != DT_NULL; entry++) {
		const void *at = place(object, entry->d_un.d_ptr);

		switch (entry->d_tag) {
		case DT_SYMTAB:
			object->symbols = at;
			break;
		case DT_STRTAB:
			object->strings = at;
			break;
		case DT_VERSYM:
			object->versions = at;
			break;
		case DT_GNU_HASH:
			object->gnu_hash = at;
			break;
		case DT_HASH:
			object->hash = at;
			break;
		default:
			break;
		}
	}
}

static bool is_wanted(const struct object *object, uint32_t index, const char *name)
{
	const ElfW(Sym) *symbol = &object->symbols[index];

	return symbol->st_shndx != SHN_UNDEF && symbol->st_value &&
	       ELF32_ST_TYPE(symbol->st_info) != STT_TLS &&
	       !(object->versions && object->versions[index] & VERSION_HIDDEN) &&
	       strcmp(object->strings + symbol->st_name, name) == 0;
}

static uint32_t look_in_gnu_hash(const struct object *object, const char *name, uint32_t hash)
{
	const uint32_t bucket_count = object->gnu_hash[0];
	const uint32_t first = object->gnu_hash[1];
	const uint32_t bloom_size = object->gnu_hash[2];
	const uint32_t shift = object->gnu_hash[3];
	const ElfW(Addr) *bloom = (const ElfW(Addr) *)(const void *)&object->gnu_hash[4];
	const uint32_t *buckets = (const uint32_t *)(const void *)(bloom + bloom_size);
	const uint32_t *chains = buckets + bucket_count;
	const ElfW(Addr) word = bloom[hash / BITS & (bloom_size - 1)];

	if (!(word >> (hash % BITS) & word >> ((hash >> shift) % BITS) & 1) || bucket_count == 0)
		return 0;
	for (uint32_t i = buckets[hash % bucket_count]; i >= first && i; i++) {
		const uint32_t chain = chains[i - first];

		if ((chain | 1) == (hash | 1) && is_wanted(object, i, name))
			return i;
		if (chain & 1)
			break;
	}
	return 0;
}

static uint32_t look_in_hash(const struct object *object, const char *name)
{
	const uint32_t symbol_count = object->hash[1];

	for (uint32_t i = 1; i < symbol_count; i++)
		if (is_wanted(object, i, name))
			return i;
	return 0;
}

static void *look_in(const struct object *object, const char *name, uint32_t hash)
{
	const uint32_t index = object->gnu_hash ? look_in_gnu_hash(object, name, hash)
						: look_in_hash(object, name);
	const ElfW(Sym) *symbol = &object->symbols[index];
	void *address = (void *)(object->bias + symbol->st_value);
	void *(*resolve)(void) = NULL;

	if (!index)
		return NULL;
	if (ELF32_ST_TYPE(symbol->st_info) != STT_GNU_IFUNC)
		return address;
	memcpy(&resolve, &address, sizeof(resolve));
	return resolve();
}

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *search = data;
	struct object object = {.bias = info->dlpi_addr};
	const bool is_holder = search->holder && !search->is_past && holds(info, search->holder);

	(void)size;
	if (is_holder) {
		search->is_past = true;
		search->path = info->dlpi_name;
	}
	if (search->holder && (search->is_beside ? !is_holder : !search->is_past || is_holder))
		return 0;
	read_dynamic(&object, info);
	for (unsigned i = 0; object.symbols && object.strings && i < search->count; i++)
		if (!search->found[i] && (object.gnu_hash || object.hash))
			search->found[i] = look_in(&object, search->names[i], search->hashes[i]);
	return is_holder;
}

static void look(struct search *search)
{
	for (unsigned i = 0; i < search->count; i++)
		search->hashes[i] = hash_name(search->names[i]);
	(void)dl_iterate_phdr(visit, search);
}

/* A place in this library itself. */
static const char own;

void *fg_symbol_find(enum fg_symbol_scope scope, const void *address, const char *name)
{
	void *found = NULL;
	struct search search = {.names = &name, .found = &found, .count = 1};

	search.is_beside = scope == FG_SYMBOL_BESIDE;
	if (scope != FG_SYMBOL_ANY)
		search.holder = search.is_beside ? address : &own;
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
	struct search search = {.holder = address, .is_beside = true};

	look(&search);
	return search.path;
}

bool fg_symbol_is_own(const void *address)
{
	const char *object = fg_symbol_object(address);

	return object && object == fg_symbol_object(&own);
}
