// SPDX-License-Identifier: Apache-2.0
/* Disassembles the function around an address. */
#include "binary/disassemble.h"
#include "binary/symbolizer_private.h"

enum {
	MAX_CODE_BYTES = 1 << 20
};

/* Returns the first function start after the address; 0: unknown. */
static uint64_t after_frame(const struct fg_eh_frames *frames, uint64_t address)
{
	const struct fg_eh_frame *at = fg_eh_frames_before(frames, address);
	const size_t next = at ? (size_t)(at - frames->items) + 1 : 0;

	return next < frames->count ? frames->items[next].start : 0;
}

/* Finds the function's range in the symbol tables, or between two starts in the unwind tables. */
static void find_range(struct fg_symbol_module *module, uint64_t address, uint64_t *start,
		       uint64_t *end)
{
	const struct fg_elf *elf =
		module->file.has_separate ? &module->file.separate : &module->file.elf;
	const struct fg_elf_symbol *symbol = fg_elf_find(elf, address);

	if (!symbol && elf != &module->file.elf) {
		elf = &module->file.elf;
		symbol = fg_elf_find(elf, address);
	}
	if (symbol && symbol->size > 0) {
		*start = symbol->value;
		*end = symbol->value + symbol->size;
		return;
	}
	*start = symbol ? symbol->value : fg_symbol_module_start_of(module, address);
	*end = after_frame(&module->file.frames, address);
	if (symbol && symbol + 1 < elf->symbols + elf->symbol_count)
		*end = symbol[1].value;
	if (*end <= address)
		*end = module->file.elf.code_end;
}

int fg_symbolizer_code(struct fg_symbol_module *module, uint64_t address,
		       struct fg_symbol_code *code, struct fg_error *err)
{
	struct fg_elf_code bytes = {0};
	uint64_t start = 0;
	uint64_t end = 0;

	*code = (struct fg_symbol_code){0};
	if (!module->file.path)
		return fg_error_set(err, FG_ENOENT, "%s: %s", module->name, module->source);
	find_range(module, address, &start, &end);
	if (end <= address || end - start > MAX_CODE_BYTES)
		return fg_error_set(err, FG_EUNSUPPORTED,
				    "%s: the bounds of the function at 0x%llx are unknown, or "
				    "more than 1 MiB apart",
				    module->name, (unsigned long long)address);
	FG_TRY(fg_elf_read_code(module->file.path, start, (size_t)(end - start), &bytes, err));
	code->start = start;
	code->end = start + bytes.size;
	code->instructions = fg_disassemble(&bytes, start, &code->count);
	free(bytes.bytes);
	return code->instructions
		       ? FG_OK
		       : fg_error_set(err, FG_EUNSUPPORTED, "only x86 code can be disassembled");
}
