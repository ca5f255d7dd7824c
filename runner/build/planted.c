// SPDX-License-Identifier: Apache-2.0
#include "runner/build/planted.h"

#include "base/fs.h"
#include "base/process.h"
#include "binary/entries.h"
#include "binary/image.h"
#include "runner/execute/output_tail.h"

#include <stdlib.h>
#include <unistd.h>

enum {
	NOTE_MAX_BYTES = 64 << 10,
	JUMP = 0xe9,
	NOP = 0x90,
	TAIL_BYTES = 200,
};

#define NOTE "plant"

/* ---- the note: OUTPUT NUL FUNCTION NUL ITERATIONS ---- */

bool fg_planted_read(const char *folder, const char *output, struct fg_planted *planted,
		     char **text)
{
	char *path = fg_fs_join(folder, NOTE);
	const char *rest = NULL;
	size_t size = 0;
	bool is_it = false;

	*text = NULL;
	if (fg_fs_read_regular(path, NOTE_MAX_BYTES, text, &size, NULL) == FG_OK &&
	    strcmp(*text, output) == 0 && strlen(output) + 1 < size) {
		planted->function = *text + strlen(output) + 1;
		rest = planted->function + strlen(planted->function) + 1;
		is_it = rest < *text + size;
	}
	if (is_it) {
		planted->iterations = (uint32_t)strtoul(rest, NULL, 10);
	} else {
		free(*text);
		*text = NULL;
	}
	free(path);
	return is_it;
}

int fg_planted_write(const char *folder, const char *output, const struct fg_planted *planted,
		     struct fg_error *err)
{
	char *path = fg_fs_join(folder, NOTE);
	struct fg_strbuf text = {0};
	int status = FG_OK;

	if (planted) {
		fg_strbuf_add(&text, output, strlen(output) + 1);
		fg_strbuf_add(&text, planted->function, strlen(planted->function) + 1);
		fg_strbuf_printf(&text, "%u", planted->iterations);
		status = fg_fs_write_atomic(path, text.data, text.length, 0644, err);
	} else {
		(void)unlink(path);
	}
	fg_strbuf_release(&text);
	free(path);
	return status;
}

/* ---- the object ---- */

/*
 * At a function's entry the memory below the stack pointer is unused, but every register may be in
 * use. `loop` changes no flags. Without the .file line the linker would name the source after the
 * object, whose name differs from link to link.
 */
static const char loop_text[] = "\t.file \"fastgate-plant\"\n"
				"\t.text\n"
				"\t.p2align 4\n"
				"\t.type \"%s\", @function\n"
				"\"%s\":\n"
				"\t.cfi_startproc\n"
				"\tmovq %%rcx, -8(%%rsp)\n"
				"\tmovl $%u, %%ecx\n"
				"1:\tloop 1b\n"
				"\tmovq -8(%%rsp), %%rcx\n"
				"\t.globl " FG_PLANT_SYMBOL "\n"
				"\t.hidden " FG_PLANT_SYMBOL "\n" FG_PLANT_SYMBOL ":\n"
				"\t.skip %d, 0xcc\n"
				"\t.cfi_endproc\n"
				"\t.size \"%s\", . - \"%s\"\n"
				"\t.section .note.GNU-stack,\"\",@progbits\n";

static int assemble(const char *source, const char *path, struct fg_error *err)
{
	char *assembler = fg_fs_find_program("as");
	char *argv[] = {assembler, (char *)(uintptr_t) "-o", (char *)(uintptr_t)path,
			(char *)(uintptr_t)source, NULL};
	struct fg_process_result result = {0};
	char *tail = NULL;
	int status = FG_OK;

	if (!assembler)
		return fg_error_set(err, FG_ENOENT, "the assembler 'as' is not installed");
	status = fg_process_run(&(struct fg_process_options){.argv = argv,
							     .stdout_to = FG_STREAM_CAPTURE,
							     .stderr_to = FG_STREAM_CAPTURE},
				&result, err);
	if (status == FG_OK && (!result.exited || result.exit_code != 0)) {
		tail = fg_output_tail(&result, 1, TAIL_BYTES);
		status = fg_error_set(err, FG_ECHILD, "'as' rejected the planted loop: %s",
				      tail ? tail : "no reason");
	}
	fg_process_result_release(&result);
	free(tail);
	free(assembler);
	return status;
}

int fg_planted_object(const struct fg_planted *planted, const char *path, struct fg_error *err)
{
	const char *name = *planted->function ? planted->function : "fastgate_neutral";
	const unsigned iterations = planted->iterations ? planted->iterations : 1;
	char *source = fg_xasprintf("%s.s", path);
	struct fg_strbuf text = {0};
	int status;

	fg_strbuf_printf(&text, loop_text, name, name, iterations, (int)FG_PLAN_CODE, name, name);
	status = fg_fs_write_atomic(source, text.data, text.length, 0644, err);
	if (status == FG_OK)
		status = assemble(source, path, err);
	fg_strbuf_release(&text);
	free(source);
	return status;
}

/* ---- the linked file ---- */

struct patch {
	struct fg_entries parts;
	const struct fg_plan_entry *entries;
	size_t count;
	struct fg_image image;
};

static void patch_release(struct patch *patch)
{
	fg_entries_release(&patch->parts);
	fg_image_release(&patch->image);
}

static int patch_read(struct patch *patch, const char *path, struct fg_error *err)
{
	FG_TRY(fg_entries_add(&patch->parts, path, path, err));
	patch->entries = (const void *)patch->parts.entries.data;
	patch->count = patch->parts.entries.length / sizeof(patch->entries[0]);
	return fg_image_read_parts(path, &patch->image, err);
}

/* Returns the address of the symbol at the end of the loop; 0: the file has no plant. */
static uint64_t find_loop(const struct fg_image *image)
{
	for (size_t i = 0; i < image->entry_count; i++) {
		if (image->entries[i].is_defined &&
		    strcmp(image->entries[i].name, FG_PLANT_SYMBOL) == 0)
			return image->entries[i].address;
	}
	return 0;
}

/* Finds the entry of the function itself: the loop, which ends at `loop`, has the same name. */
static int find_entry(const struct patch *patch, const char *function, uint64_t loop,
		      const struct fg_plan_entry **entry, struct fg_error *err)
{
	const struct fg_plan_entry *found = NULL;

	for (size_t i = 0; i < patch->count; i++) {
		const struct fg_plan_entry *one = &patch->entries[i];
		const bool is_loop = one->address < loop && loop - one->address < FG_PLAN_CODE;

		if (is_loop || strcmp(patch->parts.texts.data + one->name, function) != 0)
			continue;
		if (found && found->address != one->address)
			return fg_error_set(err, FG_EUNSUPPORTED,
					    "the program has several functions named '%s'",
					    function);
		found = one;
	}
	if (!found)
		return fg_error_set(err, FG_EUNSUPPORTED, "the program has no function '%s'",
				    function);
	if (found->refusal != FG_ENTRY_ACCEPTED || found->is_clone)
		return fg_error_set(err, FG_EUNSUPPORTED,
				    "the entry of '%s' is too short, or code jumps into it",
				    function);
	*entry = found;
	return FG_OK;
}

/*
 * Returns the bytes of the file at this address; NULL if no code section of the file contains them.
 */
static uint8_t *bytes_at(const struct fg_image *image, uint64_t address, uint64_t size)
{
	const struct fg_image_section *section = fg_image_section_at(image, address);

	if (!section || !section->bytes || !section->is_code ||
	    size > section->size - (address - section->address))
		return NULL;
	return (uint8_t *)image->file + (section->bytes - (const uint8_t *)image->file) +
	       (address - section->address);
}

static int write_jumps(const struct patch *patch, const struct fg_plan_entry *entry, uint64_t loop,
		       struct fg_error *err)
{
	const struct fg_image *image = &patch->image;
	uint64_t start = loop;
	const size_t covered = (size_t)entry->window_size - entry->jump_at;
	uint8_t *jump = bytes_at(image, entry->address + entry->jump_at, covered);
	uint8_t *code = bytes_at(image, loop, FG_PLAN_CODE);

	for (size_t i = 0; i < patch->count; i++) {
		const uint64_t address = patch->entries[i].address;

		if (address < loop && loop - address < FG_PLAN_CODE)
			start = address;
	}
	if (!jump || !code || start == loop)
		return fg_error_set(err, FG_EUNSUPPORTED, "the linker moved the planted loop");
	fg_plan_move(entry, entry->address, code, loop);
	/* Leave no partial instruction after the jump: its bytes would differ between layouts. */
	memset(jump, NOP, covered);
	jump[0] = JUMP;
	fg_plan_set_distance(jump + 1, entry->address + entry->jump_at + FG_PLAN_JUMP, start);
	return FG_OK;
}

static int patch_apply(struct patch *patch, const struct fg_planted *planted, const char *path,
		       struct fg_error *err)
{
	const struct fg_plan_entry *entry = NULL;
	uint64_t loop = 0;
	int status = FG_OK;

	FG_TRY(patch_read(patch, path, err));
	loop = find_loop(&patch->image);
	if (!loop)
		return fg_error_set(err, FG_EUNSUPPORTED, "the linker dropped the planted loop");
	status = find_entry(patch, planted->function, loop, &entry, err);
	if (status != FG_OK || !entry)
		return status;
	FG_TRY(write_jumps(patch, entry, loop, err));
	return fg_fs_write_atomic(path, patch->image.file, patch->image.file_size, 0755, err);
}

int fg_planted_apply(const struct fg_planted *planted, const char *path, struct fg_error *err)
{
	struct patch patch = {0};
	int status = FG_OK;

	if (!*planted->function)
		return FG_OK;
	status = patch_apply(&patch, planted, path, err);
	patch_release(&patch);
	return status;
}
