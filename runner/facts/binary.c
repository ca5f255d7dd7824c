// SPDX-License-Identifier: Apache-2.0
#include "runner/facts/binary.h"

#include "base/hash.h"
#include "base/text.h"

enum {
	COMMENT_MAX_BYTES = 1 << 12,
	PATH_BYTES = 4096,
	STRINGS_MAX_BYTES = 64 << 20,
	STRINGS_CHUNK_BYTES = 1 << 20,
	PRODUCER_MAX_BYTES = 4096,
	PRODUCERS_MAX = 64,
};

static void read_interpreter(const struct fg_elf_tables *elf, struct fg_binary *found)
{
	const Elf64_Phdr *segment = fg_elf_tables_segment(elf, PT_INTERP);

	if (segment && segment->p_filesz <= PATH_BYTES)
		found->interpreter = fg_elf_tables_bytes(elf, segment->p_offset, segment->p_filesz);
}

/* ---- strings: comment and producers ---- */

/* The linker merges the .comment strings of all objects, including gcc's start files. */
static void read_comment(const struct fg_elf_tables *elf, struct fg_binary *found)
{
	const Elf64_Shdr *section = fg_elf_tables_section(elf, ".comment");
	char text[COMMENT_MAX_BYTES + 1] = {0};
	struct fg_strbuf clean = {0};
	size_t size = 0;

	if (!section || section->sh_size == 0)
		return;
	size = fg_min_size(section->sh_size, COMMENT_MAX_BYTES);
	if (!fg_source_read(&elf->source, section->sh_offset, text, size))
		return;
	for (size_t at = 0; at < size; at += strlen(text + at) + 1) {
		if (!text[at])
			continue;
		if (clean.length)
			fg_strbuf_add_text(&clean, "; ");
		fg_text_add_clean(&clean, text + at, strlen(text + at), COMMENT_MAX_BYTES);
	}
	if (clean.length)
		found->comment = fg_strbuf_detach(&clean);
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
	return FG_BINARY_O3; /* -O4 and above are the same as -O3 */
}

unsigned fg_binary_level_of(const char *producer)
{
	unsigned level = FG_BINARY_O0;

	/* A producer string without flags does not show the level. */
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

	if (FG_TEXT_STARTS_WITH_ANY(text, starts))
		return strpbrk(text, "0123456789") != NULL;
	/* Distributions prepend their name. */
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

/* Scans every complete string of a chunk; returns the position of the incomplete rest. */
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

static void scan_strings(const struct fg_elf_tables *elf, const char *name, struct fg_binary *found,
			 uint64_t seen[PRODUCERS_MAX])
{
	const Elf64_Shdr *section = fg_elf_tables_section(elf, name);
	uint64_t left = 0;
	uint64_t offset = 0;
	char *chunk = NULL;
	size_t kept = 0;

	if (!section || section->sh_flags & SHF_COMPRESSED)
		return;
	left = fg_min_size(section->sh_size, STRINGS_MAX_BYTES);
	offset = section->sh_offset;
	chunk = fg_xmalloc(STRINGS_CHUNK_BYTES + 1);
	while (left > 0) {
		const size_t wanted = fg_min_size(left, STRINGS_CHUNK_BYTES - kept);
		size_t used = 0;

		if (!fg_source_read(&elf->source, offset, chunk + kept, wanted))
			break;
		chunk[kept + wanted] = '\0';
		used = scan_chunk(chunk, kept + wanted, found, seen);
		kept = kept + wanted - used;
		memmove(chunk, chunk + used, kept);
		if (kept == STRINGS_CHUNK_BYTES)
			kept = 0; /* a string longer than a chunk cannot be a producer */
		offset += wanted;
		left -= wanted;
	}
	free(chunk);
}

int fg_binary_read(const char *path, struct fg_binary *binary, struct fg_error *err)
{
	uint64_t seen[PRODUCERS_MAX] = {0};
	struct fg_elf_tables elf;
	struct fg_binary found = {0};
	uint8_t id[FG_BUILD_ID_MAX];
	size_t id_size = 0;
	int status = FG_OK;

	FG_TRY(fg_elf_tables_open(path, &elf, err));
	FG_TRY_OUT(fg_elf_tables_read_sections(&elf, err));
	id_size = fg_elf_tables_build_id(&elf, id);
	fg_hex(id, id_size, found.build_id);
	found.size_bytes = elf.source.size;
	found.has_debug_info = fg_elf_tables_section(&elf, ".debug_info") ||
			       fg_elf_tables_section(&elf, ".zdebug_info");
	found.has_symbols = fg_elf_tables_section(&elf, ".symtab") != NULL;
	read_interpreter(&elf, &found);
	read_comment(&elf, &found);
	scan_strings(&elf, ".debug_str", &found, seen);
	scan_strings(&elf, ".debug_line_str", &found, seen);
	*binary = found;
out:
	fg_elf_tables_close(&elf);
	return status;
}

void fg_binary_release(struct fg_binary *binary)
{
	free(binary->interpreter);
	free(binary->comment);
	free(binary->producer);
	*binary = (struct fg_binary){0};
}
