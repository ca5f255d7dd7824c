/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two widths of ELF.  Files of 32 and of 64 bits hold the same tables in rows of other shapes;
 * each row is turned into its 64-bit form where it is read, so that the rest of the reader knows
 * one shape only.
 */
#ifndef FG_SYMBOLS_ELF_CLASS_H
#define FG_SYMBOLS_ELF_CLASS_H

#include "base/base.h"

#include <elf.h>

struct fg_elf_class {
	size_t header_size, segment_size, section_size, symbol_size, dynamic_size;
	size_t relocation_size[2]; /* without and with an addend */
	/* Sizes in bytes; any alignment. */
	void (*read_header)(const void *bytes, Elf64_Ehdr *header);
	void (*read_segment)(const void *bytes, Elf64_Phdr *segment);
	void (*read_section)(const void *bytes, Elf64_Shdr *section);
	void (*read_symbol)(const void *bytes, Elf64_Sym *symbol);
	void (*read_dynamic)(const void *bytes, Elf64_Dyn *entry);
	size_t (*relocated_symbol)(const void *bytes); /* which symbol a relocation is about */
};

/* The class of a file by its first bytes; NULL: neither 32 nor 64 bits. */
const struct fg_elf_class *fg_elf_class_of(const unsigned char ident[EI_NIDENT]);

#endif
