// SPDX-License-Identifier: Apache-2.0
#include "runner/build/pad_object.h"

#include "base/fs.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
	PAD_MAX = 4096,
	ALIGNMENT = 16,
	INT3 = 0xcc,
};

enum section {
	SECTION_NONE,
	SECTION_CODE,
	SECTION_SYMBOLS,
	SECTION_STRINGS,
	SECTION_STACK,
	SECTION_NAMES,
	SECTION_COUNT,
};

static const char strings[] = "\0" FG_PAD_SYMBOL;
/*
 * .text.unlikely comes first in the default linker scripts. Without .note.GNU-stack the stack would
 * be executable.
 */
static const char names[] = "\0.text.unlikely\0.symtab\0.strtab\0.note.GNU-stack\0.shstrtab";

struct pad_object {
	Elf64_Ehdr header;
	Elf64_Shdr sections[SECTION_COUNT];
	Elf64_Sym symbols[2];
	char strings[sizeof(strings)];
	char names[sizeof(names)];
	unsigned char code[PAD_MAX];
};

static Elf64_Word name_of(const char *name)
{
	Elf64_Word at = 0;

	while (strcmp(names + at, name) != 0)
		at += (Elf64_Word)strlen(names + at) + 1;
	return at;
}

static void fill_sections(struct pad_object *object, size_t pad_bytes)
{
	Elf64_Shdr *sections = object->sections;

	sections[SECTION_CODE] = (Elf64_Shdr){
		.sh_name = name_of(".text.unlikely"),
		.sh_type = SHT_PROGBITS,
		.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		.sh_offset = offsetof(struct pad_object, code),
		.sh_size = pad_bytes,
		.sh_addralign = ALIGNMENT,
	};
	sections[SECTION_SYMBOLS] = (Elf64_Shdr){
		.sh_name = name_of(".symtab"),
		.sh_type = SHT_SYMTAB,
		.sh_offset = offsetof(struct pad_object, symbols),
		.sh_size = sizeof(object->symbols),
		.sh_link = SECTION_STRINGS,
		.sh_info = 1, /* first non-local symbol */
		.sh_addralign = sizeof(uint64_t),
		.sh_entsize = sizeof(Elf64_Sym),
	};
	sections[SECTION_STRINGS] = (Elf64_Shdr){
		.sh_name = name_of(".strtab"),
		.sh_type = SHT_STRTAB,
		.sh_offset = offsetof(struct pad_object, strings),
		.sh_size = sizeof(strings),
		.sh_addralign = 1,
	};
	sections[SECTION_STACK] = (Elf64_Shdr){
		.sh_name = name_of(".note.GNU-stack"),
		.sh_type = SHT_PROGBITS,
		.sh_offset = offsetof(struct pad_object, code),
		.sh_addralign = 1,
	};
	sections[SECTION_NAMES] = (Elf64_Shdr){
		.sh_name = name_of(".shstrtab"),
		.sh_type = SHT_STRTAB,
		.sh_offset = offsetof(struct pad_object, names),
		.sh_size = sizeof(names),
		.sh_addralign = 1,
	};
}

/* The file is temporary: no need to sync it to disk. */
static int write_file(const char *path, const void *data, size_t size, struct fg_error *err)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	int status;

	if (fd < 0)
		return fg_error_errno(err, FG_EIO, "%s", path);
	status = fg_fs_write_all(fd, data, size, err);
	if (close(fd) != 0 && status == FG_OK)
		status = fg_error_errno(err, FG_EIO, "%s", path);
	return status;
}

int fg_pad_object_write(const char *path, size_t pad_bytes, struct fg_error *err)
{
	static const unsigned char magic[] = {
		ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT,
	};
	struct pad_object object = {
		.header = {.e_type = ET_REL,
			   .e_machine = EM_X86_64,
			   .e_version = EV_CURRENT,
			   .e_shoff = offsetof(struct pad_object, sections),
			   .e_ehsize = sizeof(Elf64_Ehdr),
			   .e_shentsize = sizeof(Elf64_Shdr),
			   .e_shnum = SECTION_COUNT,
			   .e_shstrndx = SECTION_NAMES},
		.symbols = {[1] = {.st_name = 1,
				   .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE),
				   .st_other = STV_HIDDEN,
				   .st_shndx = SECTION_CODE}},
	};

	FG_ASSERT(pad_bytes <= PAD_MAX);
	memcpy(object.header.e_ident, magic, sizeof(magic));
	memcpy(object.strings, strings, sizeof(strings));
	memcpy(object.names, names, sizeof(names));
	memset(object.code, INT3, sizeof(object.code));
	fill_sections(&object, pad_bytes);
	return write_file(path, &object, sizeof(object), err);
}
