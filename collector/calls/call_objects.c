// SPDX-License-Identifier: Apache-2.0
#include "collector/calls/call_objects.h"

#include "collector/sampler/collector_env.h"

#include <elf.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

enum {
	OBJECTS_MAX = 4096,
	PAGE = 4096,
};

struct fg_object_list fg_objects;

/* ---- an object's dynamic section ---- */

bool fg_ranges_hold(uintptr_t address, const struct fg_object_range *ranges, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (address >= ranges[i].start && address < ranges[i].end)
			return true;
	return false;
}

static void add_range(struct fg_object_range *ranges, unsigned *count, uintptr_t start,
		      uintptr_t end)
{
	if (*count < FG_OBJECT_SEGMENTS_MAX)
		ranges[(*count)++] = (struct fg_object_range){start, end};
}

static void read_segments(struct fg_object *object, const struct dl_phdr_info *info)
{
	object->whole.start = UINTPTR_MAX;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		const uintptr_t start = info->dlpi_addr + header->p_vaddr;
		const uintptr_t end = start + header->p_memsz;

		if (header->p_type == PT_DYNAMIC) {
			object->dynamic = (const ElfW(Dyn) *)start;
		} else if (header->p_type == PT_GNU_RELRO) {
			object->relro.start = start & ~(uintptr_t)(PAGE - 1);
			object->relro.end = end & ~(uintptr_t)(PAGE - 1);
		}
		if (header->p_type != PT_LOAD)
			continue;
		if (start < object->whole.start)
			object->whole.start = start;
		if (end > object->whole.end)
			object->whole.end = end;
		if (header->p_flags & PF_X)
			add_range(object->code, &object->code_count, start, end);
		else if (header->p_flags & PF_W)
			add_range(object->writable, &object->writable_count, start, end);
	}
}

static void read_entry(struct fg_object *object, const ElfW(Dyn) * entry)
{
	const uintptr_t value = entry->d_un.d_ptr;

	switch (entry->d_tag) {
	case DT_VERNEED:
		object->needed_versions = fg_dynamic_place(object->exports.bias, value);
		break;
	case DT_VERNEEDNUM:
		object->needed_count = entry->d_un.d_val;
		break;
	case DT_VERDEF:
		object->defined_versions = fg_dynamic_place(object->exports.bias, value);
		break;
	case DT_VERDEFNUM:
		object->defined_count = entry->d_un.d_val;
		break;
	case DT_JMPREL:
		object->tables[0] = fg_dynamic_place(object->exports.bias, value);
		break;
	case DT_PLTRELSZ:
		object->table_sizes[0] = entry->d_un.d_val;
		break;
	case DT_RELA:
		object->tables[1] = fg_dynamic_place(object->exports.bias, value);
		break;
	case DT_RELASZ:
		object->table_sizes[1] = entry->d_un.d_val;
		break;
	case DT_SYMBOLIC:
		object->is_symbolic = true;
		break;
	case DT_FLAGS:
		object->is_symbolic |= (entry->d_un.d_val & DF_SYMBOLIC) != 0;
		break;
	default:
		break;
	}
}

static bool is_of_the_system(const struct fg_object *object)
{
	static const char loader[] = "ld-linux";
	const char *slash = strrchr(object->path, '/');
	const char *name = slash ? slash + 1 : object->path;

	return object->whole.start == getauxval(AT_SYSINFO_EHDR) ||
	       object->whole.start == getauxval(AT_BASE) ||
	       strncmp(name, loader, sizeof(loader) - 1) == 0 || strstr(name, FG_COLLECTOR_NAME);
}

static int list_one(struct dl_phdr_info *info, size_t size, void *data)
{
	struct fg_object_list *list = data;
	struct fg_object *object = &list->objects[list->count];

	(void)size;
	if (list->count == OBJECTS_MAX)
		return 1;
	*object = (struct fg_object){.path = info->dlpi_name ? info->dlpi_name : ""};
	read_segments(object, info);
	fg_exports_read(&object->exports, info->dlpi_addr, object->dynamic);
	for (const ElfW(Dyn) *entry = object->dynamic; entry && entry->d_tag != DT_NULL; entry++)
		read_entry(object, entry);
	if (object->dynamic)
		object->is_left = is_of_the_system(object);
	else
		object->is_left = true;
	list->count++;
	return 0;
}

static bool reserve(struct fg_object_list *list)
{
	void *memory = NULL;

	if (list->objects)
		return true;
	memory = mmap(NULL, OBJECTS_MAX * sizeof(struct fg_object), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return false;
	list->objects = memory;
	return true;
}

const struct fg_object *fg_object_of(uintptr_t address)
{
	for (uint32_t i = 0; i < fg_objects.count; i++)
		if (address >= fg_objects.objects[i].whole.start &&
		    address < fg_objects.objects[i].whole.end)
			return &fg_objects.objects[i];
	return NULL;
}

/* ---- the function behind an import ---- */

const char *fg_object_wanted_version(const struct fg_object *object, size_t index)
{
	const uint8_t *need = object->needed_versions;
	const uint16_t number = object->exports.versions
					? object->exports.versions[index] & (FG_VERSION_HIDDEN - 1)
					: 0;

	for (size_t i = 0; need && number > 1 && i < object->needed_count; i++) {
		const ElfW(Verneed) *library = (const void *)need;
		const uint8_t *aux = need + library->vn_aux;

		for (size_t n = 0; n < library->vn_cnt; n++) {
			const ElfW(Vernaux) *version = (const void *)aux;

			if ((version->vna_other & (FG_VERSION_HIDDEN - 1)) == number)
				return object->exports.strings + version->vna_name;
			aux += version->vna_next;
		}
		need += library->vn_next;
	}
	return NULL;
}

/* Is this definition the wanted version, or the default version if none is requested? */
static bool has_version(const struct fg_object *object, size_t index, const char *wanted)
{
	const uint8_t *definition = object->defined_versions;
	const uint16_t number = object->exports.versions ? object->exports.versions[index] : 1;

	if (!wanted)
		return !(number & FG_VERSION_HIDDEN);
	for (size_t i = 0; definition && i < object->defined_count; i++) {
		const ElfW(Verdef) *version = (const void *)definition;
		const ElfW(Verdaux) *name = (const void *)(definition + version->vd_aux);

		if (version->vd_ndx == (number & (FG_VERSION_HIDDEN - 1)))
			return strcmp(object->exports.strings + name->vda_name, wanted) == 0;
		definition += version->vd_next;
	}
	return !object->defined_versions;
}

static bool is_function(const ElfW(Sym) * symbol)
{
	const unsigned kind = ELF64_ST_TYPE(symbol->st_info);

	return kind == STT_FUNC || kind == STT_GNU_IFUNC;
}

/* Returns the function of this name that the object exports; 0: none. */
static uint32_t exported(const struct fg_object *object, const char *name, const char *version)
{
	const struct fg_exports *exports = &object->exports;
	const uint32_t hash = fg_name_hash(name);
	uint32_t index = fg_exports_next(exports, name, hash, 0);

	while (index &&
	       !(is_function(&exports->symbols[index]) && has_version(object, index, version)))
		index = fg_exports_next(exports, name, hash, index);
	return index;
}

uintptr_t fg_object_look_up(const struct fg_object *object, const char *name, const char *version)
{
	const struct fg_object *first = NULL;
	unsigned later = 0;

	if (object->is_symbolic && exported(object, name, version))
		return fg_export_address(&object->exports, exported(object, name, version));
	for (uint32_t i = 0; i < fg_objects.count; i++) {
		const struct fg_object *other = &fg_objects.objects[i];

		if (!exported(other, name, version))
			continue;
		later += !other->is_initial;
		if (!first)
			first = other;
	}
	/*
	 * An object loaded later may prefer its own definition (RTLD_DEEPBIND), or be visible only
	 * to some objects.
	 */
	if (!first || (first->is_initial ? later && !object->is_initial : later > 1))
		return 0;
	return fg_export_address(&first->exports, exported(first, name, version));
}

bool fg_object_exports(const struct fg_object *object,
		       bool (*is)(const void *context, const struct fg_object *object,
				  const char *name),
		       const void *context)
{
	const struct fg_exports *exports = &object->exports;
	const uint32_t end = fg_exports_end(exports);

	for (uint32_t index = 1; index < end; index++) {
		const ElfW(Sym) *symbol = &exports->symbols[index];

		if (symbol->st_shndx != SHN_UNDEF && is_function(symbol) &&
		    is(context, object, exports->strings + symbol->st_name))
			return true;
	}
	return false;
}

bool fg_objects_read(struct fg_object_list *before)
{
	static struct fg_object_list spare;

	if (!reserve(&fg_objects) || !reserve(&spare))
		return false;
	spare.count = 0;
	(void)dl_iterate_phdr(list_one, &spare);
	*before = fg_objects;
	fg_objects = spare;
	spare = *before;
	return true;
}

bool fg_object_is_slot(const ElfW(Rela) * entry)
{
	const unsigned kind = (unsigned)ELF64_R_TYPE(entry->r_info);

	return ELF64_R_SYM(entry->r_info) != 0 &&
	       (kind == R_X86_64_JUMP_SLOT || kind == R_X86_64_GLOB_DAT ||
		(kind == R_X86_64_64 && entry->r_addend == 0));
}

bool fg_object_is_used_by_us(uintptr_t address)
{
	const struct fg_object *ours = fg_object_of((uintptr_t)&fg_objects);

	for (unsigned t = 0; ours && t < 2; t++) {
		const size_t count = ours->table_sizes[t] / sizeof(ElfW(Rela));

		for (size_t i = 0; ours->tables[t] && i < count; i++)
			if (fg_object_is_slot(&ours->tables[t][i]) &&
			    *(const uintptr_t *)(ours->exports.bias +
						 ours->tables[t][i].r_offset) == address)
				return true;
	}
	return false;
}
