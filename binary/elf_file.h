/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The symbolizer's view of an ELF file: its function symbols sorted by address, its build-id,
 * the names of its PLT entries and where its debug information may lie.  Little-endian files of 32
 * and 64 bits (i386, x86-64, aarch64).
 *
 * The file is untrusted; binary/elf_tables.h reads it. A broken file gives FG_EPARSE and no
 * symbols.
 */
#ifndef FG_BINARY_ELF_FILE_H
#define FG_BINARY_ELF_FILE_H

#include "binary/elf_tables.h"

struct fg_elf_symbol {
	uint64_t value;
	uint32_t size; /* 0: unknown; extends to the next symbol */
	uint32_t name; /* offset into strings */
};

struct fg_elf_plt {
	uint64_t start, end;
	uint32_t entry_size;
	uint32_t first_entry; /* first entry with a relocation: .plt begins with other code */
};

struct fg_elf {
	struct fg_elf_symbol *symbols; /* sorted by value, one symbol per value */
	size_t symbol_count;
	char *strings; /* NUL-terminated */
	struct fg_elf_plt plt[2];
	size_t plt_count;
	uint32_t *plt_names; /* offsets into dynamic_strings, in order of the relocations */
	size_t plt_name_count;
	char *dynamic_strings;
	uint8_t build_id[FG_BUILD_ID_MAX];
	size_t build_id_size;
	char debuglink[256]; /* "": none */
	uint32_t debuglink_crc;
	bool has_symbol_table; /* .symtab, not only .dynsym */
	bool has_debug_info;
	bool has_mini_debug;           /* .gnu_debugdata: see binary/debug_files.h */
	uint64_t code_start, code_end; /* smallest range with all executable sections */
	uint64_t frames_address;       /* address of .eh_frame; see binary/eh_frame.h */
	bool is_narrow;                /* the file is 32-bit */
};

int fg_elf_read(const char *path, struct fg_elf *elf, struct fg_error *err) FG_NODISCARD;
int fg_elf_parse(const void *data, size_t size, const char *name, struct fg_elf *elf,
		 struct fg_error *err) FG_NODISCARD;
void fg_elf_release(struct fg_elf *elf);
/*
 * Reads the section of this name into `bytes`, which the caller frees. FG_ENOENT: no such section;
 * FG_ELIMIT: larger than `max_bytes`.
 */
int fg_elf_read_section(const char *path, const char *section, size_t max_bytes, char **bytes,
			size_t *size, struct fg_error *err) FG_NODISCARD;

struct fg_elf_code {
	uint8_t *bytes; /* freed by the caller */
	size_t size;
	uint16_t machine; /* EM_X86_64, ... */
};

/*
 * Reads up to `size` bytes of machine code at an address, at most to the end of its section.
 * FG_ENOENT: the file has no code at the address.
 */
int fg_elf_read_code(const char *path, uint64_t address, size_t size, struct fg_elf_code *code,
		     struct fg_error *err) FG_NODISCARD;

/* Returns the symbol that contains the address, or NULL. */
const struct fg_elf_symbol *fg_elf_find(const struct fg_elf *elf, uint64_t address);
static inline const char *fg_elf_name(const struct fg_elf *elf, const struct fg_elf_symbol *symbol)
{
	return elf->strings + symbol->name;
}
/*
 * Returns the function that the PLT entry at this address jumps to; "" if unknown, NULL if the
 * address is not in a PLT entry.
 */
const char *fg_elf_plt_target(const struct fg_elf *elf, uint64_t address);
/* hexadecimal; "" without a build-id */
void fg_elf_build_id_text(const struct fg_elf *elf, char text[FG_BUILD_ID_TEXT]);

#endif
