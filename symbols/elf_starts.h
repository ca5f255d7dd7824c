/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the functions of a stripped binary begin.  Its names are gone, but its unwind tables are
 * not: .eh_frame_hdr lists the beginning of each function, sorted.  So all addresses of a nameless
 * function share one name, "library+0xbeginning".
 */
#ifndef FG_SYMBOLS_ELF_STARTS_H
#define FG_SYMBOLS_ELF_STARTS_H

#include "symbols/elf_file.h"

struct fg_elf_starts {
	uint64_t *items; /* ascending */
	size_t count;
};

/* FG_ENOENT: the file has no such table; FG_EPARSE: not the layout that linkers write. */
int fg_elf_starts_read(const char *path, const struct fg_elf *elf, struct fg_elf_starts *starts,
		       struct fg_error *err) FG_NODISCARD;
/* As above, from the section's bytes. */
int fg_elf_starts_parse(const void *bytes, size_t size, const struct fg_elf *elf,
			struct fg_elf_starts *starts, struct fg_error *err) FG_NODISCARD;
void fg_elf_starts_release(struct fg_elf_starts *starts);

/* The beginning of the function around the address; the address itself when none is known. */
uint64_t fg_elf_starts_find(const struct fg_elf_starts *starts, uint64_t address);
/* The first beginning after the address; 0: none is known. */
uint64_t fg_elf_starts_after(const struct fg_elf_starts *starts, uint64_t address);

#endif
