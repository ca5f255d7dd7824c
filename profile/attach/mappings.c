// SPDX-License-Identifier: Apache-2.0
#include "profile/attach/mappings.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/text.h"
#include "binary/eh_frame.h"
#include "binary/elf_tables.h"

#include <elf.h>
#include <unistd.h>

enum {
	MAPS_MAX_BYTES = 64 << 20,
	HEADERS_MAX = 128,
	NOTES_MAX_BYTES = 4096,
	FRAMES_MAX_BYTES = 64 << 20,
	TABLE_ENCODING = 0x3b, /* DW_EH_PE_datarel | DW_EH_PE_sdata4: a searchable table */
	TABLE_ENTRY_BYTES = 8,
	LOOKS_FREE = 8,
	LOOK_AGAIN_MS = 100,
};

/* One line of /proc/PID/maps. */
struct line {
	uint64_t start, end, offset;
	bool executable;
	const char *path; /* "": none */
};

/* Parses "START-END PERMS OFFSET MAJOR:MINOR INODE   PATH". */
static bool parse_line(char *text, struct line *line)
{
	char *at = text;

	line->start = strtoull(at, &at, 16);
	if (*at++ != '-')
		return false;
	line->end = strtoull(at, &at, 16);
	if (strlen(at) < sizeof(" rwxp ") - 1)
		return false;
	line->executable = at[3] == 'x';
	line->offset = strtoull(at + 6, &at, 16);
	for (unsigned skipped = 0; skipped < 2; skipped++) { /* skip the device and the inode */
		at += strspn(at, " ");
		at += strcspn(at, " ");
	}
	line->path = at + strspn(at, " ");
	return true;
}

static void read_build_id(struct fg_memory *memory, const Elf64_Phdr *segment,
			  struct fg_mapping *mapping)
{
	const uint64_t start = mapping->bias + segment->p_vaddr;
	const uint64_t size = segment->p_memsz;

	if (size > NOTES_MAX_BYTES)
		return;
	for (uint64_t at = 0; at + sizeof(Elf64_Nhdr) <= size;) {
		Elf64_Nhdr note;
		char name[4] = "";

		if (!fg_memory_read(memory, start + at, &note, sizeof(note)))
			return;
		at += sizeof(note);
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(name) &&
		    note.n_descsz <= FG_MAPPING_BUILD_ID_MAX &&
		    fg_memory_read(memory, start + at, name, sizeof(name)) &&
		    memcmp(name, "GNU", sizeof(name)) == 0 &&
		    fg_memory_read(memory, start + at + sizeof(name), mapping->build_id,
				   note.n_descsz)) {
			mapping->build_id_size = note.n_descsz;
			return;
		}
		at += ((uint64_t)note.n_namesz + 3) / 4 * 4 + ((uint64_t)note.n_descsz + 3) / 4 * 4;
	}
}

/*
 * Reads .eh_frame_hdr: version, three encodings, address of .eh_frame, number of entries, the
 * table.
 */
static void read_unwind_header(struct fg_memory *memory, uint64_t address,
			       struct fg_mapping *mapping)
{
	enum {
		POINTER_FORMAT = 0x0f,
		UDATA4 = 0x03,
		SDATA4 = 0x0b
	};
	uint8_t head[4];
	uint32_t entries = 0;

	if (!fg_memory_read(memory, address, head, sizeof(head)) || head[0] != 1 ||
	    ((head[1] & POINTER_FORMAT) != SDATA4 && (head[1] & POINTER_FORMAT) != UDATA4) ||
	    (head[2] & POINTER_FORMAT) != UDATA4 || head[3] != TABLE_ENCODING ||
	    !fg_memory_read(memory, address + 8, &entries, sizeof(entries)))
		return;
	mapping->table_base = address;
	mapping->table = address + 12;
	mapping->table_entries = entries;
}

/*
 * Reads the ELF headers at the beginning of the mapping from memory, which also works for the vDSO.
 */
static bool read_headers(struct fg_memory *memory, struct fg_mapping *mapping)
{
	Elf64_Ehdr header;
	Elf64_Phdr segments[HEADERS_MAX];
	bool has_bias = false;

	if (!fg_memory_read(memory, mapping->start, &header, sizeof(header)) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phnum > HEADERS_MAX ||
	    header.e_phentsize != sizeof(segments[0]) ||
	    !fg_memory_read(memory, mapping->start + header.e_phoff, segments,
			    header.e_phnum * sizeof(segments[0])))
		return false;
	for (size_t i = 0; i < header.e_phnum; i++) {
		if (segments[i].p_type != PT_LOAD)
			continue;
		if (!has_bias)
			mapping->bias =
				mapping->start - (segments[i].p_vaddr - segments[i].p_offset);
		has_bias = true;
		mapping->end = mapping->bias + segments[i].p_vaddr + segments[i].p_memsz;
	}
	for (size_t i = 0; i < header.e_phnum; i++) {
		if (segments[i].p_type == PT_NOTE && !mapping->build_id_size)
			read_build_id(memory, &segments[i], mapping);
		if (segments[i].p_type == PT_DYNAMIC)
			mapping->dynamic = mapping->bias + segments[i].p_vaddr;
		if (segments[i].p_type == PT_GNU_EH_FRAME)
			read_unwind_header(memory, mapping->bias + segments[i].p_vaddr, mapping);
	}
	return has_bias;
}

/* Finds the size of .eh_frame and its address, in the file's own numbering. */
static bool find_frames(const char *path, struct fg_eh_section *section)
{
	struct fg_elf_tables elf;
	const Elf64_Shdr *found = NULL;

	if (fg_elf_tables_open(path, &elf, NULL) != FG_OK)
		return false;
	if (fg_elf_tables_read_sections(&elf, NULL) == FG_OK)
		found = fg_elf_tables_section(&elf, ".eh_frame");
	if (found && found->sh_size <= FRAMES_MAX_BYTES)
		*section = (struct fg_eh_section){.size = (size_t)found->sh_size,
						  .address = found->sh_addr};
	fg_elf_tables_close(&elf);
	return section->size > 0;
}

static void fill_table(const struct fg_eh_frames *frames, uint64_t address,
		       struct fg_mapping *mapping)
{
	mapping->own_table = fg_xcalloc(frames->count + 1, sizeof(mapping->own_table[0]));
	mapping->table_base = mapping->bias + address;
	for (size_t i = 0; i < frames->count; i++) {
		const int64_t start = (int64_t)(frames->items[i].start - address);

		if (start >= INT32_MIN && start <= INT32_MAX)
			mapping->own_table[mapping->table_entries++] = (struct fg_mapping_frame){
				.start = (int32_t)start,
				.description = (int32_t)frames->items[i].offset,
			};
	}
}

/* Makes the sorted table for a file that lacks it, such as a static program. */
static void make_table(struct fg_memory *memory, struct fg_mapping *mapping)
{
	struct fg_eh_section section = {0};
	struct fg_eh_frames frames = {.is_complete = true};
	uint8_t *bytes = NULL;

	if (!find_frames(mapping->path, &section))
		return;
	bytes = fg_xmalloc(section.size);
	section.bytes = bytes;
	if (fg_memory_read(memory, mapping->bias + section.address, bytes, section.size))
		fg_eh_frames_add(&frames, &section);
	if (frames.count)
		fill_table(&frames, section.address, mapping);
	fg_eh_frames_release(&frames);
	free(bytes);
}

static void add_mapping(struct fg_memory *memory, struct fg_mappings *mappings, uint64_t start,
			const char *path)
{
	static const char deleted[] = " (deleted)";
	struct fg_mapping mapping = {.start = start, .is_vdso = strcmp(path, "[vdso]") == 0};
	const size_t end = fg_text_ends_with(path, deleted) ? strlen(deleted) : 0;

	if (!read_headers(memory, &mapping))
		return;
	mapping.path = fg_xstrndup(path, strlen(path) - end);
	if (!mapping.table_entries && !mapping.is_vdso)
		make_table(memory, &mapping);
	FG_APPEND(mappings->items, mappings->count, mappings->capacity) = mapping;
}

static void add_nameless(struct fg_mappings *mappings, const struct line *line)
{
	FG_APPEND(mappings->nameless, mappings->nameless_count, mappings->nameless_capacity) =
		(struct fg_range){.start = line->start, .end = line->end};
}

/* Marks the mapping of the file that the process runs. */
static void mark_main(struct fg_mappings *mappings, pid_t pid)
{
	char name[64];
	char program[4096];
	ssize_t length = 0;

	(void)snprintf(name, sizeof(name), "/proc/%d/exe", (int)pid);
	length = readlink(name, program, sizeof(program) - 1);
	program[length > 0 ? length : 0] = '\0';
	for (size_t i = 0; i < mappings->count; i++) {
		mappings->items[i].is_main = strcmp(mappings->items[i].path, program) == 0;
		if (mappings->items[i].is_main)
			return;
	}
}

/* A file counts if a part of it is mapped executable. Its headers lie where offset 0 is mapped. */
int fg_mappings_read(struct fg_memory *memory, struct fg_mappings *mappings, struct fg_error *err)
{
	char path[64];
	char *text = NULL;
	char *rest = NULL;
	char *head_path = NULL;
	uint64_t head = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/maps", (int)memory->pid);
	FG_TRY(fg_fs_read(path, MAPS_MAX_BYTES, &text, NULL, err));
	for (char *at = strtok_r(text, "\n", &rest); at; at = strtok_r(NULL, "\n", &rest)) {
		struct line line;
		const bool is_line = parse_line(at, &line);

		if (!is_line)
			continue;
		if (line.offset == 0 && (*line.path == '/' || strcmp(line.path, "[vdso]") == 0)) {
			free(head_path);
			head_path = fg_xstrdup(line.path);
			head = line.start;
		}
		if (!line.executable)
			continue;
		if (head_path && strcmp(head_path, line.path) == 0) {
			add_mapping(memory, mappings, head, head_path);
			free(head_path);
			head_path = NULL;
		} else if (!fg_mappings_find(mappings, line.start)) {
			add_nameless(mappings, &line);
		}
	}
	mark_main(mappings, memory->pid);
	free(head_path);
	free(text);
	return FG_OK;
}

static int compare_with_mapping(const void *key, const void *item)
{
	const uint64_t address = *(const uint64_t *)key;
	const struct fg_mapping *mapping = item;

	return (address >= mapping->end) - (address < mapping->start);
}

const struct fg_mapping *fg_mappings_find(const struct fg_mappings *mappings, uint64_t address)
{
	return mappings->count ? bsearch(&address, mappings->items, mappings->count,
					 sizeof(mappings->items[0]), compare_with_mapping)
			       : NULL;
}

bool fg_mappings_is_code(const struct fg_mappings *mappings, uint64_t address)
{
	if (fg_mappings_find(mappings, address))
		return true;
	for (size_t i = 0; i < mappings->nameless_count; i++) {
		if (address >= mappings->nameless[i].start && address < mappings->nameless[i].end)
			return true;
	}
	return false;
}

bool fg_mapping_looks_allow(const struct fg_mapping_looks *looks)
{
	return looks->count < LOOKS_FREE ||
	       fg_clock_monotonic_ns() - looks->last_ns > LOOK_AGAIN_MS * FG_NS_PER_MS;
}

void fg_mapping_looks_note(struct fg_mapping_looks *looks)
{
	looks->count++;
	looks->last_ns = fg_clock_monotonic_ns();
}

void fg_mappings_release(struct fg_mappings *mappings)
{
	for (size_t i = 0; i < mappings->count; i++) {
		free(mappings->items[i].path);
		free(mappings->items[i].own_table);
	}
	free(mappings->items);
	free(mappings->nameless);
	*mappings = (struct fg_mappings){0};
}
