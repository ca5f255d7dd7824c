// SPDX-License-Identifier: Apache-2.0
#include "tests/targets/elf_symbols.h"

#include "base/base.h"
#include "base/fs.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add(struct elf_symbols *symbols, const char *name, uint64_t address, uint64_t size)
{
	struct elf_symbol *symbol = &symbols->list[symbols->count++];

	symbol->address = address;
	symbol->size = size ? size : 1;
	(void)snprintf(symbol->name, sizeof(symbol->name), "%s", name);
}

/* The 32-bit and the 64-bit reader differ only in their types. */
#define READ_SYMBOLS(EHDR, SHDR, SYM, TYPE)                                    \
 do {                                                                          \
  const EHDR *header = (const void *)data;                                     \
  const SHDR *sections = (const void *)(data + header->e_shoff);               \
                                                                               \
  for (unsigned i = 0; i < header->e_shnum; i++) {                             \
   if (sections[i].sh_type != SHT_SYMTAB)                                      \
    continue;                                                                  \
   const SYM *list = (const void *)(data + sections[i].sh_offset);             \
   const char *names = data + sections[sections[i].sh_link].sh_offset;         \
   const size_t count = sections[i].sh_size / sizeof(*list);                   \
                                                                               \
   symbols->list = fg_xmalloc((count + 1) * sizeof(*symbols->list));           \
   for (size_t k = 0; k < count; k++)                                          \
    if (TYPE(list[k].st_info) == STT_FUNC && list[k].st_shndx)                 \
     add(symbols, names + list[k].st_name, list[k].st_value, list[k].st_size); \
   break;                                                                      \
  }                                                                            \
 } while (0)

void elf_symbols_read(const char *path, struct elf_symbols *symbols)
{
	char *data = NULL;
	size_t size = 0;

	*symbols = (struct elf_symbols){0};
	if (fg_fs_read(path, (size_t)256 << 20, &data, &size, NULL) != FG_OK)
		return;
	if (size > sizeof(Elf64_Ehdr) && memcmp(data, ELFMAG, SELFMAG) == 0) {
		if (data[EI_CLASS] == ELFCLASS64)
			READ_SYMBOLS(Elf64_Ehdr, Elf64_Shdr, Elf64_Sym, ELF64_ST_TYPE);
		else
			READ_SYMBOLS(Elf32_Ehdr, Elf32_Shdr, Elf32_Sym, ELF32_ST_TYPE);
	}
	free(data);
}

const char *elf_symbols_find(const struct elf_symbols *symbols, uint64_t address)
{
	for (size_t i = 0; i < symbols->count; i++)
		if (address >= symbols->list[i].address &&
		    address - symbols->list[i].address < symbols->list[i].size)
			return symbols->list[i].name;
	return NULL;
}

void elf_symbols_release(struct elf_symbols *symbols)
{
	free(symbols->list);
	*symbols = (struct elf_symbols){0};
}
