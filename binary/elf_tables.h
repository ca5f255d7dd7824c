/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads ELF files: header, segments, sections, symbol tables, the dynamic section and the build-id.
 * Little-endian files of 32 and 64 bits; rows of both widths are given in their 64-bit form.
 *
 * The file is untrusted: a table is checked against the file's size before it is read, and a
 * string against its string table. Files other than ELF give FG_EPARSE; other byte orders and
 * widths give FG_EUNSUPPORTED.
 */
#ifndef FG_BINARY_ELF_TABLES_H
#define FG_BINARY_ELF_TABLES_H

#include "base/byte_source.h"

#include <elf.h>

enum {
	FG_BUILD_ID_MAX = 64,
	FG_BUILD_ID_TEXT = 2 * FG_BUILD_ID_MAX + 1
};

/*
 * The two widths hold the same tables in rows of different layout: each row is converted to its
 * 64-bit form when it is read.
 */
struct fg_elf_class {
	size_t header_size, segment_size, section_size, symbol_size, dynamic_size;
	size_t relocation_size[2]; /* without and with an addend */
	/* `bytes` may have any alignment. */
	void (*read_header)(const void *bytes, Elf64_Ehdr *header);
	void (*read_segment)(const void *bytes, Elf64_Phdr *segment);
	void (*read_section)(const void *bytes, Elf64_Shdr *section);
	void (*read_symbol)(const void *bytes, Elf64_Sym *symbol);
	void (*read_dynamic)(const void *bytes, Elf64_Dyn *entry);
	size_t (*relocated_symbol)(const void *bytes); /* index of a relocation's symbol */
};

/* In elf_class.c: returns the class of a file by its first bytes; NULL: neither 32 nor 64 bits. */
const struct fg_elf_class *fg_elf_class_of(const unsigned char ident[EI_NIDENT]);

struct fg_elf_tables {
	struct fg_source source;
	const char *name; /* for messages; borrowed */
	const struct fg_elf_class *class;
	Elf64_Ehdr header;
	Elf64_Phdr *segments;
	size_t segment_count;
	Elf64_Shdr *sections; /* set by fg_elf_tables_read_sections() */
	size_t section_count;
	char *section_names;
	size_t section_names_size;
};

/* Reads header and segments.  On failure there is nothing to close. */
int fg_elf_tables_open(const char *path, struct fg_elf_tables *elf, struct fg_error *err)
	FG_NODISCARD;
/* Like fg_elf_tables_open(), for a file in memory, which must outlive the tables. */
int fg_elf_tables_open_memory(const void *data, size_t size, const char *name,
			      struct fg_elf_tables *elf, struct fg_error *err) FG_NODISCARD;
/* A file without sections is valid. */
int fg_elf_tables_read_sections(struct fg_elf_tables *elf, struct fg_error *err) FG_NODISCARD;
void fg_elf_tables_close(struct fg_elf_tables *elf);

/* Returns the first segment of this type (PT_INTERP, ...), or NULL. */
const Elf64_Phdr *fg_elf_tables_segment(const struct fg_elf_tables *elf, uint32_t type);
const char *fg_elf_tables_section_name(const struct fg_elf_tables *elf, const Elf64_Shdr *section);
/* Returns NULL if there is no section of this name. */
const Elf64_Shdr *fg_elf_tables_section(const struct fg_elf_tables *elf, const char *name);
/*
 * Returns bytes of the file, followed by a NUL; the caller frees them. NULL: too many bytes, not in
 * the file (such as .bss), or a compressed section.
 */
char *fg_elf_tables_bytes(const struct fg_elf_tables *elf, uint64_t offset, uint64_t size);
char *fg_elf_tables_section_bytes(const struct fg_elf_tables *elf, const Elf64_Shdr *section,
				  size_t *size);
/* Returns the size of the build-id; 0: no build-id. */
size_t fg_elf_tables_build_id(const struct fg_elf_tables *elf, uint8_t id[FG_BUILD_ID_MAX]);

/* .symtab or .dynsym with its string table. */
struct fg_elf_symbol_rows {
	const struct fg_elf_class *class;
	char *rows;
	size_t count;
	char *texts; /* NUL-terminated */
	size_t texts_size;
};

/* `type`: SHT_SYMTAB or SHT_DYNSYM.  Without such a table, or with a broken one, count is 0. */
void fg_elf_symbol_rows_read(const struct fg_elf_tables *elf, uint32_t type,
			     struct fg_elf_symbol_rows *symbols);
/* Returns a zeroed row beyond the end. */
Elf64_Sym fg_elf_symbol_row(const struct fg_elf_symbol_rows *symbols, size_t index);
/* Returns "" for a symbol without a name. */
const char *fg_elf_symbol_row_name(const struct fg_elf_symbol_rows *symbols,
				   const Elf64_Sym *symbol);
void fg_elf_symbol_rows_release(struct fg_elf_symbol_rows *symbols);

/* The dynamic section as the dynamic linker finds it: by its segment. */
struct fg_elf_dynamic {
	Elf64_Dyn *entries; /* entries before DT_NULL */
	size_t count;
	char *texts; /* NUL-terminated; NULL: not found */
	size_t texts_size;
};

/* A file without a dynamic section gives an empty result. */
void fg_elf_dynamic_read(const struct fg_elf_tables *elf, struct fg_elf_dynamic *dynamic);
/* Returns the string that the entry's value refers to (DT_NEEDED, DT_RUNPATH, ...), or NULL. */
const char *fg_elf_dynamic_text(const struct fg_elf_dynamic *dynamic, const Elf64_Dyn *entry);
void fg_elf_dynamic_release(struct fg_elf_dynamic *dynamic);

#endif
