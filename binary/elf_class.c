// SPDX-License-Identifier: Apache-2.0
#include "binary/elf_tables.h"

#define READ_64(name, type)                                 \
 static void name(const void *bytes, __typeof__(type) *row) \
 {                                                          \
  memcpy(row, bytes, sizeof(*row));                         \
 }

READ_64(read_header_64, Elf64_Ehdr)
READ_64(read_segment_64, Elf64_Phdr)
READ_64(read_section_64, Elf64_Shdr)
READ_64(read_symbol_64, Elf64_Sym)
READ_64(read_dynamic_64, Elf64_Dyn)

/* The addend comes last: the fields before it are the same in both kinds of row. */
static size_t relocated_symbol_64(const void *bytes)
{
	Elf64_Rel relocation;

	memcpy(&relocation, bytes, sizeof(relocation));
	return ELF64_R_SYM(relocation.r_info);
}

static void read_header_32(const void *bytes, Elf64_Ehdr *header)
{
	Elf32_Ehdr narrow;

	memcpy(&narrow, bytes, sizeof(narrow));
	memcpy(header->e_ident, narrow.e_ident, sizeof(header->e_ident));
	header->e_type = narrow.e_type;
	header->e_machine = narrow.e_machine;
	header->e_version = narrow.e_version;
	header->e_entry = narrow.e_entry;
	header->e_phoff = narrow.e_phoff;
	header->e_shoff = narrow.e_shoff;
	header->e_flags = narrow.e_flags;
	header->e_ehsize = narrow.e_ehsize;
	header->e_phentsize = narrow.e_phentsize;
	header->e_phnum = narrow.e_phnum;
	header->e_shentsize = narrow.e_shentsize;
	header->e_shnum = narrow.e_shnum;
	header->e_shstrndx = narrow.e_shstrndx;
}

static void read_segment_32(const void *bytes, Elf64_Phdr *segment)
{
	Elf32_Phdr narrow;

	memcpy(&narrow, bytes, sizeof(narrow));
	*segment = (Elf64_Phdr){
		.p_type = narrow.p_type,
		.p_flags = narrow.p_flags,
		.p_offset = narrow.p_offset,
		.p_vaddr = narrow.p_vaddr,
		.p_paddr = narrow.p_paddr,
		.p_filesz = narrow.p_filesz,
		.p_memsz = narrow.p_memsz,
		.p_align = narrow.p_align,
	};
}

static void read_section_32(const void *bytes, Elf64_Shdr *section)
{
	Elf32_Shdr narrow;

	memcpy(&narrow, bytes, sizeof(narrow));
	*section = (Elf64_Shdr){
		.sh_name = narrow.sh_name,
		.sh_type = narrow.sh_type,
		.sh_flags = narrow.sh_flags,
		.sh_addr = narrow.sh_addr,
		.sh_offset = narrow.sh_offset,
		.sh_size = narrow.sh_size,
		.sh_link = narrow.sh_link,
		.sh_info = narrow.sh_info,
		.sh_addralign = narrow.sh_addralign,
		.sh_entsize = narrow.sh_entsize,
	};
}

static void read_symbol_32(const void *bytes, Elf64_Sym *symbol)
{
	Elf32_Sym narrow;

	memcpy(&narrow, bytes, sizeof(narrow));
	*symbol = (Elf64_Sym){
		.st_name = narrow.st_name,
		.st_info = narrow.st_info,
		.st_other = narrow.st_other,
		.st_shndx = narrow.st_shndx,
		.st_value = narrow.st_value,
		.st_size = narrow.st_size,
	};
}

static void read_dynamic_32(const void *bytes, Elf64_Dyn *entry)
{
	Elf32_Dyn narrow;

	memcpy(&narrow, bytes, sizeof(narrow));
	*entry = (Elf64_Dyn){.d_tag = narrow.d_tag, .d_un.d_val = narrow.d_un.d_val};
}

static size_t relocated_symbol_32(const void *bytes)
{
	Elf32_Rel relocation;

	memcpy(&relocation, bytes, sizeof(relocation));
	return ELF32_R_SYM(relocation.r_info);
}

#define CLASS(bits)                                                                  \
 {                                                                                   \
  .header_size = sizeof(Elf##bits##_Ehdr), .segment_size = sizeof(Elf##bits##_Phdr), \
  .section_size = sizeof(Elf##bits##_Shdr), .symbol_size = sizeof(Elf##bits##_Sym),  \
  .dynamic_size = sizeof(Elf##bits##_Dyn),                                           \
  .relocation_size = {sizeof(Elf##bits##_Rel), sizeof(Elf##bits##_Rela)},            \
  .read_header = read_header_##bits, .read_segment = read_segment_##bits,            \
  .read_section = read_section_##bits, .read_symbol = read_symbol_##bits,            \
  .read_dynamic = read_dynamic_##bits, .relocated_symbol = relocated_symbol_##bits,  \
 }

const struct fg_elf_class *fg_elf_class_of(const unsigned char ident[EI_NIDENT])
{
	static const struct fg_elf_class classes[] = {
		[ELFCLASS32] = CLASS(32), [ELFCLASS64] = CLASS(64)};
	const unsigned char class = ident[EI_CLASS];

	return class == ELFCLASS32 || class == ELFCLASS64 ? &classes[class] : NULL;
}
