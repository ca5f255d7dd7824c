// SPDX-License-Identifier: Apache-2.0
#include "collector/counting/bypass.h"

#include "base/attrs.h"
#include "collector/sampler/state.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>

#if __SIZEOF_POINTER__ == 8
# define RELOCATION_SYMBOL(info) ELF64_R_SYM(info)
#else
# define RELOCATION_SYMBOL(info) ELF32_R_SYM(info)
#endif

/* The imports of an object. */
struct imports {
	uintptr_t bias;
	const ElfW(Sym) * symbols;
	const char *names;
	const uint8_t *tables[2]; /* of calls, of the rest */
	size_t sizes[2];
	size_t step; /* from one relocation to the next */
};

struct search {
	const struct fg_bypassed *what;
	const char *found;
};

static void read_entry(struct imports *imports, const ElfW(Dyn) * entry)
{
	/* NOLINTBEGIN(performance-no-int-to-ptr): the loader has made addresses of them */
	switch (entry->d_tag) {
	case DT_SYMTAB:
		imports->symbols = (const ElfW(Sym) *)entry->d_un.d_ptr;
		break;
	case DT_STRTAB:
		imports->names = (const char *)entry->d_un.d_ptr;
		break;
	case DT_JMPREL:
		imports->tables[0] = (const uint8_t *)entry->d_un.d_ptr;
		break;
	case DT_PLTRELSZ:
		imports->sizes[0] = entry->d_un.d_val;
		break;
	case DT_RELA:
	case DT_REL:
		imports->tables[1] = (const uint8_t *)entry->d_un.d_ptr;
		imports->step = entry->d_tag == DT_RELA ? sizeof(ElfW(Rela)) : sizeof(ElfW(Rel));
		break;
	case DT_RELASZ:
	case DT_RELSZ:
		imports->sizes[1] = entry->d_un.d_val;
		break;
	case DT_PLTREL:
		imports->step =
			entry->d_un.d_val == DT_RELA ? sizeof(ElfW(Rela)) : sizeof(ElfW(Rel));
		break;
	default:
		break;
	}
	/* NOLINTEND(performance-no-int-to-ptr) */
}

/* Both kinds of relocation begin alike. */
static bool leads_past(const struct imports *imports, const ElfW(Rel) * relocation,
		       const struct fg_bypassed *what)
{
	const size_t symbol = RELOCATION_SYMBOL(relocation->r_info);
	const char *name = imports->names + imports->symbols[symbol].st_name;
	uintptr_t target = 0;

	if (symbol == 0 || imports->symbols[symbol].st_shndx != SHN_UNDEF)
		return false;
	for (unsigned i = 0; i < FG_BYPASS_FUNCTIONS; i++) {
		if (!what->reals[i] || strcmp(name, what->names[i]) != 0)
			continue;
		/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
		memcpy(&target, (const void *)(imports->bias + relocation->r_offset),
		       sizeof(target));
		return target == what->reals[i];
	}
	return false;
}

static bool has_bypass(const struct imports *imports, const struct fg_bypassed *what)
{
	for (unsigned table = 0; table < 2; table++) {
		const uint8_t *at = imports->tables[table];

		for (size_t i = 0; at && i + imports->step <= imports->sizes[table];
		     i += imports->step)
			if (leads_past(imports, (const ElfW(Rel) *)(const void *)(at + i), what))
				return true;
	}
	return false;
}

static bool is_library_with_file(const struct dl_phdr_info *info)
{
	return info->dlpi_name && strchr(info->dlpi_name, '/');
}

static int look(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct search *search = argument;
	struct imports imports = {.bias = info->dlpi_addr, .step = sizeof(ElfW(Rela))};
	const ElfW(Dyn) *entry = NULL;
	bool is_ours = false;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		const uintptr_t begin = info->dlpi_addr + header->p_vaddr;

		/* NOLINTNEXTLINE(performance-no-int-to-ptr) */
		if (header->p_type == PT_DYNAMIC)
			entry = (const ElfW(Dyn) *)begin;
		if (header->p_type == PT_LOAD && (uintptr_t)look - begin < header->p_memsz)
			is_ours = true;
	}
	if (is_ours || !entry || !is_library_with_file(info))
		return 0;
	for (; entry->d_tag != DT_NULL; entry++)
		read_entry(&imports, entry);
	if (!imports.symbols || !imports.names || !has_bypass(&imports, search->what))
		return 0;
	search->found = info->dlpi_name;
	return 1;
}

const char *fg_bypass_find(const struct fg_bypassed *what)
{
	struct search search = {.what = what};

	(void)dl_iterate_phdr(look, &search);
	return search.found;
}
