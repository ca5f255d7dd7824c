// SPDX-License-Identifier: Apache-2.0
/* Cache of addresses and their names: nothing is looked up twice. */
#include "binary/symbolizer.h"

#include "base/fs.h"
#include "base/sorted.h"
#include "binary/symbolizer_private.h"

struct fg_symbolizer *fg_symbolizer_new(const struct fg_symbolizer_options *options)
{
	struct fg_symbolizer *symbolizer = fg_xcalloc(1, sizeof(*symbolizer));

	if (options)
		symbolizer->options = *options;
	if (!symbolizer->options.debug_root)
		symbolizer->options.debug_root = "/usr/lib/debug";
	return symbolizer;
}

static void prune_cache(const char *cache_folder)
{
	char *symbols = fg_fs_join(cache_folder, "symbols");

	fg_debug_cache_prune(symbols);
	free(symbols);
}

void fg_symbolizer_save(struct fg_symbolizer *symbolizer)
{
	bool saved = false;

	for (size_t i = 0; i < symbolizer->module_count; i++)
		saved = fg_symbol_module_save(symbolizer->modules[i]) || saved;
	if (saved)
		prune_cache(symbolizer->options.cache_folder);
}

void fg_symbolizer_free(struct fg_symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	fg_symbolizer_save(symbolizer);
	for (size_t i = 0; i < symbolizer->module_count; i++)
		fg_symbol_module_free(symbolizer->modules[i]);
	free(symbolizer->modules);
	fg_map_release(&symbolizer->module_index);
	fg_map_release(&symbolizer->readable);
	fg_map_release(&symbolizer->texts);
	fg_arena_release(&symbolizer->arena);
	free(symbolizer);
}

void fg_symbolizer_expect(struct fg_symbol_module *module, size_t addresses)
{
	const size_t count = module->chains.count + addresses;

	module->chains.items = fg_grow(module->chains.items, &module->chains.capacity, count,
				       sizeof(module->chains.items[0]));
}

/* Returns the index of the first known address at or above `address`. */
static size_t place_of(const struct fg_symbol_module *module, uint64_t address)
{
	/* in-order lookups hit the next entry */
	if (module->chains.next < module->chains.count &&
	    module->chains.items[module->chains.next].address == address)
		return module->chains.next;
	return fg_sorted_below(FG_SORTED(module->chains.items, module->chains.count,
					 struct fg_symbol_chain, address),
			       address);
}

static const struct fg_symbol_chain *append_chain(struct fg_symbolizer *s,
						  struct fg_symbol_module *module, uint64_t address)
{
	struct fg_symbol_chain chain = fg_symbolizer_name(s, module, address);

	FG_APPEND(module->chains.items, module->chains.count, module->chains.capacity) = chain;
	return &module->chains.items[module->chains.count - 1];
}

/*
 * Finds an address that came out of order. Such addresses are few: most lookups are in order, and
 * later repetitions look up the same addresses.
 */
static const struct fg_symbol_chain *find_late(struct fg_symbolizer *s,
					       struct fg_symbol_module *module, uint64_t address)
{
	bool is_new;
	const uint32_t place =
		*fg_pair_index_add(&module->chains.late_index, (uint32_t)(address >> 32),
				   (uint32_t)address, (uint32_t)module->chains.late_count, &is_new);

	if (is_new) {
		struct fg_symbol_chain chain = fg_symbolizer_name(s, module, address);

		FG_APPEND(module->chains.late, module->chains.late_count,
			  module->chains.late_capacity) = chain;
	}
	return &module->chains.late[place];
}

static const struct fg_symbol_chain *find_chain(struct fg_symbolizer *s,
						struct fg_symbol_module *module, uint64_t address)
{
	const size_t count = module->chains.count;
	size_t place;

	if (count == 0 || address > module->chains.items[count - 1].address)
		return append_chain(s, module, address);
	place = place_of(module, address);
	if (module->chains.items[place].address != address)
		return find_late(s, module, address);
	module->chains.next = place + 1;
	return &module->chains.items[place];
}

size_t fg_symbolizer_find(struct fg_symbolizer *s, struct fg_symbol_module *module,
			  uint64_t address, const struct fg_symbol **chain)
{
	const struct fg_symbol_chain *found = find_chain(s, module, address);

	*chain = found->symbols;
	return found->count;
}

const char *fg_symbol_module_name(const struct fg_symbol_module *module)
{
	return module->name;
}

const char *fg_symbol_module_source(const struct fg_symbol_module *module)
{
	return module->source;
}

size_t fg_symbol_module_missing_units(const struct fg_symbol_module *module)
{
	return module->debug.is_open ? module->debug.index.units_without_split : 0;
}

static bool defines(const struct fg_elf *elf, const char *name)
{
	for (size_t i = 0; i < elf->symbol_count; i++)
		if (strcmp(fg_elf_name(elf, &elf->symbols[i]), name) == 0)
			return true;
	return false;
}

const char *fg_symbol_module_defines(const struct fg_symbol_module *module,
				     const char *const *names)
{
	for (; *names; names++)
		if (defines(&module->file.elf, *names) || defines(&module->file.separate, *names))
			return *names;
	return NULL;
}

bool fg_symbol_module_is_bad(const struct fg_symbol_module *module)
{
	return module->bad;
}
