// SPDX-License-Identifier: Apache-2.0
#include "symbols/elf_file.h"

#include "base/hash.h"
#include "base/radix_sort.h"
#include "symbols/byte_source.h"
#include "symbols/elf_class.h"

#define MAX_FILE_BYTES (UINT64_C(64) << 30)

enum {
	MAX_TABLE_BYTES = 1 << 30,
	MAX_NOTE_BYTES = 1 << 16,
};

struct parser {
	struct fg_elf *elf;
	struct fg_source source;
	const char *name;
	const struct fg_elf_class *class;
	Elf64_Ehdr header;
	Elf64_Shdr *sections;
	size_t section_count;
	char *section_names;
	size_t section_names_size;
};

/* ----------------------------------------------------------------- the tables */

static int broken(const struct parser *p, struct fg_error *err, const char *what)
{
	return fg_error_set(err, FG_EPARSE, "%s: %s", p->name, what);
}

/*
 * A section's bytes plus a NUL, to be freed; NULL: no bytes in the file, or too many.
 */
static char *section_bytes(const struct parser *p, const Elf64_Shdr *section, size_t *size)
{
	char *bytes;

	*size = 0;
	if (section->sh_type == SHT_NOBITS || (section->sh_flags & SHF_COMPRESSED) ||
	    section->sh_size > MAX_TABLE_BYTES || section->sh_offset > p->source.size ||
	    section->sh_size > p->source.size - section->sh_offset)
		return NULL;
	bytes = fg_xmalloc((size_t)section->sh_size + 1);
	if (!fg_source_read(&p->source, section->sh_offset, bytes, (size_t)section->sh_size)) {
		free(bytes);
		return NULL;
	}
	bytes[section->sh_size] = '\0';
	*size = (size_t)section->sh_size;
	return bytes;
}

static const char *section_name(const struct parser *p, const Elf64_Shdr *section)
{
	return section->sh_name < p->section_names_size ? p->section_names + section->sh_name : "";
}

static const Elf64_Shdr *find_section(const struct parser *p, const char *name)
{
	for (size_t i = 0; i < p->section_count; i++)
		if (strcmp(section_name(p, &p->sections[i]), name) == 0)
			return &p->sections[i];
	return NULL;
}

/* The fixed part at the file's beginning; it says how wide the rest is. */
static int read_header(struct parser *p, struct fg_error *err)
{
	unsigned char ident[EI_NIDENT];
	uint8_t bytes[sizeof(Elf64_Ehdr)];

	if (!fg_source_read(&p->source, 0, ident, sizeof(ident)) ||
	    memcmp(ident, ELFMAG, SELFMAG) != 0)
		return broken(p, err, "not an ELF file");
	p->class = fg_elf_class_of(ident);
	if (!p->class || ident[EI_DATA] != ELFDATA2LSB)
		return fg_error_set(
			err, FG_EUNSUPPORTED,
			"%s: only little-endian ELF files of 32 or 64 bits are understood",
			p->name);
	if (!fg_source_read(&p->source, 0, bytes, p->class->header_size))
		return broken(p, err, "not an ELF file");
	p->class->read_header(bytes, &p->header);
	return FG_OK;
}

static int read_sections(struct parser *p, struct fg_error *err)
{
	const Elf64_Ehdr *h = &p->header;
	const size_t size = (size_t)h->e_shnum * h->e_shentsize;
	char *bytes;

	if (h->e_shnum == 0) /* none, or 65280 and more, which no linked file has */
		return FG_OK;
	if (h->e_shentsize != p->class->section_size)
		return broken(p, err, "its section table has an impossible shape");
	bytes = fg_xmalloc(size);
	if (!fg_source_read(&p->source, h->e_shoff, bytes, size)) {
		free(bytes);
		return broken(p, err, "its section table lies outside the file");
	}
	p->sections = fg_xcalloc(h->e_shnum, sizeof(p->sections[0]));
	for (size_t i = 0; i < h->e_shnum; i++)
		p->class->read_section(bytes + i * h->e_shentsize, &p->sections[i]);
	free(bytes);
	p->section_count = h->e_shnum;
	if (h->e_shstrndx < p->section_count)
		p->section_names =
			section_bytes(p, &p->sections[h->e_shstrndx], &p->section_names_size);
	return FG_OK;
}

/* --------------------------------------------------------------------- notes */

static size_t padded(size_t size)
{
	return (size + 3) & ~(size_t)3;
}

static void take_build_id(struct fg_elf *elf, const char *note, size_t size)
{
	size_t at = 0;
	Elf64_Nhdr header;

	while (size - at >= sizeof(header)) {
		size_t name;
		size_t description;

		memcpy(&header, note + at, sizeof(header));
		if (header.n_namesz > size || header.n_descsz > size)
			return;
		name = at + sizeof(header);
		description = name + padded(header.n_namesz);
		if (description > size || header.n_descsz > size - description)
			return;
		if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
		    memcmp(note + name, "GNU", 4) == 0 && header.n_descsz <= FG_BUILD_ID_MAX) {
			memcpy(elf->build_id, note + description, header.n_descsz);
			elf->build_id_size = header.n_descsz;
			return;
		}
		at = description + padded(header.n_descsz);
		if (at > size)
			return;
	}
}

static void read_notes(struct parser *p)
{
	for (size_t i = 0; i < p->section_count && p->elf->build_id_size == 0; i++) {
		size_t size;
		char *note;

		if (p->sections[i].sh_type != SHT_NOTE || p->sections[i].sh_size > MAX_NOTE_BYTES)
			continue;
		note = section_bytes(p, &p->sections[i], &size);
		if (note)
			take_build_id(p->elf, note, size);
		free(note);
	}
}

/* .gnu_debuglink: a file name, padding to four bytes, the crc32 of that file. */
static void read_debuglink(struct parser *p)
{
	const Elf64_Shdr *section = find_section(p, ".gnu_debuglink");
	size_t size;
	size_t length;
	char *bytes;

	if (!section || section->sh_size > sizeof(p->elf->debuglink) + 8)
		return;
	bytes = section_bytes(p, section, &size);
	if (!bytes)
		return;
	length = strlen(bytes);
	if (length > 0 && length < sizeof(p->elf->debuglink) && padded(length + 1) + 4 <= size &&
	    !strchr(bytes, '/')) {
		memcpy(p->elf->debuglink, bytes, length + 1);
		memcpy(&p->elf->debuglink_crc, bytes + padded(length + 1), 4);
	}
	free(bytes);
}

/* ------------------------------------------------------------------- symbols */

static bool is_code(const struct parser *p, const Elf64_Sym *symbol)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);

	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return false;
	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= p->section_count)
		return false;
	return (p->sections[symbol->st_shndx].sh_flags & SHF_EXECINSTR) != 0;
}

/*
 * Keeps the best of several names at one address: typed before untyped, global before weak
 * before local, sized before not, "free" before "__libc_free" and "cfree", then by name so that the
 * choice never depends on the table's order.
 */
static unsigned rank(const Elf64_Sym *symbol)
{
	static const unsigned binding_rank[] = {[STB_LOCAL] = 1, [STB_GLOBAL] = 3, [STB_WEAK] = 2};
	unsigned binding = ELF64_ST_BIND(symbol->st_info);
	unsigned value = binding < FG_ARRAY_SIZE(binding_rank) ? binding_rank[binding] : 0;

	value += ELF64_ST_TYPE(symbol->st_info) == STT_NOTYPE ? 0 : 8;
	return value + (symbol->st_size > 0 ? 4 : 0);
}

struct candidate {
	struct fg_elf_symbol symbol;
	unsigned rank;
};

/* In order of value, into an array of its own; `items` is freed. */
static struct candidate *sort_by_value(struct candidate *items, size_t count)
{
	struct fg_keyed *order = fg_xcalloc(count + 1, sizeof(order[0]));
	struct candidate *sorted = fg_xcalloc(count + 1, sizeof(sorted[0]));

	for (size_t i = 0; i < count; i++)
		order[i] = (struct fg_keyed){.key = items[i].symbol.value, .value = (uint32_t)i};
	fg_keyed_sort(order, count);
	for (size_t i = 0; i < count; i++)
		sorted[i] = items[order[i].value];
	free(order);
	free(items);
	return sorted;
}

static bool is_better(const struct fg_elf *elf, const struct candidate *one,
		      const struct candidate *other)
{
	const char *a = elf->strings + one->symbol.name;
	const char *b = elf->strings + other->symbol.name;

	if (one->rank != other->rank)
		return one->rank > other->rank;
	if (strspn(a, "_") != strspn(b, "_"))
		return strspn(a, "_") < strspn(b, "_");
	if (strlen(a) != strlen(b))
		return strlen(a) < strlen(b);
	return strcmp(a, b) < 0;
}

static size_t keep_best(const struct fg_elf *elf, struct candidate *items, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (kept == 0 || items[kept - 1].symbol.value != items[i].symbol.value)
			items[kept++] = items[i];
		else if (is_better(elf, &items[i], &items[kept - 1]))
			items[kept - 1] = items[i];
	}
	return kept;
}

static size_t collect(const struct parser *p, const char *table, size_t size,
		      struct candidate *items)
{
	size_t count = 0;

	for (size_t at = 0; at + p->class->symbol_size <= size; at += p->class->symbol_size) {
		Elf64_Sym symbol;
		const char *name;

		p->class->read_symbol(table + at, &symbol);
		if (!is_code(p, &symbol) || symbol.st_name >= p->elf->strings_size)
			continue;
		name = p->elf->strings + symbol.st_name;
		if (!*name || *name == '$') /* "$x": ARM marks of code and data */
			continue;
		items[count++] = (struct candidate){
			.symbol = {.value = symbol.st_value,
				   .size = symbol.st_size < UINT32_MAX ? (uint32_t)symbol.st_size
								       : UINT32_MAX,
				   .name = symbol.st_name},
			.rank = rank(&symbol),
		};
	}
	return count;
}

static const Elf64_Shdr *find_type(const struct parser *p, uint32_t type)
{
	for (size_t i = 0; i < p->section_count; i++)
		if (p->sections[i].sh_type == type && p->sections[i].sh_link < p->section_count)
			return &p->sections[i];
	return NULL;
}

static void read_symbols(struct parser *p)
{
	const Elf64_Shdr *section = find_type(p, SHT_SYMTAB);
	struct fg_elf *elf = p->elf;
	struct candidate *items;
	size_t size;
	size_t count;
	char *table;

	elf->has_symbol_table = section && section->sh_type != SHT_NOBITS;
	if (!section)
		section = find_type(p, SHT_DYNSYM);
	if (!section)
		return;
	elf->strings = section_bytes(p, &p->sections[section->sh_link], &elf->strings_size);
	table = section_bytes(p, section, &size);
	if (!table || !elf->strings) {
		free(table);
		return;
	}
	items = fg_xcalloc(size / p->class->symbol_size + 1, sizeof(items[0]));
	count = collect(p, table, size, items);
	items = sort_by_value(items, count);
	count = keep_best(elf, items, count);
	elf->symbols = fg_xcalloc(count ? count : 1, sizeof(elf->symbols[0]));
	for (size_t i = 0; i < count; i++)
		elf->symbols[i] = items[i].symbol;
	elf->symbol_count = count;
	free(items);
	free(table);
}

/* ----------------------------------------------------------------------- PLT */

static void add_plt(struct parser *p, const char *name, uint32_t first_entry)
{
	const Elf64_Shdr *section = find_section(p, name);

	if (!section || section->sh_size == 0)
		return;
	p->elf->plt[p->elf->plt_count++] = (struct fg_elf_plt){
		.start = section->sh_addr,
		.end = section->sh_addr + section->sh_size,
		.entry_size = 16,
		.first_entry = first_entry,
	};
}

static void read_plt_names(struct parser *p, const Elf64_Shdr *relocations)
{
	const Elf64_Shdr *symbols = find_type(p, SHT_DYNSYM);
	const size_t row = p->class->relocation_size[relocations->sh_type == SHT_RELA];
	struct fg_elf *elf = p->elf;
	size_t symbols_size = 0;
	size_t size = 0;
	char *table = symbols ? section_bytes(p, symbols, &symbols_size) : NULL;
	char *entries = section_bytes(p, relocations, &size);

	if (symbols)
		elf->dynamic_strings = section_bytes(p, &p->sections[symbols->sh_link],
						     &elf->dynamic_strings_size);
	if (table && entries && elf->dynamic_strings) {
		elf->plt_name_count = size / row;
		elf->plt_names = fg_xcalloc(elf->plt_name_count + 1, sizeof(elf->plt_names[0]));
	}
	for (size_t i = 0; i < elf->plt_name_count; i++) {
		const size_t number = p->class->relocated_symbol(entries + i * row);
		Elf64_Sym symbol;

		if (number >= symbols_size / p->class->symbol_size)
			continue;
		p->class->read_symbol(table + number * p->class->symbol_size, &symbol);
		if (symbol.st_name < elf->dynamic_strings_size)
			elf->plt_names[i] = symbol.st_name;
	}
	free(table);
	free(entries);
}

static void read_plt(struct parser *p)
{
	const Elf64_Shdr *relocations = find_section(p, ".rela.plt");
	bool split = find_section(p, ".plt.sec") != NULL;

	if (!relocations)
		relocations = find_section(p, ".rel.plt"); /* i386 */
	if (!relocations)
		return;
	/*
	 * with .plt.sec the entries of .plt are only the lazy halves: the same order, the same
	 * names
	 */
	add_plt(p, ".plt", p->header.e_machine == EM_AARCH64 ? 2 : 1);
	if (split)
		add_plt(p, ".plt.sec", 0);
	read_plt_names(p, relocations);
}

const char *fg_elf_plt_target(const struct fg_elf *elf, uint64_t address)
{
	for (size_t i = 0; i < elf->plt_count; i++) {
		const struct fg_elf_plt *plt = &elf->plt[i];
		uint64_t entry;

		if (address < plt->start || address >= plt->end)
			continue;
		entry = (address - plt->start) / plt->entry_size;
		if (entry < plt->first_entry || entry - plt->first_entry >= elf->plt_name_count)
			return "";
		return elf->dynamic_strings + elf->plt_names[entry - plt->first_entry];
	}
	return NULL;
}

/* ------------------------------------------------------------------ the whole */

static void note_sections(struct parser *p)
{
	struct fg_elf *elf = p->elf;

	for (size_t i = 0; i < p->section_count; i++) {
		const Elf64_Shdr *section = &p->sections[i];
		const char *name = section_name(p, section);

		if (section->sh_type != SHT_NOBITS &&
		    (strcmp(name, ".debug_info") == 0 || strcmp(name, ".zdebug_info") == 0))
			elf->has_debug_info = true;
		if (section->sh_type != SHT_NOBITS && strcmp(name, ".gnu_debugdata") == 0)
			elf->has_mini_debug = true;
		if (strcmp(name, ".eh_frame_hdr") == 0)
			elf->unwind_table = section->sh_addr;
		if (!(section->sh_flags & SHF_EXECINSTR) || section->sh_size == 0)
			continue;
		if (elf->code_end == 0 || section->sh_addr < elf->code_start)
			elf->code_start = section->sh_addr;
		if (section->sh_addr + section->sh_size > elf->code_end)
			elf->code_end = section->sh_addr + section->sh_size;
	}
}

static void close_parser(struct parser *p)
{
	free(p->sections);
	free(p->section_names);
	fg_source_close(&p->source);
}

static int parse(struct parser *p, struct fg_error *err)
{
	int status = read_header(p, err);

	if (status != FG_OK)
		goto out;
	status = read_sections(p, err);
	if (status != FG_OK)
		goto out;
	note_sections(p);
	read_notes(p);
	read_debuglink(p);
	read_symbols(p);
	read_plt(p);
out:
	close_parser(p);
	if (status != FG_OK)
		fg_elf_release(p->elf);
	return status;
}

int fg_elf_read(const char *path, struct fg_elf *elf, struct fg_error *err)
{
	struct parser p = {.elf = elf, .name = path};
	int status = fg_source_open(path, MAX_FILE_BYTES, &p.source, err);

	*elf = (struct fg_elf){0};
	return status == FG_OK ? parse(&p, err) : status;
}

int fg_elf_parse(const void *data, size_t size, const char *name, struct fg_elf *elf,
		 struct fg_error *err)
{
	struct parser p = {.elf = elf, .name = name, .source = fg_source_memory(data, size)};

	*elf = (struct fg_elf){0};
	return parse(&p, err);
}

/* To be closed if it succeeds. */
static int open_sections(struct parser *p, struct fg_error *err)
{
	int status = fg_source_open(p->name, MAX_FILE_BYTES, &p->source, err);

	if (status != FG_OK)
		return status;
	status = read_header(p, err);
	if (status == FG_OK)
		status = read_sections(p, err);
	if (status != FG_OK)
		close_parser(p);
	return status;
}

int fg_elf_read_section(const char *path, const char *section, size_t max_bytes, char **bytes,
			size_t *size, struct fg_error *err)
{
	struct parser p = {.name = path};
	const Elf64_Shdr *found = NULL;
	int status = open_sections(&p, err);

	if (status != FG_OK)
		return status;
	found = find_section(&p, section);
	*bytes = NULL;
	if (!found)
		status = fg_error_set(err, FG_ENOENT, "%s: it has no %s", path, section);
	else if (found->sh_size > max_bytes)
		status = fg_error_set(err, FG_ELIMIT, "%s: %s has more than %zu bytes", path,
				      section, max_bytes);
	else
		*bytes = section_bytes(&p, found, size);
	if (status == FG_OK && !*bytes)
		status = broken(&p, err, "a section lies outside the file");
	close_parser(&p);
	return status;
}

static const Elf64_Shdr *find_code(const struct parser *p, uint64_t address)
{
	for (size_t i = 0; i < p->section_count; i++) {
		const Elf64_Shdr *section = &p->sections[i];

		if (section->sh_type == SHT_PROGBITS && (section->sh_flags & SHF_EXECINSTR) &&
		    address >= section->sh_addr && address - section->sh_addr < section->sh_size)
			return section;
	}
	return NULL;
}

int fg_elf_read_code(const char *path, uint64_t address, size_t size, struct fg_elf_code *code,
		     struct fg_error *err)
{
	struct parser p = {.name = path};
	const Elf64_Shdr *section = NULL;
	uint64_t offset = 0;
	int status = open_sections(&p, err);

	*code = (struct fg_elf_code){0};
	if (status != FG_OK)
		return status;
	section = find_code(&p, address);
	if (section) {
		offset = address - section->sh_addr;
		code->size = section->sh_size - offset < size ? (size_t)(section->sh_size - offset)
							      : size;
		code->bytes = fg_xmalloc(code->size);
		code->machine = p.header.e_machine;
	}
	if (!section || section->sh_offset > UINT64_MAX - offset ||
	    !fg_source_read(&p.source, section->sh_offset + offset, code->bytes, code->size)) {
		free(code->bytes);
		*code = (struct fg_elf_code){0};
		status = fg_error_set(err, FG_ENOENT, "%s: it has no code at 0x%llx", path,
				      (unsigned long long)address);
	}
	close_parser(&p);
	return status;
}

void fg_elf_release(struct fg_elf *elf)
{
	free(elf->symbols);
	free(elf->strings);
	free(elf->plt_names);
	free(elf->dynamic_strings);
	*elf = (struct fg_elf){0};
}

static bool contains(const struct fg_elf_symbol *symbol, const struct fg_elf_symbol *next,
		     uint64_t address)
{
	if (symbol->size == 0)
		return !next || address < next->value;
	return address - symbol->value < symbol->size;
}

const struct fg_elf_symbol *fg_elf_find(const struct fg_elf *elf, uint64_t address)
{
	enum {
		LOOK_BACK = 32
	}; /* symbols inside a larger one's range */
	size_t low = 0;
	size_t high = elf->symbol_count;

	if (address < elf->code_start || address >= elf->code_end)
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (elf->symbols[middle].value <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t back = 0; back < LOOK_BACK && low > back; back++) {
		const struct fg_elf_symbol *symbol = &elf->symbols[low - back - 1];
		const struct fg_elf_symbol *next =
			low - back < elf->symbol_count ? symbol + 1 : NULL;

		if (contains(symbol, next, address))
			return symbol;
	}
	return NULL;
}

void fg_elf_build_id_text(const struct fg_elf *elf, char text[FG_BUILD_ID_TEXT])
{
	text[0] = '\0';
	if (elf->build_id_size > 0)
		fg_hex(elf->build_id, elf->build_id_size, text);
}
