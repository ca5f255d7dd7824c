// SPDX-License-Identifier: Apache-2.0
#include "binary/image.h"

#include "base/fs.h"
#include "base/sort.h"
#include "base/sorted.h"
#include "base/text.h"

enum {
	MAX_FILE_BYTES = 512 << 20
};

struct reader {
	struct fg_image *image;
	const char *path;
	struct fg_elf_tables elf;
	uint64_t tls_start;
};

static int check_header(const struct reader *r, struct fg_error *err)
{
	const Elf64_Ehdr *header = &r->elf.header;

	r->image->machine = header->e_machine;
	if (header->e_ident[EI_CLASS] != ELFCLASS64 ||
	    (header->e_machine != EM_X86_64 && header->e_machine != EM_AARCH64))
		return fg_error_set(
			err, FG_EUNSUPPORTED,
			"%s: machine code can be read only for x86-64 and arm64 (this is ELF "
			"machine %u)",
			r->path, header->e_machine);
	return FG_OK;
}

static int check_sections(const struct reader *r, struct fg_error *err)
{
	for (size_t i = 0; i < r->elf.section_count; i++) {
		const Elf64_Shdr *section = &r->elf.sections[i];

		if (section->sh_type != SHT_NOBITS &&
		    (section->sh_offset > r->image->file_size ||
		     section->sh_size > r->image->file_size - section->sh_offset))
			return fg_error_set(err, FG_EPARSE, "%s: section %zu lies outside the file",
					    r->path, i);
	}
	return FG_OK;
}

FG_ORDER_BY(compare_sections, struct fg_image_section, FG_UP(address))

/* .tbss is not loaded: it overlaps the section that follows. */
static bool is_loaded(const Elf64_Shdr *header)
{
	return (header->sh_flags & SHF_ALLOC) && header->sh_size &&
	       header->sh_addr <= UINT64_MAX - header->sh_size &&
	       !((header->sh_flags & SHF_TLS) && header->sh_type == SHT_NOBITS);
}

static void read_sections(struct reader *r)
{
	struct fg_image *image = r->image;

	image->sections =
		fg_arena_array(&image->arena, r->elf.section_count + 1, sizeof(image->sections[0]));
	image->low = UINT64_MAX;
	r->tls_start = UINT64_MAX;
	for (size_t i = 0; i < r->elf.section_count; i++) {
		const Elf64_Shdr *header = &r->elf.sections[i];

		if ((header->sh_flags & SHF_TLS) && header->sh_addr < r->tls_start)
			r->tls_start = header->sh_addr;
		if (!is_loaded(header))
			continue;
		image->sections[image->section_count++] = (struct fg_image_section){
			.name = fg_arena_strdup(&image->arena,
						fg_elf_tables_section_name(&r->elf, header)),
			.bytes = header->sh_type == SHT_NOBITS
					 ? NULL
					 : (const uint8_t *)image->file + header->sh_offset,
			.address = header->sh_addr,
			.size = header->sh_size,
			.is_code = (header->sh_flags & SHF_EXECINSTR) != 0,
			.is_writable = (header->sh_flags & SHF_WRITE) != 0,
		};
		if (header->sh_addr < image->low)
			image->low = header->sh_addr;
		if (header->sh_addr + header->sh_size > image->high)
			image->high = header->sh_addr + header->sh_size;
	}
	if (image->section_count)
		qsort(image->sections, image->section_count, sizeof(image->sections[0]),
		      compare_sections);
}

/*
 * Turns "parse.part.2.cold" into "parse.part.cold": compilers number clones and static locals in
 * order of appearance.
 */
const char *fg_image_plain_name(struct fg_arena *arena, const char *name)
{
	char *plain = fg_arena_strdup(arena, name);
	char *to = plain;

	for (const char *from = plain; *from;) {
		const size_t digits = *from == '.' ? strspn(from + 1, "0123456789") : 0;

		if (from > plain && digits && (from[1 + digits] == '\0' || from[1 + digits] == '.'))
			from += 1 + digits;
		else
			*to++ = *from++;
	}
	*to = '\0';
	return plain;
}

/*
 * Orders by address. Symbols at one address have the same order in every build: global symbols
 * first, then symbols with a size, then by name.
 */
static int compare_symbols(const void *left, const void *right)
{
	const struct fg_image_symbol *a = left;
	const struct fg_image_symbol *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if ((*a->unit != '\0') != (*b->unit != '\0'))
		return *a->unit ? 1 : -1;
	if ((a->size == 0) != (b->size == 0))
		return a->size ? -1 : 1;
	return strcmp(a->name, b->name);
}

/*
 * True for the functions of the compiler's start files: one compiler links the same files into all
 * builds, and they are full of symbols that the linker defines at the ends of sections.
 */
static bool is_start_file(const char *name)
{
	static const char *const names[] = {"deregister_tm_clones",
					    "register_tm_clones",
					    "__do_global_dtors_aux",
					    "frame_dummy",
					    "_start",
					    "_init",
					    "_fini",
					    "_dl_relocate_static_pie"};

	return FG_TEXT_IS_AMONG(name, names);
}

static void take_symbol(struct reader *r, Elf64_Sym symbol, const char *unit)
{
	struct fg_image *image = r->image;
	const unsigned type = ELF64_ST_TYPE(symbol.st_info);
	const bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC;
	const char *name = fg_elf_symbol_row_name(&image->table, &symbol);

	if (type == STT_TLS && symbol.st_shndx < r->elf.section_count &&
	    r->elf.sections[symbol.st_shndx].sh_type == SHT_PROGBITS)
		symbol.st_value += r->tls_start;
	else if (!is_function && type != STT_OBJECT)
		return;
	/* Data symbols without a size are linker marks, not objects. */
	if (!*name || (!is_function && symbol.st_size == 0) || symbol.st_value < image->low ||
	    symbol.st_value >= image->high)
		return;
	image->symbols[image->symbol_count++] = (struct fg_image_symbol){
		.is_start_file = is_start_file(name),
		.name = fg_image_plain_name(&image->arena, name),
		.unit = ELF64_ST_BIND(symbol.st_info) == STB_LOCAL ? unit : "",
		.address = symbol.st_value,
		.size = symbol.st_size,
		.is_function = is_function,
	};
}

/*
 * Sets aliases aside. A function without a size (assembler) extends to the next symbol or to the
 * end of its section.
 */
static void settle_symbols(struct fg_image *image)
{
	size_t used = 0;

	image->aliases =
		fg_arena_array(&image->arena, image->symbol_count, sizeof(image->aliases[0]));
	qsort(image->symbols, image->symbol_count, sizeof(image->symbols[0]), compare_symbols);
	for (size_t i = 0; i < image->symbol_count; i++) {
		if (used && image->symbols[used - 1].address == image->symbols[i].address) {
			image->aliases[image->alias_count++] = (struct fg_image_alias){
				image->symbols[i].name, image->symbols[i].address};
			continue;
		}
		image->symbols[used++] = image->symbols[i];
	}
	image->symbol_count = used;
	for (size_t i = 0; i < used; i++) {
		struct fg_image_symbol *symbol = &image->symbols[i];
		const struct fg_image_section *section =
			fg_image_section_at(image, symbol->address);
		uint64_t end = section ? section->address + section->size : symbol->address;

		if (i + 1 < used && image->symbols[i + 1].address < end)
			end = image->symbols[i + 1].address;
		if (symbol->size == 0 || symbol->size > end - symbol->address)
			symbol->size = end - symbol->address;
	}
}

static int read_symbols(struct reader *r, struct fg_error *err)
{
	const struct fg_elf_symbol_rows *table = &r->image->table;
	const char *unit = "";

	if (!table->count)
		return fg_error_set(
			err, FG_EUNSUPPORTED,
			"%s is stripped: without a symbol table, its functions cannot be "
			"distinguished",
			r->path);
	r->image->symbols =
		fg_arena_array(&r->image->arena, table->count, sizeof(r->image->symbols[0]));
	for (size_t i = 1; i < table->count; i++) {
		const Elf64_Sym symbol = fg_elf_symbol_row(table, i);

		if (ELF64_ST_TYPE(symbol.st_info) == STT_FILE)
			unit = fg_elf_symbol_row_name(table, &symbol);
		else if (symbol.st_shndx != SHN_UNDEF && symbol.st_shndx != SHN_ABS)
			take_symbol(r, symbol, unit);
	}
	settle_symbols(r->image);
	return FG_OK;
}

static void mark_exports(struct fg_image *image)
{
	for (size_t i = 1; i < image->dynamic_table.count; i++) {
		const Elf64_Sym symbol = fg_elf_symbol_row(&image->dynamic_table, i);
		const struct fg_image_symbol *found =
			symbol.st_shndx == SHN_UNDEF ? NULL
						     : fg_image_symbol_at(image, symbol.st_value);

		if (found && found->address == symbol.st_value)
			image->symbols[found - image->symbols].is_exported = true;
	}
}

static void take_entries(struct fg_image *image, const struct fg_elf_symbol_rows *table)
{
	for (size_t i = 1; i < table->count; i++) {
		const Elf64_Sym symbol = fg_elf_symbol_row(table, i);

		image->entries[image->entry_count++] = (struct fg_image_entry){
			.name = fg_elf_symbol_row_name(table, &symbol),
			.address = symbol.st_value,
			.size = symbol.st_size,
			.type = ELF64_ST_TYPE(symbol.st_info),
			.is_defined = symbol.st_shndx != SHN_UNDEF && symbol.st_shndx != SHN_ABS,
		};
	}
}

static void read_entries(struct fg_image *image)
{
	image->entries =
		fg_arena_array(&image->arena, image->table.count + image->dynamic_table.count + 1,
			       sizeof(image->entries[0]));
	take_entries(image, &image->table);
	take_entries(image, &image->dynamic_table);
}

FG_ORDER_BY(compare_relocations, struct fg_image_relocation, FG_UP(address))

static struct fg_image_relocation take_relocation(const struct fg_elf_symbol_rows *names,
						  Elf64_Rela entry)
{
	const Elf64_Sym symbol = fg_elf_symbol_row(names, ELF64_R_SYM(entry.r_info));

	if (ELF64_R_SYM(entry.r_info) == 0)
		return (struct fg_image_relocation){.address = entry.r_offset,
						    .target = (uint64_t)entry.r_addend};
	/* A symbol of this image may be bound elsewhere, so its name is kept, not its address. */
	return (struct fg_image_relocation){.address = entry.r_offset,
					    .import = fg_elf_symbol_row_name(names, &symbol),
					    .addend = entry.r_addend};
}

static bool has_relocations(const Elf64_Shdr *section)
{
	return section->sh_type == SHT_RELA && (section->sh_flags & SHF_ALLOC);
}

static void read_relocations(struct reader *r)
{
	struct fg_image *image = r->image;
	size_t room = 1;

	for (size_t i = 0; i < r->elf.section_count; i++) {
		if (has_relocations(&r->elf.sections[i]))
			room += r->elf.sections[i].sh_size / sizeof(Elf64_Rela);
	}
	image->relocations = fg_arena_array(&image->arena, room, sizeof(image->relocations[0]));
	for (size_t i = 0; i < r->elf.section_count; i++) {
		const Elf64_Shdr *section = &r->elf.sections[i];

		for (size_t k = 0;
		     has_relocations(section) && k < section->sh_size / sizeof(Elf64_Rela); k++) {
			Elf64_Rela entry;

			memcpy(&entry, image->file + section->sh_offset + k * sizeof(entry),
			       sizeof(entry));
			image->relocations[image->relocation_count++] =
				take_relocation(&image->dynamic_table, entry);
		}
	}
	qsort(image->relocations, image->relocation_count, sizeof(image->relocations[0]),
	      compare_relocations);
}

/* __FILE__ and run paths contain the folder, which does not change the program's behaviour. */
static void mask_folder(struct fg_image *image, const char *folder)
{
	const size_t length = strlen(folder);
	char *at = image->file;
	char *end = image->file + image->file_size;

	while (length && (size_t)(end - at) >= length) {
		char *found = memchr(at, folder[0], (size_t)(end - at) - length + 1);

		if (!found)
			return;
		at = found + 1;
		if (memcmp(found, folder, length) == 0)
			memset(found, folder[0], length);
	}
}

/* Reads everything except the symbols. */
static int read_image(struct reader *r, const char *folder, struct fg_error *err)
{
	struct fg_image *image = r->image;

	*image = (struct fg_image){0};
	FG_TRY(fg_fs_read_regular(r->path, MAX_FILE_BYTES, &image->file, &image->file_size, err));
	FG_TRY(fg_elf_tables_open_memory(image->file, image->file_size, r->path, &r->elf, err));
	FG_TRY(check_header(r, err));
	FG_TRY(fg_elf_tables_read_sections(&r->elf, err));
	FG_TRY(check_sections(r, err));
	image->is_fixed = r->elf.header.e_type == ET_EXEC;
	image->segments = fg_arena_memdup(&image->arena, r->elf.segments,
					  r->elf.segment_count * sizeof(Elf64_Phdr));
	image->segment_count = r->elf.segment_count;
	if (folder)
		mask_folder(image, folder);
	fg_elf_symbol_rows_read(&r->elf, SHT_SYMTAB, &image->table);
	fg_elf_symbol_rows_read(&r->elf, SHT_DYNSYM, &image->dynamic_table);
	read_sections(r);
	read_relocations(r);
	return FG_OK;
}

int fg_image_read_parts(const char *path, struct fg_image *image, struct fg_error *err)
{
	struct reader r = {.image = image, .path = path, .elf.source.fd = -1};
	int status = read_image(&r, NULL, err);

	if (status == FG_OK && image->machine != EM_X86_64)
		status = fg_error_set(err, FG_EUNSUPPORTED, "%s is not an x86-64 program", path);
	if (status == FG_OK)
		read_entries(image);
	else
		fg_image_release(image);
	fg_elf_tables_close(&r.elf);
	return status;
}

int fg_image_read(const char *path, const char *folder, struct fg_image *image,
		  struct fg_error *err)
{
	struct reader r = {.image = image, .path = path, .elf.source.fd = -1};
	int status = read_image(&r, folder, err);

	if (status == FG_OK)
		status = read_symbols(&r, err);
	if (status == FG_OK)
		mark_exports(image);
	else
		fg_image_release(image);
	fg_elf_tables_close(&r.elf);
	return status;
}

void fg_image_release(struct fg_image *image)
{
	free(image->file);
	fg_elf_symbol_rows_release(&image->table);
	fg_elf_symbol_rows_release(&image->dynamic_table);
	fg_arena_release(&image->arena);
	*image = (struct fg_image){0};
}

static int compare(uint64_t address, uint64_t start, uint64_t size)
{
	return (address >= start && address - start >= size) - (address < start);
}

static int compare_with_section(const void *key, const void *item)
{
	const struct fg_image_section *section = item;

	return compare(*(const uint64_t *)key, section->address, section->size);
}

static int compare_with_symbol(const void *key, const void *item)
{
	const struct fg_image_symbol *symbol = item;

	return compare(*(const uint64_t *)key, symbol->address, symbol->size);
}

const struct fg_image_section *fg_image_section_at(const struct fg_image *image, uint64_t address)
{
	return image->section_count ? bsearch(&address, image->sections, image->section_count,
					      sizeof(image->sections[0]), compare_with_section)
				    : NULL;
}

const struct fg_image_symbol *fg_image_symbol_at(const struct fg_image *image, uint64_t address)
{
	return image->symbol_count ? bsearch(&address, image->symbols, image->symbol_count,
					     sizeof(image->symbols[0]), compare_with_symbol)
				   : NULL;
}

size_t fg_image_first_relocation(const struct fg_image *image, uint64_t address)
{
	return fg_sorted_below(FG_SORTED(image->relocations, image->relocation_count,
					 struct fg_image_relocation, address),
			       address);
}

const struct fg_image_relocation *fg_image_relocation_at(const struct fg_image *image,
							 uint64_t address)
{
	const size_t at = fg_image_first_relocation(image, address);

	if (at == image->relocation_count || image->relocations[at].address != address)
		return NULL;
	return &image->relocations[at];
}
