/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A linked program or library for x86-64 or arm64 as the loader would lay it out: sections by
 * address, the symbols in them, and the relocations with their targets.
 *
 * The file is untrusted: binary/elf_tables.h reads it.  Release the image with
 * fg_image_release().
 */
#ifndef FG_CODE_IMAGE_H
#define FG_CODE_IMAGE_H

#include "base/arena.h"
#include "binary/elf_tables.h"

struct fg_image_section {
	const char *name;
	const uint8_t *bytes; /* NULL: nothing in the file (.bss) */
	uint64_t address;
	uint64_t size;
	bool is_code;
	bool is_writable;
};

/* A function or object in the symbol table. */
struct fg_image_symbol {
	/*
	 * The name without the numbers that a compiler assigns anew in each build: "parse.part.2"
	 * is "parse.part".
	 */
	const char *name;
	const char *unit; /* source file of a local symbol; "": global */
	uint64_t address;
	uint64_t size;
	bool is_function;
	bool is_exported; /* in the dynamic symbol table: another library may bind to it */
	bool is_start_file;
};

/* Another name for a symbol at the same address. */
struct fg_image_alias {
	const char *name;
	uint64_t address;
};

struct fg_image_relocation {
	uint64_t address;
	uint64_t target;    /* address in this image; meaningless when `import` is set */
	const char *import; /* name of the symbol that the slot is bound to; NULL: see `target` */
	int64_t addend;     /* offset from the import */
};

/* A raw symbol from a symbol table. */
struct fg_image_entry {
	const char *name;
	uint64_t address;
	uint64_t size;
	unsigned type; /* STT_FUNC and so on */
	bool is_defined;
};

struct fg_image {
	struct fg_arena arena;
	char *file;
	size_t file_size;
	struct fg_elf_symbol_rows table; /* .symtab and .dynsym: names below point into them */
	struct fg_elf_symbol_rows dynamic_table;
	const Elf64_Phdr *segments;
	size_t segment_count;
	struct fg_image_section *sections; /* loaded sections, by address */
	size_t section_count;
	struct fg_image_symbol *symbols; /* sorted by address, one per address */
	size_t symbol_count;
	struct fg_image_alias *aliases;
	size_t alias_count;
	/* only from fg_image_read_parts(): the symbols of both tables */
	struct fg_image_entry *entries;
	size_t entry_count;
	struct fg_image_relocation *relocations; /* sorted by address */
	size_t relocation_count;
	uint16_t machine;   /* EM_X86_64 or EM_AARCH64 */
	uint64_t low, high; /* addresses in [low, high) belong to the image */
	bool is_fixed;      /* not position independent: holds addresses as plain numbers */
};

/*
 * FG_EPARSE: not an ELF file, or a broken one; FG_EUNSUPPORTED: another machine, or no symbol
 * table; FG_ELIMIT: too large.  On failure the image is empty.
 *
 * `folder` (may be NULL) is the folder of the build. Its path is overwritten wherever the file
 * contains it, so that builds in two folders with paths of equal length are alike.
 */
int fg_image_read(const char *path, const char *folder, struct fg_image *image,
		  struct fg_error *err) FG_NODISCARD;
/*
 * Reads any x86-64 image, stripped or not: sections, relocations, and raw symbols in place of
 * sorted symbols and aliases.
 */
int fg_image_read_parts(const char *path, struct fg_image *image, struct fg_error *err)
	FG_NODISCARD;
void fg_image_release(struct fg_image *image);

/* Returns a symbol's name in the form of fg_image_symbol, in the arena. */
const char *fg_image_plain_name(struct fg_arena *arena, const char *name);
/* Returns the section that holds this address, or NULL. */
const struct fg_image_section *fg_image_section_at(const struct fg_image *image, uint64_t address);
/* Returns the symbol whose bytes hold this address, or NULL. */
const struct fg_image_symbol *fg_image_symbol_at(const struct fg_image *image, uint64_t address);
/* Returns the relocation at exactly this address, or NULL. */
const struct fg_image_relocation *fg_image_relocation_at(const struct fg_image *image,
							 uint64_t address);
/* Returns the first relocation at or after this address; `relocation_count` if none. */
size_t fg_image_first_relocation(const struct fg_image *image, uint64_t address);

#endif
