// SPDX-License-Identifier: Apache-2.0
#include "outside/frame_index.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

enum {
	SECTIONS_MAX = 4096,
	PCREL_SDATA4 = 0x1b, /* what compilers write: 4 bytes, relative to themselves */
	AUGMENTATION_MAX = 16,
	VARINT_MAX = 10,
};

static bool read_at(int fd, uint64_t offset, void *data, size_t size)
{
	return pread(fd, data, size, (off_t)offset) == (ssize_t)size;
}

static bool find_section(int fd, const Elf64_Ehdr *header, uint64_t *address, uint64_t *size)
{
	static const char wanted[] = ".eh_frame";
	Elf64_Shdr names;
	char name[sizeof(wanted)];

	if (header->e_shnum > SECTIONS_MAX || header->e_shstrndx >= header->e_shnum ||
	    !read_at(fd, header->e_shoff + header->e_shstrndx * sizeof(names), &names,
		     sizeof(names)))
		return false;
	for (size_t i = 0; i < header->e_shnum; i++) {
		Elf64_Shdr section;

		if (!read_at(fd, header->e_shoff + i * sizeof(section), &section,
			     sizeof(section)) ||
		    !read_at(fd, names.sh_offset + section.sh_name, name, sizeof(name)) ||
		    memcmp(name, wanted, sizeof(wanted)) != 0)
			continue;
		*address = section.sh_addr;
		*size = section.sh_size;
		return true;
	}
	return false;
}

bool fg_frame_index_section(const char *path, uint64_t *address, uint64_t *size)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	Elf64_Ehdr header;
	bool found = false;

	if (fd < 0)
		return false;
	found = read_at(fd, 0, &header, sizeof(header)) &&
		memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
		header.e_ident[EI_CLASS] == ELFCLASS64 &&
		header.e_shentsize == sizeof(Elf64_Shdr) &&
		find_section(fd, &header, address, size);
	(void)close(fd);
	return found;
}

/* Skips a LEB128 number. */
static bool skip_number(const uint8_t **at, const uint8_t *end)
{
	for (size_t i = 0; i < VARINT_MAX && *at < end; i++) {
		if (!(*(*at)++ & 0x80))
			return true;
	}
	return false;
}

/* Compilers write pointers of four bytes, or whole ones. */
static size_t pointer_size(uint8_t encoding)
{
	switch (encoding & 0x0f) {
	case 0x03: /* DW_EH_PE_udata4 */
	case 0x0b: /* DW_EH_PE_sdata4 */
		return 4;
	default:
		return 8;
	}
}

/* Does this CIE say that its FDEs begin with a PCREL_SDATA4?  Others are left out. */
static bool has_usual_pointers(const uint8_t *at, const uint8_t *end)
{
	char augmentation[AUGMENTATION_MAX] = "";
	size_t length = 0;
	uint8_t version = 0;

	if (at == end)
		return false;
	version = *at++;
	while (at < end && *at && length < AUGMENTATION_MAX - 1)
		augmentation[length++] = (char)*at++;
	if (at == end || *at++ != 0 || augmentation[0] != 'z')
		return false;
	for (unsigned alignments = 0; alignments < 2; alignments++) {
		if (!skip_number(&at, end))
			return false;
	}
	if (version == 1)
		at++;
	else if (!skip_number(&at, end))
		return false;
	if (!skip_number(&at, end)) /* length of what follows */
		return false;
	for (const char *letter = augmentation + 1; *letter && at < end; letter++) {
		if (*letter == 'R')
			return *at == PCREL_SDATA4;
		if (*letter == 'L')
			at++;
		else if (*letter == 'P') /* its encoding, and a pointer */
			at += 1 + pointer_size(*at);
		else if (*letter != 'S' && *letter != 'B')
			return false;
	}
	return false;
}

static int by_start(const void *a, const void *b)
{
	const struct fg_frame_index_entry *left = a;
	const struct fg_frame_index_entry *right = b;

	return (left->start > right->start) - (left->start < right->start);
}

struct fg_frame_index_entry *fg_frame_index_build(const uint8_t *bytes, size_t size, size_t *count)
{
	struct fg_frame_index_entry *entries = NULL;
	size_t capacity = 0;

	*count = 0;
	for (size_t at = 0; at + 12 <= size;) {
		uint32_t length = 0;
		uint32_t cie = 0;
		int32_t start = 0;
		size_t body = at + 4;

		memcpy(&length, bytes + at, sizeof(length));
		if (length < 8 || length > size - body) /* the end, or damage */
			break;
		memcpy(&cie, bytes + body, sizeof(cie));
		if (cie != 0 && cie <= body && body - cie + 8 < size &&
		    has_usual_pointers(bytes + body - cie + 8, bytes + size)) {
			memcpy(&start, bytes + body + 4, sizeof(start));
			entries = fg_grow(entries, &capacity, *count + 1, sizeof(entries[0]));
			entries[(*count)++] = (struct fg_frame_index_entry){
				.start = (int32_t)((int64_t)(body + 4) + start),
				.description = (int32_t)at,
			};
		}
		at = body + length;
	}
	if (entries)
		qsort(entries, *count, sizeof(entries[0]), by_start);
	return entries;
}
