// SPDX-License-Identifier: Apache-2.0
#include "runner/binary.h"

#include "base/fs.h"
#include "base/hash.h"
#include "base/text.h"

#include <elf.h>
#include <endian.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	SECTIONS_MAX = 1 << 16,
	NAMES_MAX_BYTES = 1 << 20,
	SEGMENTS_MAX = 1024,
	NOTES_MAX_BYTES = 1 << 16,
	COMMENT_MAX_BYTES = 1 << 12,
	PATH_BYTES = 4096,
	STRINGS_MAX_BYTES = 64 << 20,
	STRINGS_CHUNK_BYTES = 1 << 20,
	PRODUCER_MAX_BYTES = 4096,
	PRODUCERS_MAX = 64,
};

struct reader {
	int fd;
	uint64_t size;
	Elf64_Ehdr header;
	Elf64_Shdr *sections;
	char *names;
	size_t names_size;
};

static bool read_at(const struct reader *reader, void *data, uint64_t size, uint64_t offset)
{
	size_t done = 0;

	if (offset > reader->size || size > reader->size - offset)
		return false;
	while (done < size) {
		const ssize_t got =
			pread(reader->fd, (char *)data + done, size - done, (off_t)(offset + done));

		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

static int broken(const char *path, const char *what, struct fg_error *err)
{
	return fg_error_set(err, FG_EPARSE, "'%s' is a broken ELF file: %s", path, what);
}

static int open_file(const char *path, struct reader *reader, struct fg_error *err)
{
	struct stat status;

	reader->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (reader->fd < 0)
		return fg_error_errno(err, FG_EIO, "cannot read '%s'", path);
	if (fstat(reader->fd, &status) != 0 || !S_ISREG(status.st_mode))
		return fg_error_set(err, FG_EPARSE, "'%s' is not a file", path);
	reader->size = (uint64_t)status.st_size;
	if (!read_at(reader, &reader->header, sizeof(reader->header), 0) ||
	    memcmp(reader->header.e_ident, ELFMAG, SELFMAG) != 0)
		return fg_error_set(err, FG_EPARSE, "'%s' is not an ELF file", path);
	if (reader->header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    reader->header.e_ident[EI_DATA] !=
		    (BYTE_ORDER == LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB))
		return fg_error_set(err, FG_EUNSUPPORTED,
				    "'%s' is not a 64-bit ELF file of this machine's byte order",
				    path);
	return FG_OK;
}

/* A file without section headers (stripped to the bone) is whole, too. */
static int read_sections(const char *path, struct reader *reader, struct fg_error *err)
{
	const Elf64_Ehdr *header = &reader->header;
	const size_t count = header->e_shnum;

	if (header->e_shoff == 0 || count == 0)
		return FG_OK;
	if (header->e_shentsize != sizeof(Elf64_Shdr) || count > SECTIONS_MAX ||
	    header->e_shstrndx >= count)
		return broken(path, "section headers", err);
	reader->sections = fg_xcalloc(count, sizeof(Elf64_Shdr));
	if (!read_at(reader, reader->sections, count * sizeof(Elf64_Shdr), header->e_shoff))
		return broken(path, "section headers lie outside", err);
	reader->names_size = reader->sections[header->e_shstrndx].sh_size;
	if (reader->names_size == 0 || reader->names_size > NAMES_MAX_BYTES)
		return broken(path, "section names", err);
	reader->names = fg_xcalloc(reader->names_size + 1, 1);
	if (!read_at(reader, reader->names, reader->names_size,
		     reader->sections[header->e_shstrndx].sh_offset))
		return broken(path, "section names lie outside", err);
	return FG_OK;
}

static const Elf64_Shdr *find_section(const struct reader *reader, const char *name)
{
	for (size_t i = 0; reader->names && i < reader->header.e_shnum; i++) {
		const Elf64_Shdr *section = &reader->sections[i];

		if (section->sh_name < reader->names_size &&
		    strcmp(reader->names + section->sh_name, name) == 0)
			return section;
	}
	return NULL;
}

/* ---- segments: build-id and interpreter ---- */

static size_t align4(size_t size)
{
	return (size + 3) & ~(size_t)3;
}

static void find_build_id(const uint8_t *notes, size_t size, struct fg_binary *elf)
{
	size_t at = 0;

	while (size - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		size_t name_at = at + sizeof(note);
		size_t value_at = 0;

		memcpy(&note, notes + at, sizeof(note));
		if (note.n_namesz > size || note.n_descsz > size)
			return;
		value_at = name_at + align4(note.n_namesz);
		if (value_at > size || note.n_descsz > size - value_at)
			return;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    memcmp(notes + name_at, "GNU", 4) == 0 &&
		    note.n_descsz < sizeof(elf->build_id) / 2) {
			fg_hex(notes + value_at, note.n_descsz, elf->build_id);
			return;
		}
		at = value_at + align4(note.n_descsz);
		if (at > size)
			return;
	}
}

static void read_segment(const struct reader *reader, const Elf64_Phdr *segment,
			 struct fg_binary *elf)
{
	uint8_t *data = NULL;

	if (segment->p_type == PT_NOTE && segment->p_filesz <= NOTES_MAX_BYTES && !*elf->build_id) {
		data = fg_xmalloc(segment->p_filesz);
		if (read_at(reader, data, segment->p_filesz, segment->p_offset))
			find_build_id(data, segment->p_filesz, elf);
	} else if (segment->p_type == PT_INTERP && segment->p_filesz <= PATH_BYTES &&
		   !elf->interpreter) {
		data = fg_xcalloc(segment->p_filesz + 1, 1);
		if (read_at(reader, data, segment->p_filesz, segment->p_offset))
			elf->interpreter = fg_xstrdup((const char *)data);
	}
	free(data);
}

static int read_segments(const char *path, const struct reader *reader, struct fg_binary *elf,
			 struct fg_error *err)
{
	const Elf64_Ehdr *header = &reader->header;

	if (header->e_phnum == 0)
		return FG_OK; /* an object file */
	if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum > SEGMENTS_MAX)
		return broken(path, "program headers", err);
	for (size_t i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr segment;

		if (!read_at(reader, &segment, sizeof(segment),
			     header->e_phoff + i * sizeof(segment)))
			return broken(path, "program headers lie outside", err);
		read_segment(reader, &segment, elf);
	}
	return FG_OK;
}

/* ---- strings: comment and producers ---- */

/* The linker merges the lines of all objects, gcc's start files among them. */
static void read_comment(const struct reader *reader, struct fg_binary *elf)
{
	const Elf64_Shdr *section = find_section(reader, ".comment");
	char text[COMMENT_MAX_BYTES + 1] = {0};
	struct fg_strbuf clean = {0};
	size_t size = 0;

	if (!section || section->sh_size == 0)
		return;
	size = fg_min_size(section->sh_size, COMMENT_MAX_BYTES);
	if (!read_at(reader, text, size, section->sh_offset))
		return;
	for (size_t at = 0; at < size; at += strlen(text + at) + 1) {
		if (!text[at])
			continue;
		if (clean.length)
			fg_strbuf_add_text(&clean, "; ");
		fg_text_add_clean(&clean, text + at, strlen(text + at), COMMENT_MAX_BYTES);
	}
	if (clean.length)
		elf->comment = fg_strbuf_detach(&clean);
}

/* ---- levels of optimisation ---- */

static const struct {
	const char *flag;
	unsigned level;
} level_rows[] = {
	{.flag = "-O0", .level = FG_BINARY_O0}, {.flag = "-Og", .level = FG_BINARY_OG},
	{.flag = "-O1", .level = FG_BINARY_O1}, {.flag = "-O2", .level = FG_BINARY_O2},
	{.flag = "-O3", .level = FG_BINARY_O3}, {.flag = "-Ofast", .level = FG_BINARY_OFAST},
	{.flag = "-Os", .level = FG_BINARY_OS}, {.flag = "-Oz", .level = FG_BINARY_OZ},
	{.flag = "-O", .level = FG_BINARY_O1},
};

static unsigned level_of_flag(const char *flag, size_t length)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(level_rows); i++) {
		if (strlen(level_rows[i].flag) == length &&
		    strncmp(level_rows[i].flag, flag, length) == 0)
			return level_rows[i].level;
	}
	return FG_BINARY_O3; /* -O4 and above mean no more */
}

unsigned fg_binary_level_of(const char *producer)
{
	unsigned level = FG_BINARY_O0;

	/* Without a single flag it is a compiler that does not tell. */
	if (!fg_text_starts_with(producer, "GNU ") || !strstr(producer, " -"))
		return 0;
	for (const char *at = strstr(producer, " -O"); at; at = strstr(at, " -O")) {
		at++;
		level = level_of_flag(at, strcspn(at, " "));
	}
	return level;
}

char *fg_binary_level_names(unsigned levels)
{
	struct fg_strbuf names = {0};

	for (size_t i = 0; i < FG_ARRAY_SIZE(level_rows); i++) {
		if (levels & level_rows[i].level)
			fg_strbuf_printf(&names, "%s%s", names.length ? " " : "",
					 level_rows[i].flag);
		levels &= ~level_rows[i].level;
	}
	return fg_strbuf_detach(&names);
}

bool fg_binary_is_producer(const char *text)
{
	static const char *const starts[] = {"GNU C",  "GNU Fortran", "GNU GIMPLE",    "GNU Ada",
					     "GNU D ", "Intel(R) ",   "rustc version "};
	static const char clang_words[] = "clang version ";
	const char *clang = strstr(text, clang_words);

	for (size_t i = 0; i < FG_ARRAY_SIZE(starts); i++) {
		if (fg_text_starts_with(text, starts[i]))
			return strpbrk(text, "0123456789") != NULL;
	}
	/* A distribution puts its name in front. */
	return clang && clang - text <= 24 && clang[sizeof(clang_words) - 1] >= '0' &&
	       clang[sizeof(clang_words) - 1] <= '9';
}

static void add_producer(struct fg_binary *elf, uint64_t seen[PRODUCERS_MAX], const char *text,
			 size_t length)
{
	const uint64_t hash = fg_hash64(text, length, 0);
	struct fg_strbuf clean = {0};

	for (size_t i = 0; i < elf->producer_count; i++) {
		if (seen[i] == hash)
			return;
	}
	if (elf->producer_count == PRODUCERS_MAX)
		return;
	seen[elf->producer_count++] = hash;
	elf->levels |= fg_binary_level_of(text);
	if (elf->producer)
		return;
	fg_text_add_clean(&clean, text, length, PRODUCER_MAX_BYTES);
	elf->producer = fg_strbuf_detach(&clean);
}

/* Every string of a chunk that is whole; returns where the rest begins. */
static size_t scan_chunk(const char *chunk, size_t size, struct fg_binary *elf,
			 uint64_t seen[PRODUCERS_MAX])
{
	size_t at = 0;

	while (at < size) {
		const char *end = memchr(chunk + at, '\0', size - at);

		if (!end)
			break;
		if (fg_binary_is_producer(chunk + at))
			add_producer(elf, seen, chunk + at, (size_t)(end - (chunk + at)));
		at = (size_t)(end - chunk) + 1;
	}
	return at;
}

static void scan_strings(const struct reader *reader, const char *name, struct fg_binary *elf,
			 uint64_t seen[PRODUCERS_MAX])
{
	const Elf64_Shdr *section = find_section(reader, name);
	uint64_t left = 0;
	uint64_t offset = 0;
	char *chunk = NULL;
	size_t kept = 0;

	if (!section)
		return;
	if (section->sh_flags & SHF_COMPRESSED) {
		elf->compressed_debug_info = true;
		return;
	}
	left = fg_min_size(section->sh_size, STRINGS_MAX_BYTES);
	offset = section->sh_offset;
	chunk = fg_xmalloc(STRINGS_CHUNK_BYTES + 1);
	while (left > 0) {
		const size_t wanted = fg_min_size(left, STRINGS_CHUNK_BYTES - kept);
		size_t used = 0;

		if (!read_at(reader, chunk + kept, wanted, offset))
			break;
		chunk[kept + wanted] = '\0';
		used = scan_chunk(chunk, kept + wanted, elf, seen);
		kept = kept + wanted - used;
		memmove(chunk, chunk + used, kept);
		if (kept == STRINGS_CHUNK_BYTES)
			kept = 0; /* one string longer than a chunk is no producer */
		offset += wanted;
		left -= wanted;
	}
	free(chunk);
}

int fg_binary_read(const char *path, struct fg_binary *elf, struct fg_error *err)
{
	uint64_t seen[PRODUCERS_MAX] = {0};
	struct reader reader = {.fd = -1};
	struct fg_binary found = {0};
	int status = open_file(path, &reader, err);

	if (status != FG_OK)
		goto out;
	status = read_sections(path, &reader, err);
	if (status != FG_OK)
		goto out;
	status = read_segments(path, &reader, &found, err);
	if (status != FG_OK)
		goto out;
	found.size_bytes = reader.size;
	found.has_debug_info =
		find_section(&reader, ".debug_info") || find_section(&reader, ".zdebug_info");
	found.has_symbols = find_section(&reader, ".symtab") != NULL;
	read_comment(&reader, &found);
	scan_strings(&reader, ".debug_str", &found, seen);
	scan_strings(&reader, ".debug_line_str", &found, seen);
	*elf = found;
	found = (struct fg_binary){0};
out:
	fg_binary_release(&found);
	if (reader.fd >= 0)
		(void)close(reader.fd);
	free(reader.sections);
	free(reader.names);
	return status;
}

void fg_binary_release(struct fg_binary *elf)
{
	free(elf->interpreter);
	free(elf->comment);
	free(elf->producer);
	*elf = (struct fg_binary){0};
}
