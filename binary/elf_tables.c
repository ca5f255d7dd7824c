// SPDX-License-Identifier: Apache-2.0
#include "binary/elf_tables.h"

#define MAX_FILE_BYTES (UINT64_C(64) << 30)

enum {
	MAX_TABLE_BYTES = 1 << 30,
	MAX_NOTE_BYTES = 1 << 16,
	MAX_DYNAMIC = 4096,
};

static int broken(const struct fg_elf_tables *elf, struct fg_error *err, const char *what)
{
	return fg_error_set(err, FG_EPARSE, "%s: %s", elf->name, what);
}

char *fg_elf_tables_bytes(const struct fg_elf_tables *elf, uint64_t offset, uint64_t size)
{
	char *bytes;

	if (size > MAX_TABLE_BYTES || offset > elf->source.size || size > elf->source.size - offset)
		return NULL;
	bytes = fg_xmalloc((size_t)size + 1);
	if (!fg_source_read(&elf->source, offset, bytes, (size_t)size)) {
		free(bytes);
		return NULL;
	}
	bytes[size] = '\0';
	return bytes;
}

/* ---- header, segments, sections ---- */

/* Reads the fixed part at the start of the file, which gives the width of the other fields. */
static int read_header(struct fg_elf_tables *elf, struct fg_error *err)
{
	unsigned char ident[EI_NIDENT];
	uint8_t bytes[sizeof(Elf64_Ehdr)];

	if (!fg_source_read(&elf->source, 0, ident, sizeof(ident)) ||
	    memcmp(ident, ELFMAG, SELFMAG) != 0)
		return broken(elf, err, "not an ELF file");
	elf->class = fg_elf_class_of(ident);
	if (!elf->class || ident[EI_DATA] != ELFDATA2LSB)
		return fg_error_set(
			err, FG_EUNSUPPORTED,
			"%s: only little-endian ELF files of 32 or 64 bits are supported",
			elf->name);
	if (!fg_source_read(&elf->source, 0, bytes, elf->class->header_size))
		return broken(elf, err, "not an ELF file");
	elf->class->read_header(bytes, &elf->header);
	return FG_OK;
}

static int read_segments(struct fg_elf_tables *elf, struct fg_error *err)
{
	const Elf64_Ehdr *h = &elf->header;
	char *bytes;

	if (h->e_phnum == 0) /* an object file */
		return FG_OK;
	if (h->e_phentsize != elf->class->segment_size)
		return broken(elf, err, "invalid program header table");
	bytes = fg_elf_tables_bytes(elf, h->e_phoff, (uint64_t)h->e_phnum * h->e_phentsize);
	if (!bytes)
		return broken(elf, err, "the program headers lie outside the file");
	elf->segments = fg_xcalloc(h->e_phnum, sizeof(elf->segments[0]));
	for (size_t i = 0; i < h->e_phnum; i++)
		elf->class->read_segment(bytes + i * h->e_phentsize, &elf->segments[i]);
	elf->segment_count = h->e_phnum;
	free(bytes);
	return FG_OK;
}

int fg_elf_tables_read_sections(struct fg_elf_tables *elf, struct fg_error *err)
{
	const Elf64_Ehdr *h = &elf->header;
	char *bytes;

	if (h->e_shnum == 0) /* no sections, or more than 65279, which no linked file has */
		return FG_OK;
	if (h->e_shentsize != elf->class->section_size)
		return broken(elf, err, "invalid section table");
	bytes = fg_elf_tables_bytes(elf, h->e_shoff, (uint64_t)h->e_shnum * h->e_shentsize);
	if (!bytes)
		return broken(elf, err, "the section table lies outside the file");
	elf->sections = fg_xcalloc(h->e_shnum, sizeof(elf->sections[0]));
	for (size_t i = 0; i < h->e_shnum; i++)
		elf->class->read_section(bytes + i * h->e_shentsize, &elf->sections[i]);
	free(bytes);
	elf->section_count = h->e_shnum;
	if (h->e_shstrndx < elf->section_count)
		elf->section_names = fg_elf_tables_section_bytes(elf, &elf->sections[h->e_shstrndx],
								 &elf->section_names_size);
	return FG_OK;
}

static int read_start(struct fg_elf_tables *elf, struct fg_error *err)
{
	int status = read_header(elf, err);

	if (status == FG_OK)
		status = read_segments(elf, err);
	if (status != FG_OK)
		fg_elf_tables_close(elf);
	return status;
}

int fg_elf_tables_open(const char *path, struct fg_elf_tables *elf, struct fg_error *err)
{
	int status;

	*elf = (struct fg_elf_tables){.name = path, .source.fd = -1};
	status = fg_source_open(path, MAX_FILE_BYTES, &elf->source, err);
	return status == FG_OK ? read_start(elf, err) : status;
}

int fg_elf_tables_open_memory(const void *data, size_t size, const char *name,
			      struct fg_elf_tables *elf, struct fg_error *err)
{
	*elf = (struct fg_elf_tables){.name = name, .source = fg_source_memory(data, size)};
	return read_start(elf, err);
}

void fg_elf_tables_close(struct fg_elf_tables *elf)
{
	free(elf->segments);
	free(elf->sections);
	free(elf->section_names);
	fg_source_close(&elf->source);
	*elf = (struct fg_elf_tables){.source.fd = -1};
}

const Elf64_Phdr *fg_elf_tables_segment(const struct fg_elf_tables *elf, uint32_t type)
{
	for (size_t i = 0; i < elf->segment_count; i++)
		if (elf->segments[i].p_type == type)
			return &elf->segments[i];
	return NULL;
}

const char *fg_elf_tables_section_name(const struct fg_elf_tables *elf, const Elf64_Shdr *section)
{
	return section->sh_name < elf->section_names_size ? elf->section_names + section->sh_name
							  : "";
}

const Elf64_Shdr *fg_elf_tables_section(const struct fg_elf_tables *elf, const char *name)
{
	for (size_t i = 0; i < elf->section_count; i++)
		if (strcmp(fg_elf_tables_section_name(elf, &elf->sections[i]), name) == 0)
			return &elf->sections[i];
	return NULL;
}

char *fg_elf_tables_section_bytes(const struct fg_elf_tables *elf, const Elf64_Shdr *section,
				  size_t *size)
{
	char *bytes = section->sh_type == SHT_NOBITS || (section->sh_flags & SHF_COMPRESSED)
			      ? NULL
			      : fg_elf_tables_bytes(elf, section->sh_offset, section->sh_size);

	*size = bytes ? (size_t)section->sh_size : 0;
	return bytes;
}

/* ---- the build-id ---- */

static size_t padded(size_t size)
{
	return (size + 3) & ~(size_t)3;
}

static size_t find_build_id(const char *notes, size_t size, uint8_t id[FG_BUILD_ID_MAX])
{
	size_t at = 0;
	Elf64_Nhdr header;

	while (at <= size && size - at >= sizeof(header)) {
		size_t name;
		size_t description;

		memcpy(&header, notes + at, sizeof(header));
		if (header.n_namesz > size || header.n_descsz > size)
			return 0;
		name = at + sizeof(header);
		description = name + padded(header.n_namesz);
		if (description > size || header.n_descsz > size - description)
			return 0;
		if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
		    memcmp(notes + name, "GNU", 4) == 0 && header.n_descsz <= FG_BUILD_ID_MAX) {
			memcpy(id, notes + description, header.n_descsz);
			return header.n_descsz;
		}
		at = description + padded(header.n_descsz);
	}
	return 0;
}

static size_t build_id_in(const struct fg_elf_tables *elf, uint64_t offset, uint64_t size,
			  uint8_t id[FG_BUILD_ID_MAX])
{
	char *notes = size <= MAX_NOTE_BYTES ? fg_elf_tables_bytes(elf, offset, size) : NULL;
	const size_t found = notes ? find_build_id(notes, (size_t)size, id) : 0;

	free(notes);
	return found;
}

/*
 * Searches the sections, or in a file without sections the segments. A file with only debug
 * information has sections, and its segments point anywhere.
 */
size_t fg_elf_tables_build_id(const struct fg_elf_tables *elf, uint8_t id[FG_BUILD_ID_MAX])
{
	size_t found = 0;

	for (size_t i = 0; !found && i < elf->section_count; i++)
		if (elf->sections[i].sh_type == SHT_NOTE)
			found = build_id_in(elf, elf->sections[i].sh_offset,
					    elf->sections[i].sh_size, id);
	for (size_t i = 0; !found && !elf->section_count && i < elf->segment_count; i++)
		if (elf->segments[i].p_type == PT_NOTE)
			found = build_id_in(elf, elf->segments[i].p_offset,
					    elf->segments[i].p_filesz, id);
	return found;
}

/* ---- symbol tables ---- */

void fg_elf_symbol_rows_read(const struct fg_elf_tables *elf, uint32_t type,
			     struct fg_elf_symbol_rows *symbols)
{
	const Elf64_Shdr *section = NULL;
	size_t size;

	*symbols = (struct fg_elf_symbol_rows){.class = elf->class};
	for (size_t i = 0; !section && i < elf->section_count; i++)
		if (elf->sections[i].sh_type == type &&
		    elf->sections[i].sh_link < elf->section_count)
			section = &elf->sections[i];
	if (!section)
		return;
	symbols->texts = fg_elf_tables_section_bytes(elf, &elf->sections[section->sh_link],
						     &symbols->texts_size);
	symbols->rows = fg_elf_tables_section_bytes(elf, section, &size);
	if (symbols->rows && symbols->texts)
		symbols->count = size / elf->class->symbol_size;
}

Elf64_Sym fg_elf_symbol_row(const struct fg_elf_symbol_rows *symbols, size_t index)
{
	Elf64_Sym symbol = {0};

	if (index < symbols->count)
		symbols->class->read_symbol(symbols->rows + index * symbols->class->symbol_size,
					    &symbol);
	return symbol;
}

const char *fg_elf_symbol_row_name(const struct fg_elf_symbol_rows *symbols,
				   const Elf64_Sym *symbol)
{
	return symbol->st_name < symbols->texts_size ? symbols->texts + symbol->st_name : "";
}

void fg_elf_symbol_rows_release(struct fg_elf_symbol_rows *symbols)
{
	free(symbols->rows);
	free(symbols->texts);
	*symbols = (struct fg_elf_symbol_rows){0};
}

/* ---- the dynamic section ---- */

static uint64_t dynamic_value(const struct fg_elf_dynamic *dynamic, int64_t tag)
{
	for (size_t i = 0; i < dynamic->count; i++)
		if (dynamic->entries[i].d_tag == tag)
			return dynamic->entries[i].d_un.d_val;
	return 0;
}

/* The string table is given by its address: look in the segment that is loaded there. */
static void read_dynamic_texts(const struct fg_elf_tables *elf, struct fg_elf_dynamic *dynamic)
{
	const uint64_t address = dynamic_value(dynamic, DT_STRTAB);
	const uint64_t size = dynamic_value(dynamic, DT_STRSZ);

	for (size_t i = 0; i < elf->segment_count && !dynamic->texts; i++) {
		const Elf64_Phdr *segment = &elf->segments[i];

		if (segment->p_type == PT_LOAD && address >= segment->p_vaddr &&
		    address - segment->p_vaddr < segment->p_filesz &&
		    segment->p_offset <= elf->source.size)
			dynamic->texts = fg_elf_tables_bytes(
				elf, segment->p_offset + (address - segment->p_vaddr), size);
	}
	dynamic->texts_size = dynamic->texts ? (size_t)size : 0;
}

void fg_elf_dynamic_read(const struct fg_elf_tables *elf, struct fg_elf_dynamic *dynamic)
{
	const Elf64_Phdr *segment = fg_elf_tables_segment(elf, PT_DYNAMIC);
	const size_t row = elf->class->dynamic_size;
	char *bytes;
	size_t count;

	*dynamic = (struct fg_elf_dynamic){0};
	bytes = segment ? fg_elf_tables_bytes(elf, segment->p_offset, segment->p_filesz) : NULL;
	if (!bytes)
		return;
	count = fg_min_size((size_t)segment->p_filesz / row, MAX_DYNAMIC);
	dynamic->entries = fg_xcalloc(count + 1, sizeof(dynamic->entries[0]));
	for (size_t i = 0; i < count; i++) {
		elf->class->read_dynamic(bytes + i * row, &dynamic->entries[i]);
		if (dynamic->entries[i].d_tag == DT_NULL)
			break;
		dynamic->count++;
	}
	free(bytes);
	read_dynamic_texts(elf, dynamic);
}

const char *fg_elf_dynamic_text(const struct fg_elf_dynamic *dynamic, const Elf64_Dyn *entry)
{
	return entry->d_un.d_val < dynamic->texts_size ? dynamic->texts + entry->d_un.d_val : NULL;
}

void fg_elf_dynamic_release(struct fg_elf_dynamic *dynamic)
{
	free(dynamic->entries);
	free(dynamic->texts);
	*dynamic = (struct fg_elf_dynamic){0};
}
