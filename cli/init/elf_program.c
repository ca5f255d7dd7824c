// SPDX-License-Identifier: Apache-2.0
#include "cli/init/elf_program.h"

#include <elf.h>

/* False: the file ends before it. */
static bool take(const char *data, size_t size, uint64_t offset, void *out, size_t length)
{
	if (offset > size || size - (size_t)offset < length)
		return false;
	memcpy(out, data + offset, length);
	return true;
}

static bool read_header(const char *data, size_t size, Elf64_Ehdr *header)
{
	return take(data, size, 0, header, sizeof(*header)) &&
	       memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_phentsize == sizeof(Elf64_Phdr);
}

static bool read_segment(const char *data, size_t size, const Elf64_Ehdr *header, size_t index,
			 Elf64_Phdr *segment)
{
	return index < header->e_phnum &&
	       take(data, size, header->e_phoff + index * sizeof(*segment), segment,
		    sizeof(*segment));
}

static bool find_segment(const char *data, size_t size, const Elf64_Ehdr *header, uint32_t type,
			 Elf64_Phdr *segment)
{
	for (size_t i = 0; read_segment(data, size, header, i, segment); i++) {
		if (segment->p_type == type)
			return true;
	}
	return false;
}

bool fg_elf_is_program(const char *data, size_t size)
{
	Elf64_Ehdr header;
	Elf64_Phdr segment;

	return read_header(data, size, &header) &&
	       (header.e_type == ET_EXEC ||
		(header.e_type == ET_DYN &&
		 find_segment(data, size, &header, PT_INTERP, &segment)));
}

/* ---- the dynamic section ---- */

struct dynamic {
	const char *data;
	size_t size;
	Elf64_Phdr segment;
	const char *strings;
	size_t strings_size; /* up to the end of the file */
};

static bool read_entry(const struct dynamic *dynamic, size_t index, Elf64_Dyn *entry)
{
	return index < dynamic->segment.p_filesz / sizeof(*entry) &&
	       take(dynamic->data, dynamic->size,
		    dynamic->segment.p_offset + index * sizeof(*entry), entry, sizeof(*entry)) &&
	       entry->d_tag != DT_NULL;
}

/* The table of strings is given by its address: the segment that is loaded there holds it. */
static bool find_strings(struct dynamic *dynamic, const Elf64_Ehdr *header)
{
	Elf64_Dyn entry;
	Elf64_Phdr segment;
	size_t index = 0;

	while (read_entry(dynamic, index, &entry) && entry.d_tag != DT_STRTAB)
		index++;
	if (!read_entry(dynamic, index, &entry))
		return false;
	for (size_t i = 0; read_segment(dynamic->data, dynamic->size, header, i, &segment); i++) {
		const uint64_t within = entry.d_un.d_ptr - segment.p_vaddr;

		if (segment.p_type != PT_LOAD || within >= segment.p_filesz ||
		    segment.p_offset > dynamic->size || within >= dynamic->size - segment.p_offset)
			continue;
		dynamic->strings = dynamic->data + segment.p_offset + within;
		dynamic->strings_size = dynamic->size - (size_t)(segment.p_offset + within);
		return true;
	}
	return false;
}

static bool dynamic_init(struct dynamic *dynamic, const char *data, size_t size)
{
	Elf64_Ehdr header;

	*dynamic = (struct dynamic){.data = data, .size = size};
	return read_header(data, size, &header) &&
	       find_segment(data, size, &header, PT_DYNAMIC, &dynamic->segment) &&
	       find_strings(dynamic, &header);
}

/* The text of an entry that is one of a string; NULL: it lies outside the file. */
static const char *text_of(const struct dynamic *dynamic, const Elf64_Dyn *entry)
{
	const uint64_t offset = entry->d_un.d_val;

	if (offset >= dynamic->strings_size ||
	    !memchr(dynamic->strings + offset, '\0', dynamic->strings_size - (size_t)offset))
		return NULL;
	return dynamic->strings + offset;
}

bool fg_elf_needs(const char *data, size_t size, const char *library)
{
	struct dynamic dynamic;
	Elf64_Dyn entry;

	if (!dynamic_init(&dynamic, data, size))
		return false;
	for (size_t i = 0; read_entry(&dynamic, i, &entry); i++) {
		const char *text = entry.d_tag == DT_NEEDED ? text_of(&dynamic, &entry) : NULL;

		if (text && strcmp(text, library) == 0)
			return true;
	}
	return false;
}

bool fg_elf_looks_below(const char *data, size_t size, const char *root)
{
	struct dynamic dynamic;
	Elf64_Dyn entry;

	if (!dynamic_init(&dynamic, data, size))
		return false;
	for (size_t i = 0; read_entry(&dynamic, i, &entry); i++) {
		const bool is_path = entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH;
		const char *text = is_path ? text_of(&dynamic, &entry) : NULL;

		if (text && (strstr(text, root) || strstr(text, "$ORIGIN")))
			return true;
	}
	return false;
}
