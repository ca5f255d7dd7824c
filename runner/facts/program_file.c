// SPDX-License-Identifier: Apache-2.0
#include "runner/facts/program_file.h"

#include "binary/elf_tables.h"

#include <errno.h>
#include <unistd.h>

/*
 * A sanitizer appears as a needed library or as a function; one table holds the names of libraries
 * and functions.
 */
static const char *find_sanitizer(const struct fg_elf_tables *elf)
{
	static const struct {
		const char *trace;
		const char *name;
	} known[] = {
		{"__asan_init", "AddressSanitizer"}, {"libasan.so", "AddressSanitizer"},
		{"__tsan_init", "ThreadSanitizer"},  {"libtsan.so", "ThreadSanitizer"},
		{"__msan_init", "MemorySanitizer"},
	};
	struct fg_elf_dynamic dynamic;
	const char *found = NULL;

	fg_elf_dynamic_read(elf, &dynamic);
	for (size_t i = 0; i < FG_ARRAY_SIZE(known) && dynamic.texts && !found; i++)
		if (memmem(dynamic.texts, dynamic.texts_size, known[i].trace,
			   strlen(known[i].trace)))
			found = known[i].name;
	fg_elf_dynamic_release(&dynamic);
	return found;
}

static void read_elf(const struct fg_elf_tables *elf, struct fg_program_file *program)
{
	const Elf64_Phdr *loader = fg_elf_tables_segment(elf, PT_INTERP);

	program->is_elf = true;
	program->machine = elf->header.e_machine;
	program->is_dynamic = loader != NULL;
	if (!loader)
		return;
	if (loader->p_filesz < sizeof(program->loader) &&
	    !fg_source_read(&elf->source, loader->p_offset, program->loader, loader->p_filesz))
		program->loader[0] = '\0';
	program->is_musl = strstr(program->loader, "/ld-musl-") != NULL;
	program->sanitizer = find_sanitizer(elf);
}

/* Reads the first line of a script: "#!", spaces, the interpreter. */
static void read_script(const char *path, struct fg_program_file *program)
{
	char line[2 + sizeof(program->interpreter)] = "";
	struct fg_source source;
	const char *at = line + 2;

	if (fg_source_open(path, UINT64_MAX, &source, NULL) != FG_OK)
		return;
	if (fg_source_read(&source, 0, line, fg_min_size(source.size, sizeof(line) - 1)) &&
	    memcmp(line, "#!", 2) == 0) {
		at += strspn(at, " \t");
		for (size_t i = 0; at[i] > ' ' && i + 1 < sizeof(program->interpreter); i++)
			program->interpreter[i] = at[i];
	}
	fg_source_close(&source);
}

int fg_program_file_read(const char *path, struct fg_program_file *program, struct fg_error *err)
{
	struct fg_elf_tables elf;
	struct fg_error why = {0};
	int status;

	*program = (struct fg_program_file){0};
	/* A program may be executable but unreadable; then nothing is known about it. */
	if (access(path, R_OK) != 0 && errno == EACCES)
		return FG_OK;
	status = fg_elf_tables_open(path, &elf, &why);
	if (status == FG_EPARSE || status == FG_EUNSUPPORTED) {
		read_script(path, program);
		return FG_OK;
	}
	if (status != FG_OK)
		return fg_error_set(err, FG_EIO, "%s", why.message);
	read_elf(&elf, program);
	fg_elf_tables_close(&elf);
	return FG_OK;
}
