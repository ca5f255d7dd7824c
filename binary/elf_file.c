// SPDX-License-Identifier: Apache-2.0
#include "binary/elf_file.h"

#include "base/hash.h"
#include "base/radix_sort.h"
#include "base/sorted.h"

/* Reads .gnu_debuglink: a file name, padding to four bytes, the crc32 of that file. */
static void read_debuglink(const struct fg_elf_tables *file, struct fg_elf *elf)
{
	const Elf64_Shdr *section = fg_elf_tables_section(file, ".gnu_debuglink");
	size_t size;
	size_t length;
	size_t crc;
	char *bytes;

	if (!section || section->sh_size > sizeof(elf->debuglink) + 8)
		return;
	bytes = fg_elf_tables_section_bytes(file, section, &size);
	if (!bytes)
		return;
	length = strlen(bytes);
	crc = (length + 1 + 3) & ~(size_t)3;
	if (length > 0 && length < sizeof(elf->debuglink) && crc + 4 <= size &&
	    !strchr(bytes, '/')) {
		memcpy(elf->debuglink, bytes, length + 1);
		memcpy(&elf->debuglink_crc, bytes + crc, 4);
	}
	free(bytes);
}

/* ---- symbols ---- */

static bool is_code(const struct fg_elf_tables *file, const Elf64_Sym *symbol)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);

	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return false;
	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= file->section_count)
		return false;
	return (file->sections[symbol->st_shndx].sh_flags & SHF_EXECINSTR) != 0;
}

/*
 * Ranks the names at one address: typed before untyped, then sized before unsized, then global
 * before weak before local. is_better() decides between names of the same rank.
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

/* Returns a new array sorted by value; frees `items`. */
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

static size_t collect(const struct fg_elf_tables *file, const struct fg_elf_symbol_rows *rows,
		      struct candidate *items)
{
	size_t count = 0;

	for (size_t i = 0; i < rows->count; i++) {
		const Elf64_Sym symbol = fg_elf_symbol_row(rows, i);
		const char *name = fg_elf_symbol_row_name(rows, &symbol);

		/* "$x", "$d": ARM mapping symbols */
		if (!is_code(file, &symbol) || !*name || *name == '$')
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

static bool has_section_of_type(const struct fg_elf_tables *file, uint32_t type)
{
	for (size_t i = 0; i < file->section_count; i++)
		if (file->sections[i].sh_type == type)
			return true;
	return false;
}

static void read_symbols(const struct fg_elf_tables *file, struct fg_elf *elf)
{
	struct fg_elf_symbol_rows rows;
	struct candidate *items;
	size_t count;

	elf->has_symbol_table = has_section_of_type(file, SHT_SYMTAB);
	fg_elf_symbol_rows_read(file, elf->has_symbol_table ? SHT_SYMTAB : SHT_DYNSYM, &rows);
	items = fg_xcalloc(rows.count + 1, sizeof(items[0]));
	count = collect(file, &rows, items);
	elf->strings = rows.texts;
	rows.texts = NULL;
	fg_elf_symbol_rows_release(&rows);
	items = sort_by_value(items, count);
	count = keep_best(elf, items, count);
	elf->symbols = fg_xcalloc(count ? count : 1, sizeof(elf->symbols[0]));
	for (size_t i = 0; i < count; i++)
		elf->symbols[i] = items[i].symbol;
	elf->symbol_count = count;
	free(items);
}

/* ---- PLT ---- */

static void add_plt(const struct fg_elf_tables *file, const char *name, uint32_t first_entry,
		    struct fg_elf *elf)
{
	const Elf64_Shdr *section = fg_elf_tables_section(file, name);

	if (!section || section->sh_size == 0)
		return;
	elf->plt[elf->plt_count++] = (struct fg_elf_plt){
		.start = section->sh_addr,
		.end = section->sh_addr + section->sh_size,
		.entry_size = 16,
		.first_entry = first_entry,
	};
}

static void read_plt_names(const struct fg_elf_tables *file, const Elf64_Shdr *relocations,
			   struct fg_elf *elf)
{
	const size_t row = file->class->relocation_size[relocations->sh_type == SHT_RELA];
	struct fg_elf_symbol_rows symbols;
	size_t size = 0;
	char *entries = fg_elf_tables_section_bytes(file, relocations, &size);

	fg_elf_symbol_rows_read(file, SHT_DYNSYM, &symbols);
	if (symbols.count && entries) {
		elf->plt_name_count = size / row;
		elf->plt_names = fg_xcalloc(elf->plt_name_count + 1, sizeof(elf->plt_names[0]));
	}
	for (size_t i = 0; i < elf->plt_name_count; i++) {
		const size_t number = file->class->relocated_symbol(entries + i * row);
		const Elf64_Sym symbol = fg_elf_symbol_row(&symbols, number);

		if (symbol.st_name < symbols.texts_size)
			elf->plt_names[i] = symbol.st_name;
	}
	elf->dynamic_strings = symbols.texts;
	symbols.texts = NULL;
	fg_elf_symbol_rows_release(&symbols);
	free(entries);
}

static void read_plt(const struct fg_elf_tables *file, struct fg_elf *elf)
{
	const Elf64_Shdr *relocations = fg_elf_tables_section(file, ".rela.plt");

	if (!relocations)
		relocations = fg_elf_tables_section(file, ".rel.plt"); /* i386 */
	if (!relocations)
		return;
	/*
	 * With .plt.sec, the entries of .plt are only the lazy halves, in the same order with the
	 * same names.
	 */
	add_plt(file, ".plt", file->header.e_machine == EM_AARCH64 ? 2 : 1, elf);
	add_plt(file, ".plt.sec", 0, elf);
	read_plt_names(file, relocations, elf);
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

/* ---- file ---- */

static void note_sections(const struct fg_elf_tables *file, struct fg_elf *elf)
{
	for (size_t i = 0; i < file->section_count; i++) {
		const Elf64_Shdr *section = &file->sections[i];
		const char *name = fg_elf_tables_section_name(file, section);

		if (section->sh_type != SHT_NOBITS &&
		    (strcmp(name, ".debug_info") == 0 || strcmp(name, ".zdebug_info") == 0))
			elf->has_debug_info = true;
		if (section->sh_type != SHT_NOBITS && strcmp(name, ".gnu_debugdata") == 0)
			elf->has_mini_debug = true;
		if (strcmp(name, ".eh_frame") == 0)
			elf->frames_address = section->sh_addr;
		if (!(section->sh_flags & SHF_EXECINSTR) || section->sh_size == 0)
			continue;
		if (elf->code_end == 0 || section->sh_addr < elf->code_start)
			elf->code_start = section->sh_addr;
		if (section->sh_addr + section->sh_size > elf->code_end)
			elf->code_end = section->sh_addr + section->sh_size;
	}
}

/* Fills `elf` from the file, and closes the file. */
static int parse(struct fg_elf_tables *file, struct fg_elf *elf, struct fg_error *err)
{
	int status = fg_elf_tables_read_sections(file, err);

	*elf = (struct fg_elf){0};
	if (status == FG_OK) {
		elf->is_narrow = file->header.e_ident[EI_CLASS] == ELFCLASS32;
		note_sections(file, elf);
		elf->build_id_size = fg_elf_tables_build_id(file, elf->build_id);
		read_debuglink(file, elf);
		read_symbols(file, elf);
		read_plt(file, elf);
	}
	fg_elf_tables_close(file);
	return status;
}

int fg_elf_read(const char *path, struct fg_elf *elf, struct fg_error *err)
{
	struct fg_elf_tables file;
	int status = fg_elf_tables_open(path, &file, err);

	*elf = (struct fg_elf){0};
	return status == FG_OK ? parse(&file, elf, err) : status;
}

int fg_elf_parse(const void *data, size_t size, const char *name, struct fg_elf *elf,
		 struct fg_error *err)
{
	struct fg_elf_tables file;
	int status = fg_elf_tables_open_memory(data, size, name, &file, err);

	*elf = (struct fg_elf){0};
	return status == FG_OK ? parse(&file, elf, err) : status;
}

/* The caller closes `file` on success. */
static int open_sections(const char *path, struct fg_elf_tables *file, struct fg_error *err)
{
	int status = FG_OK;

	FG_TRY(fg_elf_tables_open(path, file, err));
	status = fg_elf_tables_read_sections(file, err);
	if (status != FG_OK)
		fg_elf_tables_close(file);
	return status;
}

int fg_elf_read_section(const char *path, const char *section, size_t max_bytes, char **bytes,
			size_t *size, struct fg_error *err)
{
	struct fg_elf_tables file;
	const Elf64_Shdr *found = NULL;
	int status = FG_OK;

	FG_TRY(open_sections(path, &file, err));
	found = fg_elf_tables_section(&file, section);
	*bytes = NULL;
	if (!found)
		status = fg_error_set(err, FG_ENOENT, "%s has no section %s", path, section);
	else if (found->sh_size > max_bytes)
		status = fg_error_set(err, FG_ELIMIT, "%s: section %s has more than %zu bytes",
				      path, section, max_bytes);
	else
		*bytes = fg_elf_tables_section_bytes(&file, found, size);
	if (status == FG_OK && !*bytes)
		status = fg_error_set(err, FG_EPARSE, "%s: a section lies outside the file", path);
	fg_elf_tables_close(&file);
	return status;
}

static const Elf64_Shdr *find_code(const struct fg_elf_tables *file, uint64_t address)
{
	for (size_t i = 0; i < file->section_count; i++) {
		const Elf64_Shdr *section = &file->sections[i];

		if (section->sh_type == SHT_PROGBITS && (section->sh_flags & SHF_EXECINSTR) &&
		    address >= section->sh_addr && address - section->sh_addr < section->sh_size)
			return section;
	}
	return NULL;
}

int fg_elf_read_code(const char *path, uint64_t address, size_t size, struct fg_elf_code *code,
		     struct fg_error *err)
{
	struct fg_elf_tables file;
	const Elf64_Shdr *section = NULL;
	int status = open_sections(path, &file, err);

	*code = (struct fg_elf_code){0};
	if (status != FG_OK)
		return status;
	section = find_code(&file, address);
	if (section) {
		const uint64_t offset = address - section->sh_addr;

		code->size = fg_min_size((size_t)(section->sh_size - offset), size);
		code->machine = file.header.e_machine;
		if (section->sh_offset <= UINT64_MAX - offset)
			code->bytes = (uint8_t *)fg_elf_tables_bytes(
				&file, section->sh_offset + offset, code->size);
	}
	if (!code->bytes) {
		*code = (struct fg_elf_code){0};
		status = fg_error_set(err, FG_ENOENT, "%s has no code at 0x%llx", path,
				      (unsigned long long)address);
	}
	fg_elf_tables_close(&file);
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
		LOOK_BACK = 32 /* symbols tried: small symbols may lie inside a larger symbol */
	};
	size_t low = 0;

	if (address < elf->code_start || address >= elf->code_end)
		return NULL;
	low = fg_sorted_up_to(
		FG_SORTED(elf->symbols, elf->symbol_count, struct fg_elf_symbol, value), address);
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
