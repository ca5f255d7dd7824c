// SPDX-License-Identifier: Apache-2.0
#include "cli/init/elf_program.h"

#include "binary/elf_tables.h"

static bool open_wide(const char *data, size_t size, struct fg_elf_tables *elf)
{
	if (fg_elf_tables_open_memory(data, size, "", elf, NULL) != FG_OK)
		return false;
	if (elf->header.e_ident[EI_CLASS] == ELFCLASS64)
		return true;
	fg_elf_tables_close(elf);
	return false;
}

bool fg_elf_is_program(const char *data, size_t size)
{
	struct fg_elf_tables elf;
	bool is_program = false;

	if (!open_wide(data, size, &elf))
		return false;
	is_program = elf.header.e_type == ET_EXEC ||
		     (elf.header.e_type == ET_DYN && fg_elf_tables_segment(&elf, PT_INTERP));
	fg_elf_tables_close(&elf);
	return is_program;
}

static bool is_name(int64_t tag, const char *text, const char *library)
{
	return tag == DT_NEEDED && strcmp(text, library) == 0;
}

static bool is_below(int64_t tag, const char *text, const char *root)
{
	return (tag == DT_RPATH || tag == DT_RUNPATH) &&
	       (strstr(text, root) || strstr(text, "$ORIGIN"));
}

/* Does any string in the dynamic section satisfy `matches`? */
static bool has_text(const char *data, size_t size,
		     bool (*matches)(int64_t tag, const char *text, const char *argument),
		     const char *argument)
{
	struct fg_elf_tables elf;
	struct fg_elf_dynamic dynamic;
	bool found = false;

	if (!open_wide(data, size, &elf))
		return false;
	fg_elf_dynamic_read(&elf, &dynamic);
	for (size_t i = 0; i < dynamic.count && !found; i++) {
		const char *text = fg_elf_dynamic_text(&dynamic, &dynamic.entries[i]);

		found = text && matches(dynamic.entries[i].d_tag, text, argument);
	}
	fg_elf_dynamic_release(&dynamic);
	fg_elf_tables_close(&elf);
	return found;
}

bool fg_elf_needs(const char *data, size_t size, const char *library)
{
	return has_text(data, size, is_name, library);
}

bool fg_elf_searches_below(const char *data, size_t size, const char *root)
{
	return has_text(data, size, is_below, root);
}
