// SPDX-License-Identifier: Apache-2.0
#include "profile/attach/exports.h"

#include "binary/elf_tables.h"

enum {
	DYNAMIC_MAX = 256,
	CHAIN_MAX = 1 << 16,
	NAME_MAX_BYTES = 64,
	HASH_WORDS = 4, /* of the head of DT_GNU_HASH */
};

/* ---- exported symbols ---- */

struct tables {
	struct fg_memory *memory;
	uint64_t bias;
	uint64_t symbols, names, hash;
};

/* The loader may have put the address in memory in place of the one in the file, or not. */
static uint64_t address_of(uint64_t bias, uint64_t value)
{
	return value >= bias ? value : bias + value;
}

static bool find_tables(const struct fg_mapping *mapping, struct tables *tables)
{
	for (unsigned i = 0; mapping->dynamic && i < DYNAMIC_MAX; i++) {
		Elf64_Dyn entry;

		if (!fg_memory_read(tables->memory, mapping->dynamic + i * sizeof(entry), &entry,
				    sizeof(entry)) ||
		    entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag == DT_SYMTAB)
			tables->symbols = address_of(mapping->bias, entry.d_un.d_ptr);
		else if (entry.d_tag == DT_STRTAB)
			tables->names = address_of(mapping->bias, entry.d_un.d_ptr);
		else if (entry.d_tag == DT_GNU_HASH)
			tables->hash = address_of(mapping->bias, entry.d_un.d_ptr);
	}
	return tables->symbols && tables->names && tables->hash;
}

static uint32_t hash_name(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (uint8_t)*name;
	return hash;
}

static bool has_name(const struct tables *tables, const Elf64_Sym *symbol, const char *name)
{
	const size_t size = strlen(name) + 1;
	char text[NAME_MAX_BYTES];

	FG_ASSERT(size <= sizeof(text));
	return fg_memory_read(tables->memory, tables->names + symbol->st_name, text, size) &&
	       memcmp(text, name, size) == 0;
}

/* The table: head, bloom filter, buckets, chains. */
static uint64_t find_export(const struct tables *tables, const char *name)
{
	uint32_t head[HASH_WORDS];
	uint64_t buckets = 0;
	uint64_t chains = 0;
	const uint32_t wanted = hash_name(name);
	uint32_t at = 0;

	if (!fg_memory_read(tables->memory, tables->hash, head, sizeof(head)) || head[0] == 0)
		return 0;
	buckets = tables->hash + sizeof(head) + (uint64_t)head[2] * sizeof(uint64_t);
	chains = buckets + (uint64_t)head[0] * sizeof(uint32_t);
	if (!fg_memory_read(tables->memory,
			    buckets + (uint64_t)(wanted % head[0]) * sizeof(uint32_t), &at,
			    sizeof(at)))
		return 0;
	for (unsigned n = 0; at >= head[1] && at != 0 && n < CHAIN_MAX; n++, at++) {
		uint32_t hash = 0;
		Elf64_Sym symbol;

		if (!fg_memory_read(tables->memory,
				    chains + (uint64_t)(at - head[1]) * sizeof(uint32_t), &hash,
				    sizeof(hash)))
			return 0;
		if ((hash | 1u) == (wanted | 1u) &&
		    fg_memory_read(tables->memory, tables->symbols + at * sizeof(symbol), &symbol,
				   sizeof(symbol)) &&
		    symbol.st_shndx != SHN_UNDEF && has_name(tables, &symbol, name))
			return symbol.st_value;
		if (hash & 1u)
			break;
	}
	return 0;
}

bool fg_exports_find(struct fg_memory *memory, const struct fg_mapping *mapping,
		     const char *const *names, size_t count, uint64_t *addresses)
{
	struct tables tables = {.memory = memory};

	if (!find_tables(mapping, &tables))
		return false;
	for (size_t i = 0; i < count; i++) {
		const uint64_t value = find_export(&tables, names[i]);

		if (!value)
			return false;
		addresses[i] = mapping->bias + value;
	}
	return true;
}

/* ---- symbols that are not exported ---- */

static bool take_symbols(const struct fg_elf_symbol_rows *rows, uint64_t bias,
			 const char *const *names, size_t count, uint64_t *addresses)
{
	size_t found = 0;

	memset(addresses, 0, count * sizeof(addresses[0]));
	for (size_t at = 0; at < rows->count && found < count; at++) {
		const Elf64_Sym symbol = fg_elf_symbol_row(rows, at);

		if (symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0)
			continue;
		for (size_t i = 0; i < count; i++) {
			if (addresses[i] ||
			    strcmp(fg_elf_symbol_row_name(rows, &symbol), names[i]) != 0)
				continue;
			addresses[i] = bias + symbol.st_value;
			found++;
		}
	}
	return found == count;
}

bool fg_exports_find_in_file(const char *path, uint64_t bias, const char *const *names,
			     size_t count, uint64_t *addresses)
{
	struct fg_elf_tables elf;
	struct fg_elf_symbol_rows rows = {0};
	bool found = false;

	if (fg_elf_tables_open(path, &elf, NULL) != FG_OK)
		return false;
	if (fg_elf_tables_read_sections(&elf, NULL) == FG_OK)
		fg_elf_symbol_rows_read(&elf, SHT_SYMTAB, &rows);
	found = take_symbols(&rows, bias, names, count, addresses);
	fg_elf_symbol_rows_release(&rows);
	fg_elf_tables_close(&elf);
	return found;
}
