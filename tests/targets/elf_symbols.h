/* SPDX-License-Identifier: Apache-2.0 */
/* Function names of an ELF file, by address; as much as the tests need. */
#ifndef FG_TESTS_TARGETS_ELF_SYMBOLS_H
#define FG_TESTS_TARGETS_ELF_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

struct elf_symbols {
	struct elf_symbol {
		uint64_t address;
		uint64_t size;
		char name[64];
	} * list;
	size_t count;
};

/* For a missing file, finds nothing: count stays 0. */
void elf_symbols_read(const char *path, struct elf_symbols *symbols);
const char *elf_symbols_find(const struct elf_symbols *symbols, uint64_t address);
void elf_symbols_release(struct elf_symbols *symbols);

#endif
