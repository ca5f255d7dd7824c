// SPDX-License-Identifier: Apache-2.0
#include "profile/inlined_copies.h"

#include "base/fs.h"
#include "binary/debug_files.h"
#include "binary/debug_index.h"

enum {
	UNITS_MAX = 4096 /* of a program whose debug information is read to its end for this */
};

/* The file with the program's debug information, to be freed; NULL: there is none. */
static char *file_of(const char *program)
{
	struct fg_elf elf;
	char *found = NULL;

	if (fg_elf_read(program, &elf, NULL) != FG_OK)
		return NULL;
	found = elf.has_debug_info ? fg_xstrdup(program)
				   : fg_debug_file_find(&elf, program, "/usr/lib/debug", false);
	fg_elf_release(&elf);
	return found;
}

static void visit_functions(const struct fg_debug_index *index,
			    void (*visit)(void *context, const char *symbol, size_t copies),
			    void *context)
{
	size_t *copies = fg_xcalloc(index->function_count + 1, sizeof(*copies));

	for (size_t i = 0; i < index->scope_count; i++)
		if (index->scopes[i].parent && index->scopes[i].function < index->function_count)
			copies[index->scopes[i].function]++;
	for (size_t i = 0; i < index->function_count; i++) {
		const struct fg_debug_function *function = &index->functions[i];

		if (copies[i] > 0)
			visit(context,
			      fg_debug_text(index,
					    function->linkage ? function->linkage : function->name),
			      copies[i]);
	}
	free(copies);
}

void fg_inlined_copies_visit(const char *program,
			     void (*visit)(void *context, const char *symbol, size_t copies),
			     void *context)
{
	struct fg_debug_index index;
	char *path = file_of(program);

	if (!path || fg_debug_index_open(&index, path, NULL) != FG_OK) {
		free(path);
		return;
	}
	for (uint32_t i = 0; index.unit_count <= UNITS_MAX && i < index.unit_count; i++)
		fg_debug_walk_unit(&index, i);
	visit_functions(&index, visit, context);
	fg_debug_index_release(&index);
	free(path);
}
