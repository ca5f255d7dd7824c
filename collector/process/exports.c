// SPDX-License-Identifier: Apache-2.0
#include "collector/process/exports.h"

#include <string.h>

enum {
	BITS = sizeof(ElfW(Addr)) * 8,
};

const void *fg_dynamic_place(uintptr_t bias, uintptr_t value)
{
	return (const void *)(value >= bias ? value : bias + value);
}

void fg_exports_read(struct fg_exports *exports, uintptr_t bias, const ElfW(Dyn) * dynamic)
{
	*exports = (struct fg_exports){.bias = bias};
	for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
		const void *at = fg_dynamic_place(bias, dynamic->d_un.d_ptr);

		switch (dynamic->d_tag) {
		case DT_SYMTAB:
			exports->symbols = at;
			break;
		case DT_STRTAB:
			exports->strings = at;
			break;
		case DT_VERSYM:
			exports->versions = at;
			break;
		case DT_GNU_HASH:
			exports->gnu_hash = at;
			break;
		case DT_HASH:
			exports->hash = at;
			break;
		default:
			break;
		}
	}
	if (exports->gnu_hash && !exports->gnu_hash[0])
		exports->gnu_hash = NULL;
}

uint32_t fg_name_hash(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (uint8_t)*name;
	return hash;
}

/* The tables of DT_GNU_HASH. */
struct gnu_table {
	const ElfW(Addr) * bloom;
	const uint32_t *buckets;
	const uint32_t *chains; /* by symbol, from `first` on; odd: the last of its bucket */
	uint32_t bucket_count, first, bloom_size, shift;
};

static struct gnu_table gnu_table(const uint32_t *head)
{
	struct gnu_table table = {
		.bucket_count = head[0], .first = head[1], .bloom_size = head[2], .shift = head[3]};

	table.bloom = (const ElfW(Addr) *)(const void *)&head[4];
	table.buckets = (const uint32_t *)(const void *)(table.bloom + table.bloom_size);
	table.chains = table.buckets + table.bucket_count;
	return table;
}

static bool is_named(const struct fg_exports *exports, uint32_t index, const char *name)
{
	const ElfW(Sym) *symbol = &exports->symbols[index];

	return symbol->st_shndx != SHN_UNDEF &&
	       strcmp(exports->strings + symbol->st_name, name) == 0;
}

static uint32_t next_in_gnu_hash(const struct fg_exports *exports, const char *name, uint32_t hash,
				 uint32_t index)
{
	const struct gnu_table table = gnu_table(exports->gnu_hash);
	const ElfW(Addr) word = table.bloom[hash / BITS & (table.bloom_size - 1)];

	if (!(word >> (hash % BITS) & word >> ((hash >> table.shift) % BITS) & 1))
		return 0;
	if (!index)
		index = table.buckets[hash % table.bucket_count];
	else if (table.chains[index++ - table.first] & 1)
		return 0;
	for (; index >= table.first && index; index++) {
		const uint32_t chain = table.chains[index - table.first];

		if ((chain | 1) == (hash | 1) && is_named(exports, index, name))
			return index;
		if (chain & 1)
			break;
	}
	return 0;
}

uint32_t fg_exports_next(const struct fg_exports *exports, const char *name, uint32_t hash,
			 uint32_t index)
{
	if (!exports->symbols || !exports->strings)
		return 0;
	if (exports->gnu_hash)
		return next_in_gnu_hash(exports, name, hash, index);
	for (index++; exports->hash && index < exports->hash[1]; index++)
		if (is_named(exports, index, name))
			return index;
	return 0;
}

uint32_t fg_exports_end(const struct fg_exports *exports)
{
	struct gnu_table table;
	uint32_t last = 0;

	if (!exports->symbols || !exports->strings)
		return 0;
	if (!exports->gnu_hash)
		return exports->hash ? exports->hash[1] : 0;
	table = gnu_table(exports->gnu_hash);
	for (uint32_t bucket = 0; bucket < table.bucket_count; bucket++)
		if (table.buckets[bucket] > last)
			last = table.buckets[bucket];
	if (last < table.first || !last)
		return 0;
	while (!(table.chains[last - table.first] & 1))
		last++;
	return last + 1;
}

uintptr_t fg_export_address(const struct fg_exports *exports, uint32_t index)
{
	const ElfW(Sym) *symbol = &exports->symbols[index];
	const uintptr_t address = exports->bias + symbol->st_value;

	if (ELF32_ST_TYPE(symbol->st_info) != STT_GNU_IFUNC)
		return address;
	return ((uintptr_t(*)(void))address)();
}
